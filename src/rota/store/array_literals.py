"""Encodes columns as array literals, which PostgreSQL reads from one text parameter.

The driver inspects each element of an array several times before it encodes it. For columns of a
thousand values it is cheaper to join them here; the statement casts the text
(`:names::text::text[]`).

benefit: 4 of 13 us per submission of a bulk, measured 2026-11
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

# PostgreSQL's text cannot contain it, so it can separate values while they are escaped.
SEPARATOR: Final = "\x00"
VALUE_DELIMITER: Final = '","'


def encode_texts(values: Sequence[str | None]) -> str:
    """Encode texts in quotes; None becomes null."""
    texts = [value for value in values if value is not None]
    joined = SEPARATOR.join(texts)
    if texts and len(texts) == len(values) and joined.count(SEPARATOR) == len(texts) - 1:
        return f'{{"{_escape(joined).replace(SEPARATOR, VALUE_DELIMITER)}"}}'
    # Also for a value that contains the separator, which PostgreSQL then refuses.
    return f"{{{','.join('null' if value is None else _quote(value) for value in values)}}}"


def encode_integers(values: Sequence[int]) -> str:
    return f"{{{','.join(map(str, values))}}}"


def encode_times(values: Sequence[datetime]) -> str:
    """Encode timezone-aware times, each with its offset."""
    return encode_texts([value.isoformat() for value in values])


def _quote(value: str) -> str:
    return f'"{_escape(value)}"'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
