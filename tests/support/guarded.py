"""Commands under a guard: a tree of processes that can be frozen, thawed and killed as one.

The guard (guard.py) is not part of the tree. It holds the reading end of a pipe from the test, so
a test that is killed leaves nothing behind, not even a frozen server in a session of its own.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rota.store.embedded.account import Account
from tests.support.guard import list_descendants, signal_all

GUARD = Path(__file__).with_name("guard.py")
LOOK_EVERY_S = 0.05
PATIENCE_S = 60.0


@dataclass(kw_only=True)
class ProcessTree:
    """A command and everything that it started."""

    name: str
    guard: subprocess.Popen[bytes]

    @classmethod
    def start(
        cls,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        account: Account | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Start the command as this account; what it prints is appended to the log."""
        uid = account.uid if account else os.geteuid()
        gid = account.gid if account else os.getegid()
        with log.open("ab") as output:
            guard = subprocess.Popen(
                [sys.executable, "-S", str(GUARD), str(uid), str(gid), *map(str, command)],
                cwd="/",
                env={"PATH": os.environ["PATH"], "LC_ALL": "C", **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return cls(name=name, guard=guard)

    @property
    def is_alive(self) -> bool:
        return self.guard.poll() is None

    def list_processes(self) -> list[int]:
        return list_descendants(self.guard.pid) if self.is_alive else []

    def freeze(self) -> None:
        """Stop every process; look again until nothing new has come up meanwhile."""
        frozen: set[int] = set()
        while new := [each for each in self.list_processes() if each not in frozen]:
            signal_all(new, signal.SIGSTOP)
            frozen |= set(new)

    def thaw(self) -> None:
        # The last one first: a child whose parent runs may be asked for something at once.
        signal_all(list(reversed(self.list_processes())), signal.SIGCONT)

    def kill(self) -> None:
        """Kill every process, as a power cut does, and wait until the guard has seen it."""

        def strike() -> bool:
            signal_all(self.list_processes(), signal.SIGKILL)
            return not self.is_alive

        wait_until(strike, f"the end of {self.name}")

    def end(self) -> None:
        """Let the guard kill what is left."""
        if self.guard.stdin is not None:
            with contextlib.suppress(OSError):
                self.guard.stdin.close()
        self.guard.wait(PATIENCE_S)


def wait_until(condition: Callable[[], object], what: str, *, within: float = PATIENCE_S) -> None:
    """Look again until it is so; fail with `what` if it does not come."""
    rest = threading.Event()
    for _ in range(round(within / LOOK_EVERY_S)):
        if condition():
            return
        rest.wait(LOOK_EVERY_S)
    raise AssertionError(f"it did not come within {within:.0f} s: {what}")
