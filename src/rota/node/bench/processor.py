"""How much processor time and memory programs use, read from /proc. Room: node/bench.

A process's own time and that of its children that ended and were waited for, so the time of a
database session that is over is not lost: the postmaster has inherited it. Resolution is a clock
tick, 10 ms as a rule. Without /proc (macOS) there are no figures, and the report says so.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One line of /proc/<pid>/stat, as far as it is needed; times in seconds."""

    pid: int
    parent: int
    own: float
    ended_children: float


def usage(pid: int) -> Usage | None:
    """What a process has used so far; None if there is none, or no /proc."""
    try:
        line = (PROC / str(pid) / "stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    return read_stat(line, tick=1 / os.sysconf("SC_CLK_TCK"))


def read_stat(line: str, *, tick: float) -> Usage:
    """The name in parentheses may hold anything, also spaces and parentheses: count behind it."""
    pid = int(line.split(" ", 1)[0])
    fields = line[line.rindex(")") + 2 :].split()
    utime, stime, cutime, cstime = map(int, fields[11:15])
    return Usage(
        pid=pid,
        parent=int(fields[1]),
        own=(utime + stime) * tick,
        ended_children=(cutime + cstime) * tick,
    )


def resident(pid: int) -> float | None:
    """The memory that a process holds, in bytes; None if there is none, or no /proc."""
    try:
        pages = (PROC / str(pid) / "statm").read_text("utf-8").split()[1]
    except (OSError, IndexError):
        return None
    return float(int(pages) * os.sysconf("SC_PAGE_SIZE"))


def tree_seconds(root: int) -> float | None:
    """The time of a process, its descendants, and those of them that ended."""
    top = usage(root)
    if top is None:
        return None
    return sum(each.own + each.ended_children for each in [top, *descendants(root)])


def seconds(pids: Iterable[int]) -> float | None:
    """The time of several trees together; None if any of them cannot be read."""
    total = 0.0
    for pid in pids:
        used = tree_seconds(pid)
        if used is None:
            return None
        total += used
    return total


def descendants(root: int) -> Iterator[Usage]:
    """Everything below a process that is alive now."""
    children: dict[int, list[Usage]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (each := usage(int(folder.name))) is not None:
            children.setdefault(each.parent, []).append(each)
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            yield child
            waiting.append(child.pid)
