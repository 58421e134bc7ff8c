"""Figures of a tenant as JSON. Room: api/shapes."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Moment


class StatisticsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Since when; an hour ago unless it is said, a month ago at most."""

    since: Annotated[
        Moment | None, Meta(description="An hour ago unless it is said, a month ago at most.")
    ] = None


class SeriesQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    span: Annotated[
        Literal["hour", "day", "month"],
        Meta(description="The last hour by minutes, day by hours, or month by days."),
    ] = "hour"


class DepthView(Struct, kw_only=True, frozen=True):
    queue: str
    waiting: int
    oldest_wait_s: float | None


class StatisticsView(Struct, kw_only=True, frozen=True):
    """`is_estimate`: there were too many runs to count each."""

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
    """Runs that ended from `start` on. The percentiles of their lags are to a twentieth."""

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
