"""Collects the gauges of this process at each scrape: build, memory, connections, slots, delays.

The names of `process_*` and `python_gc_*` are those of every Prometheus client, so that ready-made
dashboards work. Every reading is cheap and may happen in any thread; nothing waits or queries the
database.
"""

import gc
import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple

from rota.engine.observability.exposition import (
    MetricFamily,
    MetricType,
    Sample,
    build_counter,
    build_gauge,
    build_gauges,
)

PROCESS_FOLDER: Final = Path("/proc/self")
SYSTEM_FILE: Final = Path("/proc/stat")
# Positions in /proc/self/stat after the name of the program, which may contain spaces.
STAT_THREADS: Final = 17
STAT_STARTED: Final = 19
STAT_VIRTUAL_BYTES: Final = 20
STAT_RESIDENT_PAGES: Final = 21


class ConnectionUsage(NamedTuple):
    """Database connections of this process, and how many it may open."""

    busy: int = 0
    idle: int = 0
    limit: int = 0


class SlotUsage(NamedTuple):
    """Slots of the worker in this process."""

    busy: int
    total: int


@dataclass(slots=True, kw_only=True)
class ProcessCollector:
    """Builds the gauges of one process. Parts of the process set what they know about."""

    role: str
    is_database_up: Callable[[], bool]
    measure_loop_lag: Callable[[], float]
    count_connections: Callable[[], ConnectionUsage]
    # Returns None in a process without a worker.
    count_slots: Callable[[], SlotUsage | None] = lambda: None

    def __call__(self) -> list[MetricFamily]:
        connections = self.count_connections()
        return [
            build_info(self.role),
            build_gauge(
                "rota_database_up",
                "1 if the database answered this process within the last ten seconds.",
                self.is_database_up(),
            ),
            build_gauge(
                "rota_loop_lag_seconds",
                "Largest delay of the event loop within the last 15 to 30 seconds.",
                self.measure_loop_lag(),
            ),
            build_gauges(
                "rota_pool_connections",
                "Database connections of this process, by state.",
                "state",
                {"busy": connections.busy, "idle": connections.idle},
            ),
            build_gauge(
                "rota_pool_connections_max",
                "Database connections that this process may open.",
                connections.limit,
            ),
            self._slots(),
            *collect_usage(),
            *collect_garbage(),
        ]

    def _slots(self) -> MetricFamily:
        """Return no series in a process without a worker."""
        states: dict[str, float] = {}
        slots = self.count_slots()
        if slots is not None:
            states = {"busy": slots.busy, "free": slots.total - slots.busy}
        return build_gauges("rota_slots", "Slots of the worker, by state.", "state", states)


def build_info(role: str) -> MetricFamily:
    return MetricFamily(
        name="rota_build_info",
        metric_type=MetricType.GAUGE,
        help_text="Always 1; the labels are the version and the role of the process.",
        samples=(Sample(1, (("version", read_version()), ("role", role))),),
    )


@cache
def read_version() -> str:
    """Return the version of Rota that runs."""
    try:
        return version("rota")
    except PackageNotFoundError:
        return "unknown"


def collect_usage() -> list[MetricFamily]:
    """Return what the operating system knows of this process. Memory, threads and files are missing
    where it has no /proc.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    open_max = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    found = [
        build_counter(
            "process_cpu_seconds_total",
            "Processor time of the process.",
            [Sample(used.ru_utime + used.ru_stime)],
        ),
        build_gauge("process_max_fds", "Limit on open files.", open_max),
    ]
    try:
        stat = (PROCESS_FOLDER / "stat").read_text().rpartition(") ")[2].split()
        open_files = len(os.listdir(PROCESS_FOLDER / "fd"))  # noqa: PTH208 — half the cost
        booted_at = read_boot_time()
    except (OSError, ValueError):
        return found
    ticks = os.sysconf("SC_CLK_TCK")
    pages = os.sysconf("SC_PAGE_SIZE")
    return [
        *found,
        build_gauge("process_open_fds", "Open files.", open_files),
        build_gauge(
            "process_resident_memory_bytes",
            "Memory of the process that is in RAM.",
            int(stat[STAT_RESIDENT_PAGES]) * pages,
        ),
        build_gauge(
            "process_virtual_memory_bytes",
            "Address space of the process.",
            int(stat[STAT_VIRTUAL_BYTES]),
        ),
        build_gauge(
            "process_start_time_seconds",
            "When the process started, in seconds since 1970.",
            booted_at + int(stat[STAT_STARTED]) / ticks,
        ),
        build_gauge("process_threads", "Threads of the process.", int(stat[STAT_THREADS])),
    ]


@cache
def read_boot_time() -> int:
    """Return when the machine started, in seconds since 1970."""
    for line in SYSTEM_FILE.read_text().splitlines():
        if line.startswith("btime "):
            return int(line.split()[1])
    raise ValueError(f"{SYSTEM_FILE} has no btime")


def collect_garbage() -> list[MetricFamily]:
    """Return what Python's garbage collector has done, by generation."""
    stats = gc.get_stats()

    def build(name: str, help_text: str, key: str) -> MetricFamily:
        return build_counter(
            name,
            help_text,
            [
                Sample(generation[key], (("generation", str(number)),))
                for number, generation in enumerate(stats)
            ],
        )

    return [
        build("python_gc_collections_total", "Garbage collections.", "collections"),
        build("python_gc_objects_collected_total", "Objects collected.", "collected"),
        build(
            "python_gc_objects_uncollectable_total",
            "Objects that cannot be freed.",
            "uncollectable",
        ),
    ]
