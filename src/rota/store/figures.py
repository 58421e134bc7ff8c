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
MOST_WAITING: Final = 100_000
MOST_QUEUES: Final = 200
# Overdue ticks of one shard that are examined.
MOST_LATE: Final = 1000
# The sample of runs from which times are measured.
MOST_SAMPLED: Final = 10_000
# Up to this many jobs are counted; beyond, the planner's statistics are good enough.
MOST_JOBS: Final = 100_000


# A run that ends later than this after the time in its id is found by another index. The statements
# and the index use the same value.
LATE_AFTER: Final = timedelta(hours=1)
# An id is generated before its row is written, and a tick is fired a moment ahead of its time.
CLOCK_MARGIN: Final = timedelta(minutes=1)


class Counted(NamedTuple):
    number: int


class Slice(NamedTuple):
    """A period to count: from `low` (inclusive) to `high` (exclusive)."""

    low: datetime
    high: datetime


class Ended(NamedTuple):
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


class Times(NamedTuple):
    sampled: int
    lag_p50: timedelta | None
    lag_p99: timedelta | None
    duration_p50: timedelta | None
    duration_p99: timedelta | None


class Pace(NamedTuple):
    looked_at: int
    ended: int
    first_at: datetime | None


class Depth(NamedTuple):
    """Ready runs that wait in a queue, counted up to `OVERLAP_WAITING_MAX`."""

    queue: str
    is_paused: bool
    ready: int
    oldest_at: datetime | None


class Late(NamedTuple):
    number: int
    oldest_at: datetime | None


class Queue(NamedTuple):
    queue: str
    waiting: int
    oldest_wait: timedelta | None


class Cluster(NamedTuple):
    running: int
    workers: int
    draining: int
    schedulers: int
    slots: int
    busy: int
    shards_unowned: int
    fire_lag: timedelta
    now: datetime


class Owner(NamedTuple):
    scheduler: str
    shards: int


class Guess(NamedTuple):
    number: int
    states: list[str] | None
    parts: list[float] | None


class Jobs(NamedTuple):
    state: JobState
    number: int


class Bad(NamedTuple):
    state: RunState
    number: int


class Recent(NamedTuple):
    """Runs that ended in one state; `state` is None for the row of all states."""

    state: str | None
    number: int
    lag_p50: timedelta | None
    lag_p99: timedelta | None
    duration_p50: timedelta | None
    duration_p99: timedelta | None


class Connections(NamedTuple):
    state: str
    number: int
    most: int


COUNT_SOME = statement("figures/count_some", Counted)
COUNT_SLICES = statement("figures/count_slices", Ended)
MEASURE_TIMES = statement("figures/measure_times", Times)
MEASURE_PACE = statement("figures/measure_pace", Pace)


class TableSize(NamedTuple):
    """A table with its indexes and partitions. The number of rows is the planner's estimate."""

    relation: str
    bytes: int
    estimated_rows: int


READ_DEPTHS = statement("figures/read_depths", Depth)
COUNT_LATE = statement("figures/count_late", Late)
READ_QUEUES = statement("figures/read_queues", Queue)
READ_CLUSTER = statement("figures/read_cluster", Cluster)
READ_SHARDS = statement("figures/read_shards", Owner)
GUESS_JOBS = statement("figures/guess_jobs", Guess)
COUNT_JOBS = statement("figures/count_jobs", Jobs)
COUNT_BAD = statement("figures/count_bad", Bad)
COUNT_ENDED = statement("figures/count_ended", Recent)
COUNT_RUNNING = statement("figures/count_running", Counted)
COUNT_TENANT_JOBS = statement("figures/count_tenant_jobs", Jobs)
COUNT_CONNECTIONS = statement("figures/count_connections", Connections)
TABLE_SIZES = statement("figures/table_sizes", TableSize)


def id_at(moment: datetime) -> UUID:
    """Return the smallest id of a moment: runs that were due before it have smaller ids."""
    return build_id(moment, bytes(10))


def first_id_before(moment: datetime) -> UUID:
    """Return the smallest id of a run that ended at a moment or later, unless it ended late.

    Late means more than an hour after the time in its id: `finished_at` minus the earlier of
    `scheduled_at` and `created_at`. The index `runs_ended_late` contains late runs.
    """
    return id_at(moment - LATE_AFTER - CLOCK_MARGIN)


async def count_some(
    conn: Connection, *, tenant_id: int, start: datetime, end: datetime, most: int
) -> int:
    """Return how many runs of a tenant must be read to count those that ended in a period."""
    row = await COUNT_SOME.one(
        conn,
        tenant_id=tenant_id,
        from_id=first_id_before(start),
        to_id=id_at(end + CLOCK_MARGIN),
        since=start,
        until=end,
        most=most,
    )
    return 0 if row is None else row.number


async def count_slices(
    conn: Connection,
    *,
    tenant_id: int,
    starts: Sequence[datetime],
    until: datetime,
    due: Sequence[Slice],
    late: Sequence[Slice],
) -> list[Ended]:
    """Count runs that ended, in buckets that begin at `starts`; the last one ends at `until`.

    Reads runs with a time in `due` in their ids, and runs that ended in `late`, more than an hour
    after that time.
    """
    return await COUNT_SLICES.all(
        conn,
        tenant_id=tenant_id,
        starts=list(starts),
        until=until,
        lows=[id_at(period.low) for period in due],
        highs=[id_at(period.high) for period in due],
        late_lows=[period.low for period in late],
        late_highs=[period.high for period in late],
        shortest=duration_bins.BIN_DURATION_MIN.total_seconds(),
        bins_per_e=duration_bins.BINS_PER_E,
    )


async def times(conn: Connection, *, tenant_id: int, since: datetime) -> Times:
    """Measure lags and durations of the newest runs that ended since a time."""
    row = await MEASURE_TIMES.one(
        conn,
        tenant_id=tenant_id,
        from_id=first_id_before(since),
        since=since,
        most=MOST_SAMPLED,
    )
    return row or Times(0, None, None, None, None)


async def pace(conn: Connection, *, tenant_id: int, since: datetime, most: int) -> Pace:
    """Count how many of the newest `most` runs ended since a time."""
    row = await MEASURE_PACE.one(
        conn, tenant_id=tenant_id, from_id=first_id_before(since), since=since, most=most
    )
    return row or Pace(0, 0, None)


async def depths(conn: Connection, *, tenant_id: int) -> list[Depth]:
    """Return the queues in which runs of a tenant wait, the fullest first."""
    return await READ_DEPTHS.all(
        conn, tenant_id=tenant_id, most=MOST_WAITING, most_queues=MOST_QUEUES
    )


async def late_ticks(conn: Connection, *, tenant_id: int, before: datetime) -> Late:
    row = await COUNT_LATE.one(conn, tenant_id=tenant_id, before=before, most=MOST_LATE)
    return row or Late(0, None)


async def queues(conn: Connection) -> list[Queue]:
    """Return all queues, the fullest first."""
    return await READ_QUEUES.all(conn, most=MOST_WAITING)


async def cluster(conn: Connection) -> Cluster | None:
    return await READ_CLUSTER.one(conn)


async def shard_owners(conn: Connection) -> list[Owner]:
    return await READ_SHARDS.all(conn)


async def jobs(conn: Connection) -> dict[JobState, int]:
    """Count the jobs per state, without deleted ones: exactly if there are few, else estimated."""
    guess = await GUESS_JOBS.one(conn)
    if guess is not None and guess.number > MOST_JOBS and guess.states and guess.parts:
        known = zip(map(JobState, guess.states), guess.parts, strict=True)
        numbers = {state: round(guess.number * part) for state, part in known}
    else:
        rows = await COUNT_JOBS.all(conn, most=MOST_JOBS)
        numbers = {row.state: row.number for row in rows}
    return {state: numbers.get(state, 0) for state in JobState if state is not JobState.DELETED}


async def running(conn: Connection, *, tenant_id: int) -> int:
    """Return how many runs of a tenant workers hold now."""
    row = await COUNT_RUNNING.one(conn, tenant_id=tenant_id)
    return 0 if row is None else row.number


async def tenant_jobs(conn: Connection, *, tenant_id: int) -> dict[JobState, int]:
    """Return how many jobs of a tenant are in each state, of at most `MOST_JOBS`."""
    rows = await COUNT_TENANT_JOBS.all(conn, tenant_id=tenant_id, most=MOST_JOBS)
    return {row.state: row.number for row in rows}


async def bad(conn: Connection, *, since: datetime) -> list[Bad]:
    """Count dead letters that were due since a time."""
    return await COUNT_BAD.all(conn, from_id=id_at(since), most=MOST_WAITING)


async def recent(conn: Connection, *, since: datetime) -> list[Recent]:
    """Summarize the newest runs that ended since a time; the row of all states has no state."""
    return await COUNT_ENDED.all(
        conn, from_id=first_id_before(since), since=since, most=MOST_SAMPLED
    )


async def connections(conn: Connection) -> list[Connections]:
    return await COUNT_CONNECTIONS.all(conn)


async def table_sizes(conn: Connection) -> list[TableSize]:
    """Return the sizes of all tables, the largest first."""
    return await TABLE_SIZES.all(conn)
