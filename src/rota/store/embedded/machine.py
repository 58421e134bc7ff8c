"""Looks at the machine a server is to run on. Room: store/embedded.

Only measures; what follows from the figures is in settings.py.
"""

import contextlib
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

# The limit of the container counts, not the memory of the host.
MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
ASSUMED_MEMORY = 4 << 30
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  (a mount of the kernel, not a temporary file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Sizes are in bytes."""

    memory: int
    free_disk: int
    shared_memory: int
    platform: str
    # Whether one call brings a whole filesystem to disk, and says so if it failed.
    syncs_at_once: bool


def look(home: Path) -> Machine:
    return Machine(
        memory=memory(),
        free_disk=shutil.disk_usage(home).free,
        shared_memory=shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.exists() else 0,
        platform=sys.platform,
        syncs_at_once=syncs_at_once(),
    )


def memory() -> int:
    sizes = [ASSUMED_MEMORY]
    with contextlib.suppress(OSError, ValueError):  # not every system tells
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # ValueError: "max", which is no limit
            sizes.append(int(path.read_text(encoding="ascii")))
    return min(sizes)


def syncs_at_once() -> bool:
    """Since Linux 5.8 syncfs reports lost writes; before, it must not be trusted with them."""
    version = re.match(r"(\d+)\.(\d+)", os.uname().release)
    new = version is not None and (int(version[1]), int(version[2])) >= (5, 8)
    return sys.platform == "linux" and new
