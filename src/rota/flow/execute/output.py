"""What one attempt wrote and nobody has stored yet. Room: flow/execute.

Written to from any thread, emptied by the engine. Small writes of the same stream are joined: a
handler that prints a character at a time must not make a row of each.
"""

from collections import deque
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple

from rota.core.executor import Stream
from rota.store.logs import ATTEMPT_LOG_MAX_BYTES, LOG_CUT

# Stored in one piece (reliability 5.9).
MOST_PIECE: Final = 16_000
ERROR_BYTES_MAX: Final = 64_000


class Said(NamedTuple):
    seq: int
    stream: Stream
    at: datetime
    chunk: bytes


class Output:
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
        self._ready: deque[Said] = deque()
        self._tail = bytearray()
        self._stream = Stream.STDOUT
        self._begun_at: datetime | None = None
        self._seq = 0
        self._size = 0
        self._error_size = 0
        self._cut = False

    def write(self, stream: Stream, chunk: bytes, at: datetime) -> None:
        """Add `chunk`, said at `at`; what is over the limit is cut, once and visibly."""
        with self._lock:
            if stream is Stream.ERROR:
                # Why it failed matters most: it has room of its own.
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
                self._append(Stream.ROTA, LOG_CUT, at)

    def take(self, most: int) -> list[Said]:
        """The oldest pieces, at most so many."""
        with self._lock:
            self._seal()
            return [self._ready.popleft() for _ in range(min(most, len(self._ready)))]

    def _append(self, stream: Stream, chunk: bytes, at: datetime) -> None:
        for start in range(0, len(chunk), MOST_PIECE):
            part = chunk[start : start + MOST_PIECE]
            if stream is not self._stream or len(self._tail) + len(part) > MOST_PIECE:
                self._seal()
            if self._begun_at is None:
                self._begun_at, self._stream = at, stream
            self._tail += part

    def _seal(self) -> None:
        if self._begun_at is not None:
            said = Said(self._seq, self._stream, self._begun_at, bytes(self._tail))
            self._ready.append(said)
            self._seq += 1
            self._tail.clear()
            self._begun_at = None
