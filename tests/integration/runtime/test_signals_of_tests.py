"""The tests behave alike whether a terminal, a script or a supervisor starts them."""

import os
import subprocess
import sys
from pathlib import Path

LOOK = "import signal; print(signal.getsignal(signal.SIGINT).__name__)"
# A shell that starts a command in the background does the same.
IGNORING = 'trap "" INT; exec "$0" "$@"'


def test_ctrl_c_reaches_what_a_test_starts() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)

    assert done.stdout == "default_int_handler\n"


def test_ctrl_c_reaches_it_also_where_the_parent_of_the_tests_ignores_it() -> None:
    this = f"{Path(__file__)}::{test_ctrl_c_reaches_what_a_test_starts.__name__}"
    words = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", this]

    done = subprocess.run(
        ["/bin/sh", "-c", IGNORING, *words],
        cwd=Path(__file__).parents[3],
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
