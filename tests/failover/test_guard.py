"""Servers under a guard end with their test, however it ends, even frozen ones in a session of
their own. Without that a killed test run would leave clusters behind.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.guarded import ProcessTree, wait_until

ROOT = Path(__file__).parents[2]
# A server that detaches itself, as Patroni's PostgreSQL does, and says its number.
DETACHED = """
import os, signal, subprocess, sys
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(child.pid, flush=True)
"""
TEST = f"""
import sys, threading
from pathlib import Path
from tests.support.guarded import ProcessTree
tree = ProcessTree.start("server", [sys.executable, "-c", {DETACHED!r}], log=Path(sys.argv[1]))
threading.Event().wait()
"""


def is_running(number: int) -> bool:
    """Whether the process exists and is more than a zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def find_number(log: Path) -> int:
    wait_until(lambda: log.exists() and log.read_text().strip(), "the number of the server")
    return int(log.read_text())


def test_a_frozen_and_detached_server_ends_when_its_test_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with subprocess.Popen(
        [sys.executable, "-c", TEST, str(log)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
    ) as test:
        server = find_number(log)
        os.kill(server, signal.SIGSTOP)
        was_running = is_running(server)

        test.kill()

    wait_until(lambda: not is_running(server), "the end of the server")
    assert was_running


def test_a_tree_is_frozen_thawed_and_killed_with_all_that_came_of_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tree = ProcessTree.start("server", [sys.executable, "-c", DETACHED], log=log)
    try:
        server = find_number(log)

        tree.freeze()
        wait_until(lambda: "State:\tT" in Path(f"/proc/{server}/status").read_text(), "the freeze")
        tree.thaw()
        wait_until(lambda: "State:\tS" in Path(f"/proc/{server}/status").read_text(), "the thaw")
        tree.kill()

        assert not is_running(server)
        assert not tree.is_alive
    finally:
        tree.end()
