"""What a child process may use, and with whom it dies. Room: executors/python.

Called in the child before any code of a handler is loaded. This guards the worker against mistakes
of handlers, not against their malice: a child has the rights of its worker.
"""

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

OPEN_FILES: Final = 256
PR_SET_PDEATHSIG: Final = 1
PR_SET_NO_NEW_PRIVS: Final = 38
# Where the worker's own PYTHONPATH waits while a child starts with another one.
OUTER_PATH: Final = "ROTA_OUTER_PYTHONPATH"
STATM: Final = Path("/proc/self/statm")


def die_with(parent: int) -> None:
    """End this process by SIGKILL when its parent ends, however that ends. Linux means the thread
    that started it: the one with the loop of the attempts.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # Where there is no such signal, the end of the socket tells a child that is idle. And the
    # parent may have ended before the call above: then nobody will ever signal.
    if os.getppid() != parent:
        os._exit(1)


def forbid_new_privileges() -> None:
    """Keep programs with a set-user-id bit or capabilities from giving them to what a handler
    starts: `sudo` and the like fail.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def limit(*, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    if sys.platform == "linux":
        # Not RLIMIT_AS: that counts what is only reserved as well, of which libraries with threads
        # of their own take gigabytes. Since Linux 4.7 this one counts all private memory.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def restore_path() -> None:
    """Give programs that a handler starts the search path they would have without us."""
    outer = os.environ.pop(OUTER_PATH, "")
    if outer:
        os.environ["PYTHONPATH"] = outer
    else:
        os.environ.pop("PYTHONPATH", None)


def resident() -> int:
    """The memory this process holds, in bytes; 0 where the system does not say."""
    try:
        pages = int(STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize()
