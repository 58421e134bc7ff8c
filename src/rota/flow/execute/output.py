"""What one attempt wrote and nobody has stored yet. Room: flow/execute.

Written to from any thread, emptied by the engine. Small writes of the same stream are joined: a
handler that prints a character at a time must not make a row of each.
"""

from collections import deque
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple

from rota.core.executor import Stream

# Stored per attempt, and in one piece (reliability 5.9).
MOST_LOG: Final = 1_000_000
MOST_PIECE: Final = 16_000
CUT: Final = b"[the rest of the output was cut: it is over 1 MB]\n"


class Said(NamedTuple):
    seq: int
    stream: Stream
    at: datetime
    chunk: bytes


class Output:
    __slots__ = ("_begun_at", "_cut", "_lock", "_ready", "_seq", "_size", "_stream", "_tail")

    def __init__(self) -> None:
        self._lock = Lock()
        self._ready: deque[Said] = deque()
        self._tail = bytearray()
        self._stream = Stream.STDOUT
        self._begun_at: datetime | None = None
        self._seq = 0
        self._size = 0
        self._cut = False

    def write(self, stream: Stream, chunk: bytes, at: datetime) -> None:
        """Add `chunk`, said at `at`; what is over the limit is cut, once and visibly."""
        with self._lock:
            if self._cut:
                return
            room = MOST_LOG - self._size
            self._size += len(chunk)
            self._append(stream, chunk[:room], at)
            if len(chunk) > room:
                self._cut = True
                self._append(Stream.ROTA, CUT, at)

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
