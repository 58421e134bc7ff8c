"""Reads the CPU time and memory of processes from /proc.

CPU time includes children that ended and were waited for, so that of a finished database session is
not lost: the postmaster inherits it. The resolution is a clock tick, usually 10 ms. Without /proc
(macOS) there are no figures, and the report says so.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    """The needed fields of /proc/<pid>/stat; times in seconds."""

    pid: int
    parent: int
    own: float
    ended_children: float


def read_usage(pid: int) -> ProcessUsage | None:
    """Return the usage of a process; None without the process or without /proc."""
    try:
        line = (PROC / str(pid) / "stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    return parse_stat(line, tick=1 / os.sysconf("SC_CLK_TCK"))


def parse_stat(line: str, *, tick: float) -> ProcessUsage:
    """Parse a stat line. The name in parentheses may contain anything, so fields count after it."""
    pid = int(line.split(" ", 1)[0])
    fields = line[line.rindex(")") + 2 :].split()
    utime, stime, cutime, cstime = map(int, fields[11:15])
    return ProcessUsage(
        pid=pid,
        parent=int(fields[1]),
        own=(utime + stime) * tick,
        ended_children=(cutime + cstime) * tick,
    )


def read_resident_bytes(pid: int) -> float | None:
    """Return the resident memory of a process in bytes; None without it or without /proc."""
    try:
        pages = (PROC / str(pid) / "statm").read_text("utf-8").split()[1]
    except (OSError, IndexError):
        return None
    return float(int(pages) * os.sysconf("SC_PAGE_SIZE"))


def read_tree_seconds(root: int) -> float | None:
    """Return the CPU time of a process and its descendants, ended ones included."""
    top = read_usage(root)
    if top is None:
        return None
    return sum(each.own + each.ended_children for each in [top, *list_descendants(root)])


def sum_tree_seconds(pids: Iterable[int]) -> float | None:
    """Return the CPU time of several process trees; None if one cannot be read."""
    total = 0.0
    for pid in pids:
        used = read_tree_seconds(pid)
        if used is None:
            return None
        total += used
    return total


def list_descendants(root: int) -> Iterator[ProcessUsage]:
    """Return the running descendants of a process."""
    children: dict[int, list[ProcessUsage]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (each := read_usage(int(folder.name))) is not None:
            children.setdefault(each.parent, []).append(each)
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            yield child
            waiting.append(child.pid)
