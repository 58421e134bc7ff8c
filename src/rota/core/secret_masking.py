"""Hides the values of secrets in the output of an attempt.

Masks a value itself, its single lines, and its forms in JSON, URLs and base64. In messages, which
may be truncated, long pieces of a value are masked as well. A value that the job transforms, for
example reverses, is not detected: masking guards against accidents, not against the job's author.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, quote_plus

MASK_TEXT: Final = "***"
# In bytes. Shorter values are not masked: they occur in ordinary words, and the mask would reveal
# them.
MASKED_BYTES_MIN: Final = 6
# Length in characters of a piece of a value that is masked in messages.
MASKED_PIECE_LENGTH: Final = 16
MASKED_LINES_MAX: Final = 100
# Maximum size of the end of a chunk that is held back, because it may be the start of a value.
HELD_BACK_BYTES_MAX: Final = 8_192


class MaskedChunk(NamedTuple):
    """Masked output. `kept` may be the start of a value; prepend it to the next chunk."""

    output: bytes
    held_back: bytes


class SecretMask:
    """Masks the secret values that one attempt uses."""

    __slots__ = ("_encoded_forms", "_forms", "_pieces", "_values")

    def __init__(self, values: Iterable[str]) -> None:
        self._values = tuple(values)
        forms = {form for value in self._values for form in _derive_forms(value)}
        long_forms = [form for form in forms if len(form.encode()) >= MASKED_BYTES_MIN]
        # The longest first: a shorter form may be a part of it.
        self._forms = sorted(long_forms, key=len, reverse=True)
        self._encoded_forms = [form.encode() for form in self._forms]
        self._pieces: frozenset[str] | None = None

    def mask_text(self, text: str) -> str:
        """Mask a message, which may contain truncated values."""
        for form in self._forms:
            text = text.replace(form, MASK_TEXT)
        return self._without_pieces(text)

    def mask_value(self, value: Any) -> Any:
        """Mask all texts in a JSON value; a value that is not JSON is masked as its repr."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, int | float):
            return value if not self.contains_secret(str(value)) else MASK_TEXT
        if isinstance(value, Mapping):
            return {
                self.mask_text(str(key)): self.mask_value(inner) for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.mask_value(inner) for inner in value]
        return self.mask_text(repr(value))

    def contains_secret(self, text: str) -> bool:
        """Return whether the text contains a secret value."""
        return any(form in text for form in self._forms)

    def mask_chunk(self, chunk: bytes) -> MaskedChunk:
        """Mask a chunk of output, which begins with what was kept of the previous chunk."""
        for form in self._encoded_forms:
            chunk = chunk.replace(form, MASK_TEXT.encode())
        size = max((_count_started(chunk, form) for form in self._encoded_forms), default=0)
        return MaskedChunk(chunk[: len(chunk) - size], chunk[len(chunk) - size :])

    def _without_pieces(self, text: str) -> str:
        if self._pieces is None:
            # Computed on first use: most attempts have no message.
            self._pieces = frozenset(
                value[start : start + MASKED_PIECE_LENGTH]
                for value in self._values
                for start in range(len(value) - MASKED_PIECE_LENGTH + 1)
            )
        if not self._pieces or len(text) < MASKED_PIECE_LENGTH:
            return text
        return "".join(self._split_by_pieces(text, self._pieces))

    @staticmethod
    def _split_by_pieces(text: str, pieces: frozenset[str]) -> Iterator[str]:
        done = 0
        for start in range(len(text) - MASKED_PIECE_LENGTH + 1):
            if text[start : start + MASKED_PIECE_LENGTH] in pieces:
                if start >= done:
                    yield text[done:start]
                    yield MASK_TEXT
                done = start + MASKED_PIECE_LENGTH
        yield text[done:]


def _derive_forms(value: str) -> Iterator[str]:
    """Yield the common encodings of a value."""
    yield value
    for line in value.split("\n")[:MASKED_LINES_MAX]:
        yield line.strip()
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(value)[1:-1]
    yield repr(value)[1:-1]
    yield quote(value)
    yield quote(value, safe="")
    yield quote_plus(value)
    yield from _encode_base64(value.encode())


def _encode_base64(value: bytes) -> Iterator[str]:
    """Yield the base64 of a value after 0, 1 or 2 other bytes, as in `user:password`, without the
    letters that depend on adjacent bytes.
    """
    for before in range(3):
        whole = base64.b64encode(bytes(before) + value)
        first = (0, 2, 3)[before]
        last = (before + len(value)) * 8 // 6
        inner = whole[first:last].decode()
        yield inner
        yield inner.translate(str.maketrans("+/", "-_"))


def _count_started(text: bytes, form: bytes) -> int:
    """Return how many bytes at the end of a text are the start of this form."""
    start = len(text) - min(len(form) - 1, len(text), HELD_BACK_BYTES_MAX)
    while start < len(text):
        start = text.find(form[:1], start)
        if start < 0:
            return 0
        if form.startswith(text[start:]):
            return len(text) - start
        start += 1
    return 0
