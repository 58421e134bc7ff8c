"""Defines `Page`, one page of a list."""

from typing import Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """One page of a list. `next` is the `cursor` of the next page; None on the last page."""

    items: list[T] = field(name="data")
    next: str | None = field(name="next_cursor", default=None)
