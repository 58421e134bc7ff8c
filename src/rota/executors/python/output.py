"""Prints and log records find the attempt that made them. Room: executors/python.

A context variable names the current attempt; tasks inherit it, and so do the threads of sync
handlers. While an executor is open, sys.stdout and sys.stderr are routers that look at it, and the
root logger has a handler that does. Without a current attempt everything goes where it went before.
What a subprocess of a handler writes goes past all this: a child process catches it, the worker
does not.
"""

import io
import logging
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, Protocol, TextIO

from rota.core.executor import Stream

# One print may be a gigabyte; it is encoded in pieces of so many characters.
PIECE: Final = 65_536


# A worker may open an executor on one loop while it closes another's.
LOCK: Final = threading.Lock()


class Sink(Protocol):
    """All that is needed of a context here."""

    def write(self, stream: Stream, chunk: bytes) -> None: ...


CURRENT: Final[ContextVar[Sink | None]] = ContextVar("rota_attempt", default=None)


class Router(io.TextIOBase):
    """Stands in for sys.stdout or sys.stderr."""

    def __init__(self, behind: TextIO, stream: Stream) -> None:
        super().__init__()
        self.behind = behind
        self.users = 0
        self._stream = stream
        self._buffer = BytesRouter(behind, stream)

    def write(self, text: str) -> int:
        sink = CURRENT.get()
        if sink is None:
            return self.behind.write(text)
        for start in range(0, len(text), PIECE):
            # A lone surrogate is no reason to fail a run.
            chunk = text[start : start + PIECE].encode("utf-8", "backslashreplace")
            sink.write(self._stream, chunk)
        return len(text)

    def flush(self) -> None:
        if not self.behind.closed:
            self.behind.flush()

    def close(self) -> None:
        """Stay open: a handler that closes its output must not close the worker's."""

    @property
    def buffer(self) -> "BytesRouter":
        return self._buffer

    @property
    def encoding(self) -> str:  # type: ignore[override] # a property here, an attribute there
        return self.behind.encoding

    def fileno(self) -> int:
        return self.behind.fileno()

    def isatty(self) -> bool:
        return CURRENT.get() is None and self.behind.isatty()

    def writable(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


class BytesRouter(io.RawIOBase):
    """Stands in for the `buffer` of sys.stdout or sys.stderr."""

    def __init__(self, behind: TextIO, stream: Stream) -> None:
        super().__init__()
        self._behind = behind
        self._stream = stream

    def write(self, chunk: Any) -> int:
        sink = CURRENT.get()
        if sink is None:
            return self._behind.buffer.write(chunk)
        view = memoryview(chunk).cast("B")
        for start in range(0, len(view), PIECE):
            sink.write(self._stream, bytes(view[start : start + PIECE]))
        return len(view)

    def flush(self) -> None:
        if not self._behind.closed:
            self._behind.flush()

    def close(self) -> None:
        """Stay open, as the router does."""

    def writable(self) -> bool:
        return True


class Records(logging.Handler):
    """Writes each log record of an attempt as a line of it."""

    def __init__(self, find: Callable[[], Sink | None] = CURRENT.get) -> None:
        super().__init__()
        self.users = 0
        self._find = find
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        sink = self._find()
        if sink is None:
            self._pass_on(record)
            return
        try:
            line = f"{self.format(record)}\n"
        except Exception:  # noqa: BLE001 — a record with wrong arguments; logging says so itself
            self.handleError(record)
            return
        sink.write(Stream.RECORD, line.encode("utf-8", "backslashreplace"))

    def _pass_on(self, record: logging.LogRecord) -> None:
        """Do what logging does with a record that nobody handles, if only we are there."""
        last = logging.lastResort
        if last is not None and record.levelno >= last.level and logging.root.handlers == [self]:
            last.handle(record)


def install() -> None:
    """Route the output of this process; once for all executors that are open."""
    with LOCK:
        _install()


def remove() -> None:
    """Undo one `install`; the last one gives the streams back."""
    with LOCK:
        _remove()


def _install() -> None:
    sys.stdout = _routed(sys.stdout, Stream.STDOUT)
    sys.stderr = _routed(sys.stderr, Stream.STDERR)
    if not any(isinstance(each, Records) for each in logging.root.handlers):
        logging.root.addHandler(Records())
    for each in (sys.stdout, sys.stderr, *logging.root.handlers):
        if isinstance(each, Router | Records):
            each.users += 1


def _routed(stream: Any, as_: Stream) -> Any:
    """None is what a process without standard streams has; there print does nothing."""
    return stream if stream is None or isinstance(stream, Router) else Router(stream, as_)


def _remove() -> None:
    if isinstance(sys.stdout, Router) and _was_last(sys.stdout):
        sys.stdout = sys.stdout.behind
    if isinstance(sys.stderr, Router) and _was_last(sys.stderr):
        sys.stderr = sys.stderr.behind
    for each in tuple(logging.root.handlers):
        if isinstance(each, Records) and _was_last(each):
            logging.root.removeHandler(each)


def _was_last(routed: Router | Records) -> bool:
    routed.users -= 1
    return routed.users <= 0
