"""Schemas of statistics."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.api.schemas.field_types import Moment


class StatisticsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The period of the statistics."""

    since: Annotated[
        Moment | None,
        Meta(description="Start of the period, at most a month ago. Default: an hour ago."),
    ] = None


class SeriesQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    span: Annotated[
        Literal["hour", "day", "month"],
        Meta(description="Last hour by minute, day by hour, or month by day. Default: `hour`."),
    ] = "hour"


class DepthView(Struct, kw_only=True, frozen=True):
    queue: str
    waiting: int
    oldest_wait_s: float | None


class StatisticsView(Struct, kw_only=True, frozen=True):
    """Statistics of a tenant. `is_estimate`: there were too many runs to count each."""

    since: str
    now: str
    runs: dict[str, int]
    is_estimate: bool
    failure_rate: float | None
    runs_per_second: float
    wait_p50_s: float | None
    wait_p99_s: float | None
    duration_p50_s: float | None
    duration_p99_s: float | None
    queues: list[DepthView]
    late_ticks: int
    latest_tick_by_s: float


class BucketView(Struct, kw_only=True, frozen=True):
    """Runs that ended from `start` on. The percentiles of their waits are accurate to 5 %."""

    start: str
    runs: dict[str, int]
    mean_wait_s: float | None
    wait_p50_s: float | None
    wait_p99_s: float | None
    longest_wait_s: float | None
    mean_duration_s: float | None


class SeriesView(Struct, kw_only=True, frozen=True):
    width_s: float
    is_estimate: bool
    buckets: list[BucketView]
