"""What a command wrote and nobody was told of yet. Room: sdk/outside.

Filled by the threads that read the pipes, emptied by the one that tells. Bounded: a server that is
away must not make a cron line eat the memory.
"""

import codecs
from threading import Lock
from typing import Any, Final

MOST: Final = 1_000_000
MOST_PIECE: Final = 4_000
MOST_PIECES: Final = 20_000
AT_ONCE: Final = 100
CUT: Final = "[the rest of the output was cut: it is over 1 MB]\n"


class Output:
    def __init__(self) -> None:
        self._lock = Lock()
        self._decoders = {name: _decoder() for name in ("stdout", "stderr")}
        self._waiting: list[tuple[str, str]] = []
        self._size = 0
        self._is_cut = False
        self._sent = 0
        self._told: list[dict[str, Any]] = []

    def write(self, stream: str, chunk: bytes, *, last: bool = False) -> None:
        """Add what was read; `last` is the end of the stream."""
        text = self._decoders[stream].decode(chunk, last).replace("\x00", "\ufffd")
        with self._lock:
            if self._is_cut or not text:
                return
            room = MOST - self._size
            self._size += len(text)
            self._add(stream, text[:room])
            if len(text) > room:
                self._is_cut = True
                self._add("stderr", CUT)

    def _add(self, stream: str, text: str) -> None:
        for start in range(0, len(text), MOST_PIECE):
            part = text[start : start + MOST_PIECE]
            if self._waiting and self._waiting[-1][0] == stream:
                joined = self._waiting[-1][1] + part
                if len(joined) <= MOST_PIECE:
                    self._waiting[-1] = (stream, joined)
                    continue
            self._waiting.append((stream, part))

    def take(self) -> list[dict[str, Any]]:
        """The next pieces. Until `told`, they are the same: what was sent in vain is sent again."""
        with self._lock:
            if not self._told:
                room = max(0, min(AT_ONCE, MOST_PIECES - self._sent))
                part, self._waiting = self._waiting[:room], self._waiting[room:]
                self._told = [
                    {"seq": self._sent + place, "stream": stream, "text": text}
                    for place, (stream, text) in enumerate(part)
                ]
                self._sent += len(part)
            return self._told

    def told(self) -> None:
        with self._lock:
            self._told = []

    @property
    def is_empty(self) -> bool:
        with self._lock:
            return not self._told and (not self._waiting or self._sent >= MOST_PIECES)


def _decoder() -> Any:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")
