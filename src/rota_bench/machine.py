"""Measures how steady the machine is during a benchmark.

Shared machines vary by up to a factor of two within minutes. So a plain loop is timed before and
after, and the kernel reports the CPU time of other programs and of other guests on the host.
"""

import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rota_bench import cpu_usage

LOOP_ADDITIONS = 5_000_000
STAT_FILE = Path("/proc/stat")


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTimes:
    """CPU seconds of all cores since boot; zero without /proc."""

    passed: float = 0.0
    busy: float = 0.0
    stolen: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineState:
    """The state of the machine at one time. `own` is the CPU time of the benchmark so far,
    including its child processes.
    """

    loop: float
    times: CpuTimes
    own: float


def read_state(monotonic: Callable[[], float], *, pids: Iterable[int]) -> MachineState:
    """Time the loop and read the CPU times; takes about a quarter of a second."""
    started = monotonic()
    total = 0
    for number in range(LOOP_ADDITIONS):
        total += number
    loop = monotonic() - started
    return MachineState(
        loop=loop, times=read_cpu_times(), own=cpu_usage.sum_tree_seconds(pids) or 0.0
    )


def read_cpu_times() -> CpuTimes:
    try:
        line = STAT_FILE.read_text("ascii").split("\n", 1)[0]
    except OSError:
        return CpuTimes()
    return parse_cpu_times(line, tick=1 / os.sysconf("SC_CLK_TCK"))


def parse_cpu_times(line: str, *, tick: float) -> CpuTimes:
    """Parse the `cpu` line of /proc/stat: user nice system idle iowait irq softirq steal."""
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, line.split()[1:9])
    busy = user + nice + system + irq + softirq
    passed = busy + idle + iowait + steal
    return CpuTimes(passed=passed * tick, busy=busy * tick, stolen=steal * tick)


def describe_conditions(before: MachineState, after: MachineState, *, server: str) -> str:
    passed = after.times.passed - before.times.passed
    busy = after.times.busy - before.times.busy
    others = busy - (after.own - before.own)
    stolen = after.times.stolen - before.times.stolen
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},"
        f" {server}; five million additions took {before.loop:.2f} s before and"
        f" {after.loop:.2f} s after; meanwhile other programs took"
        f" {format_share(others, passed)} and other guests {format_share(stolen, passed)}"
        " of the CPU time"
    )


def format_share(part: float, whole: float) -> str:
    return f"{100 * max(0.0, part) / whole:.0f} %" if whole else "an unknown part"
