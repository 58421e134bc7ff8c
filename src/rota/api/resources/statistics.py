"""Operations for statistics of the caller's tenant: current, and over time."""

from datetime import timedelta
from typing import Final

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.shared import instant
from rota.api.shapes.pieces import moment
from rota.api.shapes.statistics import (
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

USUAL: Final = timedelta(hours=1)


def seconds(time: timedelta | None) -> float | None:
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
    since = instant(call.query.since, "since") or call.now - USUAL
    found = await statistics.read_overview(call.conn, tenant_id=call.tenant_id, since=since)
    times = found.times
    return Reply(
        StatisticsView(
            since=moment(found.since),
            now=moment(found.now),
            runs={state.value: number for state, number in found.ended.items()},
            is_estimate=found.is_estimate,
            failure_rate=found.failure_rate,
            runs_per_second=found.runs_per_second,
            wait_p50_s=seconds(times.lag_p50),
            wait_p99_s=seconds(times.lag_p99),
            duration_p50_s=seconds(times.duration_p50),
            duration_p99_s=seconds(times.duration_p99),
            queues=[
                DepthView(
                    queue=depth.queue,
                    waiting=depth.ready,
                    oldest_wait_s=None
                    if depth.oldest_at is None
                    else seconds(found.now - depth.oldest_at),
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
            buckets=[bucket_view(bucket) for bucket in found.buckets],
        )
    )


def bucket_view(bucket: StatisticsBucket) -> BucketView:
    return BucketView(
        start=moment(bucket.start),
        runs={state.value: number for state, number in bucket.ended.items()},
        mean_wait_s=seconds(bucket.mean_lag),
        wait_p50_s=seconds(bucket.lag_p50),
        wait_p99_s=seconds(bucket.lag_p99),
        longest_wait_s=seconds(bucket.longest_lag),
        mean_duration_s=seconds(bucket.mean_duration),
    )
