"""Writes and bounds server.log, the log of the server and its monitor."""

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import BinaryIO

LIMIT = 8 << 20
READ = 64 << 10


def say(sentence: str) -> None:
    """Write one line of the monitor; its standard error is the log."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    with contextlib.suppress(OSError):  # a full disk must not stop the monitor
        print(f"{now} [{os.getpid()}] monitor: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


def appending(log: Path) -> BinaryIO:
    """Open the log for a process to append to, readable by its owner only."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    return os.fdopen(os.open(log, flags, 0o600), "ab", buffering=0)


def size(log: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return log.stat().st_size
    return 0


def since(log: Path, start: int) -> str:
    """Return the log from a position on, or at most its last 64 KB."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(start if start <= end else 0, end - READ))
        return file.read().decode(errors="replace")
    return ""


def trim(log: Path) -> None:
    """Copy a long log to server.log.1 and empty it; its writers append, so they continue at 0."""
    if size(log) > LIMIT:
        with contextlib.suppress(OSError):
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)
