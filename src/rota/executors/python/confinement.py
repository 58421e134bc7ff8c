"""Limits the resources of a child process and ties its life to its worker's.

The child calls these functions before it imports any handler. They protect the worker against
mistakes of handlers, not against malice: a child has the rights of its worker.
"""

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

OPEN_FILES_MAX: Final = 256
PR_SET_PDEATHSIG: Final = 1
PR_SET_NO_NEW_PRIVS: Final = 38
# Carries the worker's own PYTHONPATH while a child starts with another one.
WORKER_PATH_VARIABLE: Final = "ROTA_OUTER_PYTHONPATH"
STATM: Final = Path("/proc/self/statm")


def die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends.

    To Linux the parent is the thread that started it: the one with the attempts' event loop.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # On other systems an idle child notices that the socket is closed. If the parent ended before
    # the call above, the kernel sends no signal.
    if os.getppid() != parent:
        os._exit(1)


def forbid_new_privileges() -> None:
    """Disable set-user-id bits and file capabilities for programs of handlers: `sudo` fails."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def limit_resources(*, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = OPEN_FILES_MAX if hard == resource.RLIM_INFINITY else min(OPEN_FILES_MAX, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    if sys.platform == "linux":
        # Not RLIMIT_AS, which counts reserved address space: libraries with threads reserve
        # gigabytes. RLIMIT_DATA counts all private memory since Linux 4.7.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def restore_path() -> None:
    """Restore the worker's own PYTHONPATH for programs that a handler starts."""
    outer = os.environ.pop(WORKER_PATH_VARIABLE, "")
    if outer:
        os.environ["PYTHONPATH"] = outer
    else:
        os.environ.pop("PYTHONPATH", None)


def read_resident_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    try:
        pages = int(STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize()
