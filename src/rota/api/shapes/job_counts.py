"""Jobs by status as JSON. Room: api/shapes."""

from typing import Annotated

from msgspec import Meta, Struct


class JobCountView(Struct, kw_only=True, frozen=True):
    """`next_fire_time` is the earliest of these jobs; null if none of them fires again."""

    status: str
    count: int
    next_fire_time: str | None


class JobCountsView(Struct, kw_only=True, frozen=True):
    data: list[JobCountView]
    is_complete: Annotated[
        bool,
        Meta(description="False if there are more jobs than were counted; the newest were."),
    ]
