"""Figures of the caller's tenant: now, and over time. Room: api/resources."""

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
from rota.flow.observe import statistics
from rota.flow.observe.statistics import Bucket, Span

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
    """How it goes: runs by outcome, lag and durations, what waits now, what is late.

    `runs`, `wait_*` and `duration_*` are of the runs that ended since `since`. `wait_*` is the lag:
    how long a run that could start waited for its start. Backfills, replays, retries and runs
    started by hand have none.
    """
    since = instant(call.query.since, "since") or call.now - USUAL
    found = await statistics.overview(call.conn, tenant_id=call.tenant_id, since=since)
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
                    queue=each.queue,
                    waiting=each.ready,
                    oldest_wait_s=None
                    if each.oldest_at is None
                    else seconds(found.now - each.oldest_at),
                )
                for each in found.queues
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
    """The same over the last hour by minutes, the last day by hours, or the last month by days.

    A run counts in the bucket in which it ended, whenever it was due.
    """
    span = Span[call.query.span.upper()]
    found = await statistics.series(call.conn, tenant_id=call.tenant_id, span=span)
    return Reply(
        SeriesView(
            width_s=found.width.total_seconds(),
            is_estimate=found.is_estimate,
            buckets=[bucket_view(each) for each in found.buckets],
        )
    )


def bucket_view(bucket: Bucket) -> BucketView:
    return BucketView(
        start=moment(bucket.start),
        runs={state.value: number for state, number in bucket.ended.items()},
        mean_wait_s=seconds(bucket.mean_lag),
        wait_p50_s=seconds(bucket.lag_p50),
        wait_p99_s=seconds(bucket.lag_p99),
        longest_wait_s=seconds(bucket.longest_lag),
        mean_duration_s=seconds(bucket.mean_duration),
    )
