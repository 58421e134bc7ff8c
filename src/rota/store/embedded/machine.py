"""Measures the machine that a server will run on.

settings.py decides what follows from the measurements.
"""

import contextlib
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

# The container's limit counts, not the host's memory.
MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
DEFAULT_MEMORY_BYTES = 4 << 30
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  (a mount of the kernel, not a temporary file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Sizes are in bytes."""

    memory: int
    free_disk: int
    shared_memory: int
    platform: str
    # Whether one system call syncs a whole filesystem and reports failures.
    syncs_at_once: bool


def measure_machine(home: Path) -> Machine:
    return Machine(
        memory=measure_memory(),
        free_disk=shutil.disk_usage(home).free,
        shared_memory=shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.exists() else 0,
        platform=sys.platform,
        syncs_at_once=syncs_at_once(),
    )


def measure_memory() -> int:
    sizes = [DEFAULT_MEMORY_BYTES]
    with contextlib.suppress(OSError, ValueError):  # not every system reports it
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # ValueError: "max", meaning no limit
            sizes.append(int(path.read_text(encoding="ascii")))
    return min(sizes)


def syncs_at_once() -> bool:
    """Return whether syncfs can be trusted: it reports lost writes since Linux 5.8."""
    version = re.match(r"(\d+)\.(\d+)", os.uname().release)
    is_new = version is not None and (int(version[1]), int(version[2])) >= (5, 8)
    return sys.platform == "linux" and is_new
