"""Operations for statistics of the caller's tenant: current, and over time."""

from datetime import timedelta
from typing import Final

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.endpoint_steps import parse_instant
from rota.api.schemas.field_types import format_time
from rota.api.schemas.statistics import (
    BucketView,
    DepthView,
    SeriesQuery,
    SeriesView,
    StatisticsQuery,
    StatisticsView,
)
from rota.core.access import Permission
from rota.engine.observability import statistics
from rota.engine.observability.statistics import SeriesSpan, StatisticsBucket

DEFAULT_PERIOD: Final = timedelta(hours=1)


def to_seconds(time: timedelta | None) -> float | None:
    return None if time is None else round(time.total_seconds(), 6)


@operation(
    "GET",
    "/v1/statistics",
    tag="statistics",
    permission=Permission.READ,
    query=StatisticsQuery,
    answer=StatisticsView,
)
async def get_statistics(call: Call) -> Reply:
    """Get statistics: runs by outcome, waits, durations, queue depths and late ticks.

    `runs`, `wait_*` and `duration_*` cover runs that ended since `since`. `wait_*` is the time from
    when a run could start until it started. Backfills, replays, retries and manually started runs
    have none.
    """
    since = parse_instant(call.query.since, "since") or call.now - DEFAULT_PERIOD
    found = await statistics.read_overview(call.conn, tenant_id=call.tenant_id, since=since)
    times = found.times
    return Reply(
        StatisticsView(
            since=format_time(found.since),
            now=format_time(found.now),
            runs={state.value: number for state, number in found.ended.items()},
            is_estimate=found.is_estimate,
            failure_rate=found.failure_rate,
            runs_per_second=found.runs_per_second,
            wait_p50_s=to_seconds(times.lag_p50),
            wait_p99_s=to_seconds(times.lag_p99),
            duration_p50_s=to_seconds(times.duration_p50),
            duration_p99_s=to_seconds(times.duration_p99),
            queues=[
                DepthView(
                    queue=depth.queue,
                    waiting=depth.ready,
                    oldest_wait_s=None
                    if depth.oldest_at is None
                    else to_seconds(found.now - depth.oldest_at),
                )
                for depth in found.queues
            ],
            late_ticks=found.late_ticks,
            latest_tick_by_s=found.latest_by.total_seconds(),
        )
    )


@operation(
    "GET",
    "/v1/statistics/series",
    tag="statistics",
    permission=Permission.READ,
    query=SeriesQuery,
    answer=SeriesView,
)
async def get_series(call: Call) -> Reply:
    """Get statistics over time: the last hour by minute, day by hour, or month by day.

    A run counts in the bucket in which it ended.
    """
    span = SeriesSpan[call.query.span.upper()]
    found = await statistics.read_series(call.conn, tenant_id=call.tenant_id, span=span)
    return Reply(
        SeriesView(
            width_s=found.width.total_seconds(),
            is_estimate=found.is_estimate,
            buckets=[build_bucket_view(bucket) for bucket in found.buckets],
        )
    )


def build_bucket_view(bucket: StatisticsBucket) -> BucketView:
    return BucketView(
        start=format_time(bucket.start),
        runs={state.value: number for state, number in bucket.ended.items()},
        mean_wait_s=to_seconds(bucket.mean_lag),
        wait_p50_s=to_seconds(bucket.lag_p50),
        wait_p99_s=to_seconds(bucket.lag_p99),
        longest_wait_s=to_seconds(bucket.longest_lag),
        mean_duration_s=to_seconds(bucket.mean_duration),
    )
