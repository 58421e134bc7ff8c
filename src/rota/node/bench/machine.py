"""Measures how steady the machine is during a benchmark.

Shared machines vary by up to a factor of two within minutes. So a plain loop is timed before and
after, and the kernel reports the CPU time of other programs and of other guests on the host.
"""

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rota.node.bench import processor

ADDITIONS = 5_000_000
STAT = Path("/proc/stat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """CPU seconds of all cores since boot; zero without /proc."""

    passed: float = 0.0
    busy: float = 0.0
    stolen: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The state of the machine at one time. `own` is the CPU time of the benchmark so far,
    including its child processes.
    """

    loop: float
    times: Times
    own: float


def look(monotonic: Callable[[], float], *, pids: Iterable[int]) -> Moment:
    """Time the loop and read the CPU times; takes about a quarter of a second."""
    started = monotonic()
    total = 0
    for number in range(ADDITIONS):
        total += number
    loop = monotonic() - started
    return Moment(loop=loop, times=processor_times(), own=processor.seconds(pids) or 0.0)


def processor_times() -> Times:
    try:
        line = STAT.read_text("ascii").split("\n", 1)[0]
    except OSError:
        return Times()
    return read_times(line, tick=1 / os.sysconf("SC_CLK_TCK"))


def read_times(line: str, *, tick: float) -> Times:
    """Parse the `cpu` line of /proc/stat: user nice system idle iowait irq softirq steal."""
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, line.split()[1:9])
    busy = user + nice + system + irq + softirq
    passed = busy + idle + iowait + steal
    return Times(passed=passed * tick, busy=busy * tick, stolen=steal * tick)


def describe(before: Moment, after: Moment, *, server: str) -> str:
    passed = after.times.passed - before.times.passed
    busy = after.times.busy - before.times.busy
    others = busy - (after.own - before.own)
    stolen = after.times.stolen - before.times.stolen
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},"
        f" {server}; five million additions took {before.loop:.2f} s before and"
        f" {after.loop:.2f} s after; meanwhile other programs took {share(others, passed)} and"
        f" other guests {share(stolen, passed)} of the CPU time"
    )


def share(part: float, whole: float) -> str:
    return f"{100 * max(0.0, part) / whole:.0f} %" if whole else "an unknown part"
