"""Reads metrics of the cluster and of a tenant, for charts and for Prometheus (O5).

Reads only. No cost may grow with history or with the number of jobs: every statement bounds what it
reads, and its file says what lies beyond. Statements for a tenant carry its id; the operator's
metrics cover the whole cluster.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core import duration_bins
from rota.core.ids import build_id
from rota.core.states import JobState, RunState
from rota.store.driver import Connection
from rota.store.statement import statement

# Counting the waiting runs of one queue stops here: some 50 ms.
WAITING_COUNT_MAX: Final = 100_000
QUEUES_MAX: Final = 200
# Overdue ticks of one shard that are examined.
LATE_TICKS_PER_SHARD_MAX: Final = 1000
# The sample of runs from which times are measured.
SAMPLED_RUNS_MAX: Final = 10_000
# How far ahead the demand of a queue looks for ticks: longer than a worker takes to start.
DEMAND_HORIZON: Final = timedelta(seconds=60)
# Upcoming ticks of one shard that are counted: 20 a second.
UPCOMING_PER_SHARD_MAX: Final = 1_200
# Up to this many jobs are counted; beyond, the planner's statistics are good enough.
COUNTED_JOBS_MAX: Final = 100_000


# A run that ends later than this after the time in its id is found by another index. The statements
# and the index use the same value.
LATE_AFTER: Final = timedelta(hours=1)
# An id is generated before its row is written, and a tick is fired a moment ahead of its time.
CLOCK_MARGIN: Final = timedelta(minutes=1)


class RowCount(NamedTuple):
    number: int


class TimeSlice(NamedTuple):
    """A period to count: from `low` (inclusive) to `high` (exclusive)."""

    low: datetime
    high: datetime


class EndedBucket(NamedTuple):
    """Runs of one bucket that ended in one state; sums of lags and durations and their counts.
    `bins` are those of core/duration_bins.py that contain a lag, `bin_lags` how many each contains.
    """

    bucket: int
    state: RunState
    number: int
    lags: int
    lagged: timedelta
    longest_lag: timedelta
    durations: int
    lasted: timedelta
    bins: list[int] | None
    bin_lags: list[int] | None


class LagAndDuration(NamedTuple):
    sampled: int
    lag_p50: timedelta | None
    lag_p99: timedelta | None
    duration_p50: timedelta | None
    duration_p99: timedelta | None


class EndingPace(NamedTuple):
    looked_at: int
    ended: int
    first_at: datetime | None


class QueueDepth(NamedTuple):
    """Ready runs that wait in a queue, counted up to `WAITING_COUNT_MAX`."""

    queue: str
    is_paused: bool
    ready: int
    oldest_at: datetime | None


class LateTicks(NamedTuple):
    number: int
    oldest_at: datetime | None


class QueueBacklog(NamedTuple):
    queue: str
    waiting: int
    oldest_wait: timedelta | None


class ClusterMetrics(NamedTuple):
    running: int
    workers: int
    draining: int
    schedulers: int
    slots: int
    busy: int
    shards_unowned: int
    fire_lag: timedelta
    now: datetime


class ShardOwner(NamedTuple):
    scheduler: str
    shards: int


class JobEstimate(NamedTuple):
    number: int
    states: list[str] | None
    parts: list[float] | None


class JobStateCount(NamedTuple):
    state: JobState
    number: int


class DeadLettersByState(NamedTuple):
    state: RunState
    number: int


class RecentRuns(NamedTuple):
    """Runs that ended in one state."""

    state: str
    number: int


class ConnectionCount(NamedTuple):
    state: str
    number: int
    most: int


COUNT_SOME = statement("metrics_queries/count_rows_to_read", RowCount)
COUNT_SLICES = statement("metrics_queries/count_slices", EndedBucket)
MEASURE_TIMES = statement("metrics_queries/measure_times", LagAndDuration)
MEASURE_PACE = statement("metrics_queries/measure_pace", EndingPace)


class TableSize(NamedTuple):
    """A table with its indexes and partitions. The number of rows is the planner's estimate."""

    relation: str
    bytes: int
    estimated_rows: int
    dead_rows: int


class QueueWorkers(NamedTuple):
    """How many live workers serve a queue."""

    queue: str
    workers: int


class QueueDemand(NamedTuple):
    """How many slots a queue could use: ready, running and upcoming runs."""

    queue: str
    ready: int
    running: int
    upcoming: int

    @property
    def total(self) -> int:
        return self.ready + self.running + self.upcoming


class OpenIncidentCount(NamedTuple):
    severity: str
    number: int


class RelayLag(NamedTuple):
    name: str
    lag: timedelta


READ_DEPTHS = statement("metrics_queries/read_depths", QueueDepth)
COUNT_LATE = statement("metrics_queries/count_late", LateTicks)
READ_QUEUES = statement("metrics_queries/read_queues", QueueBacklog)
READ_CLUSTER = statement("metrics_queries/read_cluster", ClusterMetrics)
READ_SHARDS = statement("metrics_queries/read_shards", ShardOwner)
ESTIMATE_JOBS = statement("metrics_queries/estimate_jobs", JobEstimate)
COUNT_JOBS = statement("metrics_queries/count_jobs", JobStateCount)
COUNT_BAD = statement("metrics_queries/count_dead_letters", DeadLettersByState)
COUNT_ENDED = statement("metrics_queries/count_ended", RecentRuns)
COUNT_RUNNING = statement("metrics_queries/count_running", RowCount)
COUNT_TENANT_JOBS = statement("metrics_queries/count_tenant_jobs", JobStateCount)
COUNT_CONNECTIONS = statement("metrics_queries/count_connections", ConnectionCount)
TABLE_SIZES = statement("metrics_queries/table_sizes", TableSize)
READ_QUEUE_WORKERS = statement("metrics_queries/read_queue_workers", QueueWorkers)
READ_DEMANDS = statement("metrics_queries/read_demands", QueueDemand)
READ_QUEUE_DEMAND = statement("metrics_queries/read_queue_demand", QueueDemand)
COUNT_INCIDENTS = statement("metrics_queries/count_incidents", OpenIncidentCount)
READ_RELAYS = statement("metrics_queries/read_relays", RelayLag)


def smallest_id_at(moment: datetime) -> UUID:
    """Return the smallest id of a moment: runs that were due before it have smaller ids."""
    return build_id(moment, bytes(10))


def first_id_of_endings(moment: datetime) -> UUID:
    """Return the smallest id of a run that ended at a moment or later, unless it ended late.

    Late means more than an hour after the time in its id: `finished_at` minus the earlier of
    `scheduled_at` and `created_at`. The index `runs_ended_late` contains late runs.
    """
    return smallest_id_at(moment - LATE_AFTER - CLOCK_MARGIN)


async def count_rows_to_read(
    conn: Connection, *, tenant_id: int, start: datetime, end: datetime, limit: int
) -> int:
    """Return how many runs of a tenant must be read to count those that ended in a period."""
    row = await COUNT_SOME.one(
        conn,
        tenant_id=tenant_id,
        from_id=first_id_of_endings(start),
        to_id=smallest_id_at(end + CLOCK_MARGIN),
        since=start,
        until=end,
        most=limit,
    )
    return 0 if row is None else row.number


async def count_slices(
    conn: Connection,
    *,
    tenant_id: int,
    starts: Sequence[datetime],
    until: datetime,
    due: Sequence[TimeSlice],
    late: Sequence[TimeSlice],
) -> list[EndedBucket]:
    """Count runs that ended, in buckets that begin at `starts`; the last one ends at `until`.

    Reads runs with a time in `due` in their ids, and runs that ended in `late`, more than an hour
    after that time.
    """
    return await COUNT_SLICES.all(
        conn,
        tenant_id=tenant_id,
        starts=list(starts),
        until=until,
        lows=[smallest_id_at(period.low) for period in due],
        highs=[smallest_id_at(period.high) for period in due],
        late_lows=[period.low for period in late],
        late_highs=[period.high for period in late],
        shortest=duration_bins.BIN_DURATION_MIN.total_seconds(),
        bins_per_e=duration_bins.BINS_PER_E,
    )


async def measure_times(conn: Connection, *, tenant_id: int, since: datetime) -> LagAndDuration:
    """Measure lags and durations of the newest runs that ended since a time."""
    row = await MEASURE_TIMES.one(
        conn,
        tenant_id=tenant_id,
        from_id=first_id_of_endings(since),
        since=since,
        most=SAMPLED_RUNS_MAX,
    )
    return row or LagAndDuration(0, None, None, None, None)


async def measure_pace(
    conn: Connection, *, tenant_id: int, since: datetime, limit: int
) -> EndingPace:
    """Count how many of the newest `most` runs ended since a time."""
    row = await MEASURE_PACE.one(
        conn, tenant_id=tenant_id, from_id=first_id_of_endings(since), since=since, most=limit
    )
    return row or EndingPace(0, 0, None)


async def read_depths(conn: Connection, *, tenant_id: int) -> list[QueueDepth]:
    """Return the queues in which runs of a tenant wait, the fullest first."""
    return await READ_DEPTHS.all(
        conn, tenant_id=tenant_id, most=WAITING_COUNT_MAX, most_queues=QUEUES_MAX
    )


async def count_late_ticks(conn: Connection, *, tenant_id: int, before: datetime) -> LateTicks:
    row = await COUNT_LATE.one(
        conn, tenant_id=tenant_id, before=before, most=LATE_TICKS_PER_SHARD_MAX
    )
    return row or LateTicks(0, None)


async def read_queues(conn: Connection) -> list[QueueBacklog]:
    """Return all queues, the fullest first."""
    return await READ_QUEUES.all(conn, most=WAITING_COUNT_MAX)


async def read_queue_workers(conn: Connection, *, limit: int) -> list[QueueWorkers]:
    """Return the live workers of each queue, the most used queues first."""
    return await READ_QUEUE_WORKERS.all(conn, most=limit)


async def read_demands(conn: Connection) -> list[QueueDemand]:
    """Return the demand of all queues, the largest first."""
    return await READ_DEMANDS.all(
        conn,
        horizon=DEMAND_HORIZON,
        most=WAITING_COUNT_MAX,
        most_per_shard=UPCOMING_PER_SHARD_MAX,
    )


async def read_queue_demand(
    conn: Connection, *, queue_id: int, tenant_id: int | None
) -> QueueDemand | None:
    """Return the demand of one queue, of all tenants or of one."""
    return await READ_QUEUE_DEMAND.one(
        conn,
        queue_id=queue_id,
        tenant_id=tenant_id,
        horizon=DEMAND_HORIZON,
        most=WAITING_COUNT_MAX,
    )


async def count_open_incidents(conn: Connection) -> list[OpenIncidentCount]:
    return await COUNT_INCIDENTS.all(conn)


async def read_relay_lags(conn: Connection) -> list[RelayLag]:
    return await READ_RELAYS.all(conn)


async def read_cluster(conn: Connection) -> ClusterMetrics | None:
    return await READ_CLUSTER.one(conn)


async def read_shard_owners(conn: Connection) -> list[ShardOwner]:
    return await READ_SHARDS.all(conn)


async def count_jobs(conn: Connection) -> dict[JobState, int]:
    """Count the jobs per state, without deleted ones: exactly if there are few, else estimated."""
    guess = await ESTIMATE_JOBS.one(conn)
    if guess is not None and guess.number > COUNTED_JOBS_MAX and guess.states and guess.parts:
        known = zip(map(JobState, guess.states), guess.parts, strict=True)
        numbers = {state: round(guess.number * part) for state, part in known}
    else:
        rows = await COUNT_JOBS.all(conn, most=COUNTED_JOBS_MAX)
        numbers = {row.state: row.number for row in rows}
    return {state: numbers.get(state, 0) for state in JobState if state is not JobState.DELETED}


async def count_running(conn: Connection, *, tenant_id: int) -> int:
    """Return how many runs of a tenant workers hold now."""
    row = await COUNT_RUNNING.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def count_tenant_jobs(conn: Connection, *, tenant_id: int) -> dict[JobState, int]:
    """Return how many jobs of a tenant are in each state, of at most `COUNTED_JOBS_MAX`."""
    rows = await COUNT_TENANT_JOBS.all(conn, tenant_id=tenant_id, most=COUNTED_JOBS_MAX)
    return {row.state: row.number for row in rows}


async def count_dead_letters(conn: Connection, *, since: datetime) -> list[DeadLettersByState]:
    """Count dead letters that were due since a time."""
    return await COUNT_BAD.all(conn, from_id=smallest_id_at(since), most=WAITING_COUNT_MAX)


async def read_recent(conn: Connection, *, since: datetime) -> list[RecentRuns]:
    """Count the newest runs that ended since a time, by state."""
    return await COUNT_ENDED.all(
        conn, from_id=first_id_of_endings(since), since=since, most=SAMPLED_RUNS_MAX
    )


async def count_connections(conn: Connection) -> list[ConnectionCount]:
    return await COUNT_CONNECTIONS.all(conn)


async def read_table_sizes(conn: Connection) -> list[TableSize]:
    """Return the sizes of all tables, the largest first."""
    return await TABLE_SIZES.all(conn)
