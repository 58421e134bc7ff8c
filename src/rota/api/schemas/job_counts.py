"""Schemas of job counts."""

from typing import Annotated

from msgspec import Meta, Struct


class JobCountView(Struct, kw_only=True, frozen=True):
    """Jobs of one status. `next_fire_time` is the earliest next tick; null if none fires again."""

    status: str
    count: int
    next_fire_time: str | None


class JobCountsView(Struct, kw_only=True, frozen=True):
    data: list[JobCountView]
    is_complete: Annotated[
        bool,
        Meta(description="False if only the newest jobs were counted."),
    ]
