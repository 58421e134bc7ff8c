"""server.log: what the server and its keeper say, kept within bounds. Room: store/embedded."""

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
    """Write a line of the keeper's own; its standard error is the log."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    with contextlib.suppress(OSError):  # a full disk must not stop the keeper
        print(f"{now} [{os.getpid()}] keeper: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


def appending(log: Path) -> BinaryIO:
    """Open it for a process to write to, readable by its owner only."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    return os.fdopen(os.open(log, flags, 0o600), "ab", buffering=0)


def size(log: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return log.stat().st_size
    return 0


def since(log: Path, start: int) -> str:
    """Return what was said from a position on, or as much of its end as matters."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(start if start <= end else 0, end - READ))
        return file.read().decode(errors="replace")
    return ""


def trim(log: Path) -> None:
    """Put a long log aside and empty it; its writers append, so they go on at the beginning."""
    if size(log) > LIMIT:
        with contextlib.suppress(OSError):
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)
