"""Runs a command and ends all that came of it when the process that started the guard is gone.

This is a program of its own: `python guard.py UID GID COMMAND …`. The guard adopts orphans
(PR_SET_CHILD_SUBREAPER), so a server that detaches itself stays below it. When its standard input
closes, because the test closed it or was killed, the guard kills every process below it. It ends
by itself, with the exit code of the command, when no process below it is left.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

PROC = Path("/proc")
PR_SET_CHILD_SUBREAPER = 36
LOOK_EVERY_S = 0.1


def list_descendants(root: int) -> list[int]:
    """List the processes below this one, parents first. Zombies count until they are reaped."""
    children: dict[int, list[int]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # The name in brackets may hold spaces and brackets itself.
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(folder.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found += below
        waiting += below
    return found


def signal_all(numbers: list[int], sent: signal.Signals) -> None:
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, sent)


def reap_children(codes: dict[int, int]) -> bool:
    """Note the exit codes of children and adopted orphans; return whether any of them is left.

    Whoever is below the guard without a living parent is its child, so none left means nobody.
    """
    with contextlib.suppress(ChildProcessError):
        while True:
            number, status = os.waitpid(-1, os.WNOHANG)
            if number == 0:
                return True
            codes[number] = os.waitstatus_to_exitcode(status)
    return False


def run_guard(uid: int, gid: int, command: list[str]) -> int:
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    drops = os.geteuid() == 0 and uid != 0
    # Not `wait`: the loop below reaps every child, this one too.
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        user=uid if drops else None,
        group=gid if drops else None,
        extra_groups=() if drops else None,
    )
    codes: dict[int, int] = {}
    is_over = False
    while reap_children(codes):
        if is_over:
            signal_all(list_descendants(os.getpid()), signal.SIGKILL)
        readable = select.select([] if is_over else [sys.stdin], [], [], LOOK_EVERY_S)[0]
        is_over = is_over or bool(readable)
    code = codes[child.pid]
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(run_guard(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
