"""Buffers the output of one attempt until it is stored.

Any thread may write; the engine takes the pieces. Small writes to the same stream are joined, so
that a handler that prints one character at a time does not create a row for each.
"""

from collections import deque
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple

from rota.core.executor import Stream
from rota.store.logs import ATTEMPT_LOG_MAX_BYTES, LOG_TRUNCATED_LINE

# Bytes stored as one row (reliability 5.9).
PIECE_BYTES_MAX: Final = 16_000
ERROR_BYTES_MAX: Final = 64_000


class OutputChunk(NamedTuple):
    seq: int
    stream: Stream
    at: datetime
    chunk: bytes


class OutputBuffer:
    __slots__ = (
        "_begun_at",
        "_cut",
        "_error_size",
        "_lock",
        "_ready",
        "_seq",
        "_size",
        "_stream",
        "_tail",
    )

    def __init__(self) -> None:
        self._lock = Lock()
        self._ready: deque[OutputChunk] = deque()
        self._tail = bytearray()
        self._stream = Stream.STDOUT
        self._begun_at: datetime | None = None
        self._seq = 0
        self._size = 0
        self._error_size = 0
        self._cut = False

    def write(self, stream: Stream, chunk: bytes, at: datetime) -> None:
        """Add `chunk`, written at `at`. Output over the limit is cut, once and visibly."""
        with self._lock:
            if stream is Stream.ERROR:
                # The error matters most, so it has its own limit.
                room = max(0, ERROR_BYTES_MAX - self._error_size)
                self._error_size += len(chunk)
                self._append(stream, chunk[:room], at)
                return
            if self._cut:
                return
            room = ATTEMPT_LOG_MAX_BYTES - self._size
            self._size += len(chunk)
            self._append(stream, chunk[:room], at)
            if len(chunk) > room:
                self._cut = True
                self._append(Stream.ROTA, LOG_TRUNCATED_LINE, at)

    def take(self, limit: int) -> list[OutputChunk]:
        """Return the oldest pieces, at most `limit`."""
        with self._lock:
            self._finish_piece()
            return [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]

    def _append(self, stream: Stream, chunk: bytes, at: datetime) -> None:
        for start in range(0, len(chunk), PIECE_BYTES_MAX):
            part = chunk[start : start + PIECE_BYTES_MAX]
            if stream is not self._stream or len(self._tail) + len(part) > PIECE_BYTES_MAX:
                self._finish_piece()
            if self._begun_at is None:
                self._begun_at, self._stream = at, stream
            self._tail += part

    def _finish_piece(self) -> None:
        if self._begun_at is not None:
            piece = OutputChunk(self._seq, self._stream, self._begun_at, bytes(self._tail))
            self._ready.append(piece)
            self._seq += 1
            self._tail.clear()
            self._begun_at = None
