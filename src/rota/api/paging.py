"""Pages of lists: an opaque cursor that knows which list it belongs to. Room: api.

The cursor holds the place after which the next page begins, and a digest of the filters: a cursor
with other filters is refused, because the page would be neither list's.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from rota.api.identifiers import is_plain_text
from rota.api.problems import Refusal

T = TypeVar("T")
USUAL: Final = 50
MOST: Final = 200
MOST_CURSOR: Final = 500
MOST_DIGITS: Final = 18


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """`next_cursor` is null on the last page."""

    data: list[T]
    next_cursor: str | None


class _Place(Struct, frozen=True, array_like=True):
    filters: bytes
    place: list[str]


def cursor(filters: Any, place: Sequence[str]) -> str:
    raw = msgspec.msgpack.encode(_Place(_digest(filters), list(place)))
    return urlsafe_b64encode(raw).decode().rstrip("=")


def place_of(text: str | None, filters: Any, *, parts: int = 1) -> list[str] | None:
    """Return the place in a cursor, which has exactly so many parts; None at the beginning of the
    list. Each part is text that the database can store.
    """
    if text is None:
        return None
    try:
        raw = urlsafe_b64decode(text[:MOST_CURSOR] + "=" * (-len(text) % 4))
        found = msgspec.msgpack.decode(raw, type=_Place)
    except (NotBase64, ValueError, msgspec.DecodeError):
        raise _not_ours() from None
    if found.filters != _digest(filters):
        raise Refusal("malformed_request", "the cursor belongs to a list with other filters")
    if len(found.place) != parts or not all(map(is_plain_text, found.place)):
        raise _not_ours()
    return found.place


def _not_ours() -> Refusal:
    return Refusal("malformed_request", "the cursor is none of ours")


def _digest(filters: Any) -> bytes:
    return hashlib.sha256(msgspec.json.encode(filters, order="sorted")).digest()[:8]


def number_of(place: list[str] | None) -> int:
    """The number in a place; 0 at the beginning."""
    if place is None:
        return 0
    (text,) = place
    if not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
        raise _not_ours()
    return int(text)
