"""Lists come in pages. Room: sdk/client."""

from typing import Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """`next` is the `cursor` of the page after this one; None on the last page, and on lists that
    have only one.
    """

    items: list[T] = field(name="data")
    next: str | None = field(name="next_cursor", default=None)
