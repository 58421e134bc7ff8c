"""Routes prints and log records to the attempt that made them.

A context variable holds the current attempt; tasks inherit it, and so do the threads of sync
handlers. While an executor is open, routers that read the variable replace sys.stdout and
sys.stderr, and the root logger has a handler that reads it. Without a current attempt, output goes
to the original streams. Output of a handler's subprocess bypasses the routers: a child process
captures it, the worker does not.
"""

import io
import logging
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, Protocol, TextIO

from rota.core.executor import Stream

# Characters that are encoded at a time: one print may be a gigabyte.
OUTPUT_PIECE_CHARACTERS: Final = 65_536


# A worker may open an executor on one loop while it closes another's.
INSTALL_LOCK: Final = threading.Lock()


class OutputSink(Protocol):
    """The part of a context that receives output."""

    def write(self, stream: Stream, chunk: bytes) -> None: ...


CURRENT_ATTEMPT: Final[ContextVar[OutputSink | None]] = ContextVar("rota_attempt", default=None)


class TextRouter(io.TextIOBase):
    """Replaces sys.stdout or sys.stderr."""

    def __init__(self, original: TextIO, stream: Stream) -> None:
        super().__init__()
        self.original = original
        self.users = 0
        self._stream = stream
        self._buffer = BytesRouter(original, stream)

    def write(self, text: str) -> int:
        sink = CURRENT_ATTEMPT.get()
        if sink is None:
            return self.original.write(text)
        for start in range(0, len(text), OUTPUT_PIECE_CHARACTERS):
            # A lone surrogate must not fail a run.
            chunk = text[start : start + OUTPUT_PIECE_CHARACTERS].encode(
                "utf-8", "backslashreplace"
            )
            sink.write(self._stream, chunk)
        return len(text)

    def flush(self) -> None:
        if not self.original.closed:
            self.original.flush()

    def close(self) -> None:
        """Do nothing: a handler that closes its output must not close the worker's."""

    @property
    def buffer(self) -> "BytesRouter":
        return self._buffer

    @property
    def encoding(self) -> str:  # type: ignore[override] # a property here, an attribute there
        return self.original.encoding

    def fileno(self) -> int:
        return self.original.fileno()

    def isatty(self) -> bool:
        return CURRENT_ATTEMPT.get() is None and self.original.isatty()

    def writable(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


class BytesRouter(io.RawIOBase):
    """Replaces the `buffer` of sys.stdout or sys.stderr."""

    def __init__(self, original: TextIO, stream: Stream) -> None:
        super().__init__()
        self._behind = original
        self._stream = stream

    def write(self, chunk: Any) -> int:
        sink = CURRENT_ATTEMPT.get()
        if sink is None:
            return self._behind.buffer.write(chunk)
        view = memoryview(chunk).cast("B")
        for start in range(0, len(view), OUTPUT_PIECE_CHARACTERS):
            sink.write(self._stream, bytes(view[start : start + OUTPUT_PIECE_CHARACTERS]))
        return len(view)

    def flush(self) -> None:
        if not self._behind.closed:
            self._behind.flush()

    def close(self) -> None:
        """Do nothing, like `Router.close`."""

    def writable(self) -> bool:
        return True


class AttemptLogHandler(logging.Handler):
    """Writes each log record of an attempt as a line of its log."""

    def __init__(self, find: Callable[[], OutputSink | None] = CURRENT_ATTEMPT.get) -> None:
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
        except Exception:  # noqa: BLE001 — wrong arguments; logging reports them
            self.handleError(record)
            return
        sink.write(Stream.RECORD, line.encode("utf-8", "backslashreplace"))

    def _pass_on(self, record: logging.LogRecord) -> None:
        """Use logging's last resort if this is the only handler, as logging would without it."""
        last = logging.lastResort
        if last is not None and record.levelno >= last.level and logging.root.handlers == [self]:
            last.handle(record)


def install_routing() -> None:
    """Route the output of this process; all open executors share the routers."""
    with INSTALL_LOCK:
        _install()


def remove_routing() -> None:
    """Undo one `install`; the last call restores the streams."""
    with INSTALL_LOCK:
        _remove()


def _install() -> None:
    sys.stdout = _wrap_stream(sys.stdout, Stream.STDOUT)
    sys.stderr = _wrap_stream(sys.stderr, Stream.STDERR)
    if not any(isinstance(handler, AttemptLogHandler) for handler in logging.root.handlers):
        logging.root.addHandler(AttemptLogHandler())
    for output in (sys.stdout, sys.stderr, *logging.root.handlers):
        if isinstance(output, TextRouter | AttemptLogHandler):
            output.users += 1


def _wrap_stream(stream: Any, as_: Stream) -> Any:
    """Wrap a stream in a router; a process without standard streams has None."""
    return stream if stream is None or isinstance(stream, TextRouter) else TextRouter(stream, as_)


def _remove() -> None:
    if isinstance(sys.stdout, TextRouter) and _release(sys.stdout):
        sys.stdout = sys.stdout.original
    if isinstance(sys.stderr, TextRouter) and _release(sys.stderr):
        sys.stderr = sys.stderr.original
    for handler in tuple(logging.root.handlers):
        if isinstance(handler, AttemptLogHandler) and _release(handler):
            logging.root.removeHandler(handler)


def _release(output: TextRouter | AttemptLogHandler) -> bool:
    """Count one user less; return whether it was the last."""
    output.users -= 1
    return output.users <= 0
