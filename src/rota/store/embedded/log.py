"""Writes and bounds server.log, the log of the server and its monitor."""

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import BinaryIO

LOG_MAX_BYTES = 8 << 20
LOG_READ_MAX_BYTES = 64 << 10


def write_line(sentence: str) -> None:
    """Write one line of the monitor; its standard error is the log."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    with contextlib.suppress(OSError):  # a full disk must not stop the monitor
        print(f"{now} [{os.getpid()}] monitor: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


def open_for_append(log: Path) -> BinaryIO:
    """Open the log for a process to append to, readable by its owner only."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    return os.fdopen(os.open(log, flags, 0o600), "ab", buffering=0)


def log_size(log: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return log.stat().st_size
    return 0


def read_since(log: Path, start: int) -> str:
    """Return the log from a position on, or at most its last 64 KB."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(start if start <= end else 0, end - LOG_READ_MAX_BYTES))
        return file.read().decode(errors="replace")
    return ""


def trim_log(log: Path) -> None:
    """Copy a long log to server.log.1 and empty it; its writers append, so they continue at 0."""
    if log_size(log) > LOG_MAX_BYTES:
        with contextlib.suppress(OSError):
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)
