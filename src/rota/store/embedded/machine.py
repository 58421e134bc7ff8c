"""Looks at the machine a server is to run on. Room: store/embedded.

Only measures; what follows from the figures is in settings.py.
"""

import contextlib
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

# The limit of the container counts, not the memory of the host.
MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  (a mount of the kernel, not a temporary file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Sizes are in bytes."""

    memory: int
    free_disk: int
    shared_memory: int
    cores: int
    platform: str


def look(home: Path) -> Machine:
    return Machine(
        memory=memory(),
        free_disk=shutil.disk_usage(home).free,
        shared_memory=shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.exists() else 0,
        cores=os.cpu_count() or 1,
        platform=sys.platform,
    )


def memory() -> int:
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # ValueError: "max", which is no limit
            sizes.append(int(path.read_text(encoding="ascii")))
    return min(sizes)
