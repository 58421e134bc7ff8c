"""Pages lists with opaque cursors that belong to one list.

A cursor contains the position after which the next page begins, and a digest of the filters. A
cursor with other filters is refused, because the page would belong to neither list.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from rota.api.identifiers import is_plain_text
from rota.api.problems import ProblemError

T = TypeVar("T")
PAGE_SIZE_MAX: Final = 200
CURSOR_CHARS_MAX: Final = 500
CURSOR_DIGITS_MAX: Final = 18


class ListPage(Struct, Generic[T], frozen=True, kw_only=True):
    """`next_cursor` is null on the last page."""

    data: list[T]
    next_cursor: str | None


class _Place(Struct, frozen=True, array_like=True):
    filters: bytes
    place: list[str]


def write_cursor(filters: Any, place: Sequence[str]) -> str:
    raw = msgspec.msgpack.encode(_Place(_digest(filters), list(place)))
    return urlsafe_b64encode(raw).decode().rstrip("=")


def read_cursor(text: str | None, filters: Any, *, parts: int = 1) -> list[str] | None:
    """Return the position in a cursor, which must have this many parts; None at the start of the
    list. Each part is text that the database can store.
    """
    if text is None:
        return None
    try:
        raw = urlsafe_b64decode(text[:CURSOR_CHARS_MAX] + "=" * (-len(text) % 4))
        position = msgspec.msgpack.decode(raw, type=_Place)
    except (NotBase64, ValueError, msgspec.DecodeError):
        raise _invalid_cursor() from None
    if position.filters != _digest(filters):
        raise ProblemError(
            "malformed_request",
            "the cursor belongs to a list with other filters; start again without it",
        )
    if len(position.place) != parts or not all(map(is_plain_text, position.place)):
        raise _invalid_cursor()
    return position.place


def _invalid_cursor() -> ProblemError:
    return ProblemError(
        "malformed_request", "invalid cursor; use `next_cursor` of the previous page"
    )


def _digest(filters: Any) -> bytes:
    return hashlib.sha256(msgspec.json.encode(filters, order="sorted")).digest()[:8]


def read_number(place: list[str] | None) -> int:
    """Return the number in a position; 0 at the start."""
    if place is None:
        return 0
    (text,) = place
    if not (text.isascii() and text.isdigit()) or len(text) > CURSOR_DIGITS_MAX:
        raise _invalid_cursor()
    return int(text)
