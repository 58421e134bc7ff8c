"""Computes statistics of a tenant's runs: an overview, and series for charts (I2, O5).

A run is counted at the time it ended. Runs are stored by the time in their ids, and nearly all end
within an hour of it: so a window is a range of ids that begins an hour earlier, and runs that ended
later are found by a separate index. A window with more than `EXACT_WINDOW_RUNS_MAX` runs is
sampled: of a month, one second in 601 is counted and multiplied. The stride has no factor in common
with a minute or an hour, so the sampled seconds move through both, and the many jobs that fire at
second 0 are not overweighted. Sampled results are marked as estimates.

Lag is how long a run that could start waited for its start; docs/reference/metrics.md defines it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from rota.core.duration_bins import compute_quantile
from rota.core.errors import InvalidInput
from rota.core.ids import EPOCH
from rota.core.states import DEAD_LETTER_STATES, RunState
from rota.store import metrics_queries
from rota.store.driver import Connection
from rota.store.metrics_queries import EndedBucket, LagAndDuration, QueueDepth, TimeSlice
from rota.store.pool import read_database_time

# Runs that one window reads without sampling: about 40 ms.
EXACT_WINDOW_RUNS_MAX: Final = 32_000
STATISTICS_WINDOW_MAX: Final = timedelta(days=31)
SECOND: Final = timedelta(seconds=1)
# A tick that fires later than this is late; schedulers normally take a fraction of it.
LATE_TICK_AFTER: Final = timedelta(seconds=1)
# Runs per second are measured over this time.
PACE_WINDOW: Final = timedelta(seconds=10)
PACE_SAMPLE_MAX: Final = 20_000


class SeriesSpan(Enum):
    """The time range of a series: the width of its buckets, and their number."""

    HOUR = (timedelta(minutes=1), 60)
    DAY = (timedelta(hours=1), 24)
    MONTH = (timedelta(days=1), 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsBucket:
    """The runs that ended between `start` and the next bucket's start.

    Percentiles of their lags are accurate to a twentieth (core/duration_bins.py). None if there is
    nothing to measure.
    """

    start: datetime
    ended: Mapping[RunState, int] = field(default_factory=dict)
    mean_lag: timedelta | None = None
    longest_lag: timedelta | None = None
    lag_p50: timedelta | None = None
    lag_p99: timedelta | None = None
    mean_duration: timedelta | None = None

    @property
    def number(self) -> int:
        return sum(self.ended.values())

    @property
    def failure_rate(self) -> float | None:
        return compute_failure_rate(self.ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsSeries:
    width: timedelta
    buckets: tuple[StatisticsBucket, ...]
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A tenant at one moment. `ended` and `times` cover runs that ended since `since`."""

    now: datetime
    since: datetime
    ended: Mapping[RunState, int]
    is_estimate: bool
    times: LagAndDuration
    runs_per_second: float
    queues: tuple[QueueDepth, ...]
    late_ticks: int
    latest_by: timedelta

    @property
    def failure_rate(self) -> float | None:
        return compute_failure_rate(self.ended)

    @property
    def waiting(self) -> int:
        return sum(queue.ready for queue in self.queues)

    @property
    def oldest_wait(self) -> timedelta | None:
        since = [queue.oldest_at for queue in self.queues if queue.oldest_at is not None]
        return self.now - min(since) if since else None


async def read_overview(conn: Connection, *, tenant_id: int, since: datetime) -> Overview:
    """Return the overview of a tenant. `since` is at most a month ago."""
    now = await read_database_time(conn)
    if not now - STATISTICS_WINDOW_MAX <= since <= now:
        raise InvalidInput(
            "since", since, f"must be within the last {STATISTICS_WINDOW_MAX.days} days"
        )
    series = await _count_series(conn, tenant_id, [since], until=now)
    late = await metrics_queries.count_late_ticks(
        conn, tenant_id=tenant_id, before=now - LATE_TICK_AFTER
    )
    return Overview(
        now=now,
        since=since,
        ended=series.buckets[0].ended,
        is_estimate=series.is_estimate,
        times=await metrics_queries.measure_times(conn, tenant_id=tenant_id, since=since),
        runs_per_second=await _runs_per_second(conn, tenant_id, now),
        queues=tuple(await metrics_queries.read_depths(conn, tenant_id=tenant_id)),
        late_ticks=late.number,
        latest_by=timedelta(0) if late.oldest_at is None else now - late.oldest_at,
    )


async def read_series(conn: Connection, *, tenant_id: int, span: SeriesSpan) -> StatisticsSeries:
    """Return the last hour by minute, day by hour or month by day. The last bucket is open."""
    now = await read_database_time(conn)
    width, number = span.value
    last = now - (now - EPOCH) % width
    starts = [last - width * back for back in range(number - 1, -1, -1)]
    return await _count_series(conn, tenant_id, starts, until=now)


def compute_failure_rate(ended: Mapping[RunState, int]) -> float | None:
    """Return the share of dead letters among the runs that succeeded or failed."""
    failed = sum(ended.get(state, 0) for state in DEAD_LETTER_STATES)
    tried = failed + ended.get(RunState.SUCCEEDED, 0)
    return failed / tried if tried else None


def choose_stride(length: timedelta) -> int:
    """Return the sampling stride in seconds; a prime, so that samples move through the minute."""
    if length <= timedelta(hours=2):
        return 7
    return 61 if length <= timedelta(days=2) else 601


def build_slices(
    start: datetime, end: datetime, *, stride: int | None, width: timedelta = SECOND
) -> list[TimeSlice]:
    """Return the time ranges to read: the whole range, or `width` of every `stride` seconds."""
    if stride is None:
        return [TimeSlice(start, end)]
    number = -((start - end) // (SECOND * stride))
    seconds = (start + SECOND * stride * place for place in range(number))
    return [TimeSlice(second, min(second + width, end)) for second in seconds]


async def _count_series(
    conn: Connection, tenant_id: int, starts: list[datetime], *, until: datetime
) -> StatisticsSeries:
    # Includes a run that ends in this very microsecond.
    start, end = starts[0], until + timedelta(microseconds=1)
    some = await metrics_queries.count_rows_to_read(
        conn, tenant_id=tenant_id, start=start, end=end, limit=EXACT_WINDOW_RUNS_MAX + 1
    )
    stride = choose_stride(end - start) if some > EXACT_WINDOW_RUNS_MAX else None
    first = start - metrics_queries.LATE_AFTER - metrics_queries.CLOCK_MARGIN
    rows = await metrics_queries.count_slices(
        conn,
        tenant_id=tenant_id,
        starts=starts,
        until=end,
        due=build_slices(first, end + metrics_queries.CLOCK_MARGIN, stride=stride),
        late=build_slices(start, end, stride=stride),
    )
    buckets = [
        _build_bucket(begins, [row for row in rows if row.bucket == n], times=stride or 1)
        for n, begins in enumerate(starts)
    ]
    width = (starts[1] if len(starts) > 1 else until) - starts[0]
    return StatisticsSeries(width=width, buckets=tuple(buckets), is_estimate=stride is not None)


def _build_bucket(start: datetime, rows: list[EndedBucket], *, times: int) -> StatisticsBucket:
    lags, durations = sum(row.lags for row in rows), sum(row.durations for row in rows)
    lagged = sum((row.lagged for row in rows), timedelta(0))
    lasted = sum((row.lasted for row in rows), timedelta(0))
    longest = max((row.longest_lag for row in rows), default=timedelta(0))
    p50, p99 = _percentiles(rows, longest)
    return StatisticsBucket(
        start=start,
        ended={row.state: row.number * times for row in rows},
        mean_lag=lagged / lags if lags else None,
        longest_lag=longest if lags else None,
        lag_p50=p50,
        lag_p99=p99,
        mean_duration=lasted / durations if durations else None,
    )


def _percentiles(
    rows: list[EndedBucket], longest: timedelta
) -> tuple[timedelta | None, timedelta | None]:
    """Return the p50 and p99 lag, capped by the longest lag: a bin's middle may exceed it."""
    counts: Counter[int] = Counter()
    for row in rows:
        # A bin occurs once per slice.
        for bin_, number in zip(row.bins or (), row.bin_lags or (), strict=True):
            counts[bin_] += number
    p50, p99 = compute_quantile(counts, 0.5), compute_quantile(counts, 0.99)
    if p50 is None or p99 is None:
        return None, None
    return min(p50, longest), min(p99, longest)


async def _runs_per_second(conn: Connection, tenant_id: int, now: datetime) -> float:
    pace = await metrics_queries.measure_pace(
        conn,
        tenant_id=tenant_id,
        since=now - PACE_WINDOW,
        limit=PACE_SAMPLE_MAX,
    )
    over = PACE_WINDOW
    if pace.looked_at == pace.ended == PACE_SAMPLE_MAX and pace.first_at is not None:
        # The sample does not reach back that far, so it covers a shorter time.
        over = max(now - pace.first_at, timedelta(milliseconds=1))
    return pace.ended / over.total_seconds()
