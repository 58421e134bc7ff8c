"""Hides the values of secrets in what an attempt says. Room: core.

A value is hidden as it is, line by line, and as JSON, URLs and base64 write it. In messages, which
are cut to fit, a longer piece of one is hidden as well. Whoever turns a value into something else,
for example backwards, is not stopped: this is against accidents, not against the author of a job.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, quote_plus

HIDDEN: Final = "***"
# In bytes. What is shorter is part of ordinary words, and its absence would tell where it was.
SHORTEST: Final = 6
# Characters of a value that are hidden wherever they are found in a message.
PIECE: Final = 16
MOST_LINES: Final = 100
# The end of a piece of output that may be the beginning of a value, and so waits for the next.
MOST_KEPT: Final = 8_192


class Cleaned(NamedTuple):
    """Output without secrets; `kept` may be the beginning of one, and goes before what follows."""

    said: bytes
    kept: bytes


class Mask:
    """Made for the values that one attempt was given."""

    __slots__ = ("_forms", "_pieces", "_sealed", "_values")

    def __init__(self, values: Iterable[str]) -> None:
        self._values = tuple(values)
        found = {form for value in self._values for form in _forms(value)}
        long = [form for form in found if len(form.encode()) >= SHORTEST]
        # The longest first: a shorter one may be a part of it.
        self._forms = sorted(long, key=len, reverse=True)
        self._sealed = [form.encode() for form in self._forms]
        self._pieces: frozenset[str] | None = None

    def text(self, text: str) -> str:
        """A message, which may hold values that were cut."""
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return self._without_pieces(text)

    def value(self, value: Any) -> Any:
        """A value of JSON, hidden wherever it holds one; what is not of JSON becomes a text."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int | float):
            return value if not self.holds(str(value)) else HIDDEN
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return self.text(repr(value))

    def holds(self, text: str) -> bool:
        """Whether a value stands in this text."""
        return any(form in text for form in self._forms)

    def clean(self, chunk: bytes) -> Cleaned:
        """A piece of output, with what was kept of the one before it."""
        for form in self._sealed:
            chunk = chunk.replace(form, HIDDEN.encode())
        kept = max((_begun(chunk, form) for form in self._sealed), default=0)
        return Cleaned(chunk[: len(chunk) - kept], chunk[len(chunk) - kept :])

    def _without_pieces(self, text: str) -> str:
        if self._pieces is None:
            # Made only if something is said: most attempts have no message.
            self._pieces = frozenset(
                value[start : start + PIECE]
                for value in self._values
                for start in range(len(value) - PIECE + 1)
            )
        if not self._pieces or len(text) < PIECE:
            return text
        return "".join(self._kept(text, self._pieces))

    @staticmethod
    def _kept(text: str, pieces: frozenset[str]) -> Iterator[str]:
        done = 0
        for start in range(len(text) - PIECE + 1):
            if text[start : start + PIECE] in pieces:
                if start >= done:
                    yield text[done:start]
                    yield HIDDEN
                done = start + PIECE
        yield text[done:]


def _forms(value: str) -> Iterator[str]:
    """All the ways in which a value is usually written."""
    yield value
    for line in value.split("\n")[:MOST_LINES]:
        yield line.strip()
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(value)[1:-1]
    yield repr(value)[1:-1]
    yield quote(value)
    yield quote(value, safe="")
    yield quote_plus(value)
    yield from _in_base64(value.encode())


def _in_base64(value: bytes) -> Iterator[str]:
    """As base64 shows it after 0, 1 or 2 other bytes, as in `user:password`: without the letters
    that also depend on what stands beside it.
    """
    for before in range(3):
        whole = base64.b64encode(bytes(before) + value)
        first = (0, 2, 3)[before]
        last = (before + len(value)) * 8 // 6
        inner = whole[first:last].decode()
        yield inner
        yield inner.translate(str.maketrans("+/", "-_"))


def _begun(text: bytes, form: bytes) -> int:
    """How many bytes at the end of a text are a beginning of this form."""
    start = len(text) - min(len(form) - 1, len(text), MOST_KEPT)
    while start < len(text):
        start = text.find(form[:1], start)
        if start < 0:
            return 0
        if form.startswith(text[start:]):
            return len(text) - start
        start += 1
    return 0
