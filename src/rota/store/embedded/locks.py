"""Locks that the kernel releases when their holder dies, however it dies.

An flock belongs to the open file, not to a process: a child gets it by inheriting the descriptor,
and `kill -9` releases it. This module does not know what a lock is for.
"""

import contextlib
import errno
import fcntl
import os
from pathlib import Path
from typing import Self

from rota.core.errors import EmbeddedFailed

NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


class FileLock:
    """One open lock file; two of them on one path compete even within one process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def try_shared(self) -> bool:
        return self._try(fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        return self._try(fcntl.LOCK_EX)

    def wait_exclusive(self) -> None:
        """Block until no other process holds it. A waiter does not block new shared holders."""
        fcntl.flock(self.fd, fcntl.LOCK_EX)

    @property
    def is_open(self) -> bool:
        return self.fd >= 0

    def close(self) -> None:
        """Release it; a child that inherited the lock keeps it."""
        if self.is_open:
            with contextlib.suppress(OSError):
                os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _try(self, mode: int) -> bool:
        try:
            fcntl.flock(self.fd, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in NO_FLOCK:
                raise EmbeddedFailed(
                    reason=f"the filesystem of {self.path.parent} lacks file locks ({error})",
                    remedy="put the home on a local disk",
                ) from error
            raise
        return True
