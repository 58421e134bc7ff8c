"""Buffers the output of a command until it is sent to the server.

The threads that read the pipes fill the buffer, the reporting thread empties it. Its size is
bounded, so that an unreachable server does not make a cron job use up the memory.
"""

import codecs
from threading import Lock
from typing import Any, Final

OUTPUT_CHARACTERS_MAX: Final = 1_000_000
PIECE_CHARACTERS_MAX: Final = 4_000
PIECES_MAX: Final = 20_000
PIECES_PER_REPORT_MAX: Final = 100
TRUNCATED_NOTICE: Final = "[output truncated: more than 1 MB]\n"


class UnsentOutput:
    def __init__(self) -> None:
        self._lock = Lock()
        self._decoders = {name: _decoder() for name in ("stdout", "stderr")}
        self._waiting: list[tuple[str, str]] = []
        self._size = 0
        self._is_cut = False
        self._sent = 0
        # Taken and not yet confirmed by the server.
        self._in_flight: list[dict[str, Any]] = []

    def write(self, stream: str, chunk: bytes, *, last: bool = False) -> None:
        """Add a chunk of output; `last` marks the end of the stream."""
        text = self._decoders[stream].decode(chunk, last).replace("\x00", "\ufffd")
        with self._lock:
            if self._is_cut or not text:
                return
            room = OUTPUT_CHARACTERS_MAX - self._size
            self._size += len(text)
            self._add(stream, text[:room])
            if len(text) > room:
                self._is_cut = True
                self._add("stderr", TRUNCATED_NOTICE)

    def _add(self, stream: str, text: str) -> None:
        for start in range(0, len(text), PIECE_CHARACTERS_MAX):
            part = text[start : start + PIECE_CHARACTERS_MAX]
            if self._waiting and self._waiting[-1][0] == stream:
                joined = self._waiting[-1][1] + part
                if len(joined) <= PIECE_CHARACTERS_MAX:
                    self._waiting[-1] = (stream, joined)
                    continue
            self._waiting.append((stream, part))

    def take_batch(self) -> list[dict[str, Any]]:
        """The next pieces to send; the same pieces until `told` confirms them."""
        with self._lock:
            if not self._in_flight:
                room = max(0, min(PIECES_PER_REPORT_MAX, PIECES_MAX - self._sent))
                part, self._waiting = self._waiting[:room], self._waiting[room:]
                self._in_flight = [
                    {"seq": self._sent + index, "stream": stream, "text": text}
                    for index, (stream, text) in enumerate(part)
                ]
                self._sent += len(part)
            return self._in_flight

    def confirm_batch(self) -> None:
        """Confirm that the server received the pieces of the last `take`."""
        with self._lock:
            self._in_flight = []

    @property
    def is_empty(self) -> bool:
        with self._lock:
            return not self._in_flight and (not self._waiting or self._sent >= PIECES_MAX)


def _decoder() -> Any:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")
