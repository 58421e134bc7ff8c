"""Finds processes that a test leaves behind.

A process that forks twice loses its parent and is no longer a descendant of the test. Inside
`adopting`, this process instead of init adopts orphans (Linux), so that they are found. On other
systems only processes whose parents still run are found.
"""

import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
IS_LINUX = sys.platform == "linux"


@contextlib.contextmanager
def adopt_orphans() -> Iterator[None]:
    """Adopt orphans inside the block; reap the dead ones at its end."""
    become_subreaper(enabled=True)
    try:
        yield
    finally:
        become_subreaper(enabled=False)
        for number, state in list_descendants().items():
            if state == "Z":
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(number, os.WNOHANG)


def become_subreaper(*, enabled: bool) -> None:
    if IS_LINUX:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(enabled), 0, 0, 0)


def list_living_descendants() -> frozenset[int]:
    """The descendants of this process that are not zombies."""
    return frozenset(number for number, state in list_descendants().items() if state != "Z")


def list_descendants() -> dict[int, str]:
    """All descendants of this process, each with the letter of its state."""
    table = read_proc() if IS_LINUX else read_ps()
    found: dict[int, str] = {}
    level = {os.getpid()}
    while level:
        level = {number for number, (parent, _) in table.items() if parent in level} - found.keys()
        found.update((number, table[number][1]) for number in level)
    return found


def read_proc() -> dict[int, tuple[int, str]]:
    table = {}
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            number = int(folder.name)
            state, parent = (folder / "stat").read_text().rpartition(") ")[2].split()[:2]
            table[number] = int(parent), state
    return table


def read_ps() -> dict[int, tuple[int, str]]:
    command = ["/bin/ps", "-A", "-o", "pid=,ppid=,state=,comm="]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    table = {}
    for line in output.splitlines():
        number, parent, state, name = line.split(None, 3)
        if name.rpartition("/")[2] != "ps":
            table[int(number)] = int(parent), state[0]
    return table
