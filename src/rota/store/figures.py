"""Figures of the cluster and of a tenant, for charts and for Prometheus (O5). Room: store.

Reads only. Nothing here may grow with history or with the number of jobs: every statement has a
bound on what it looks at, and says in its file what lies beyond. What serves a tenant carries its
id; what the operator's metrics ask is of the whole cluster. What figures mean is flow/observe's.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core import bins
from rota.core.ids import stamped
from rota.core.states import JobState, RunState
from rota.store.driver import Connection
from rota.store.statement import statement

# Counting what waits in one queue ends here: some 50 ms.
MOST_WAITING: Final = 100_000
MOST_QUEUES: Final = 200
# Overdue ticks of one shard that are looked at.
MOST_LATE: Final = 1000
# The sample of runs from which times are measured.
MOST_SAMPLED: Final = 10_000
# Up to so many jobs they are counted; beyond, the planner's statistics are good enough.
MOST_JOBS: Final = 100_000


class Counted(NamedTuple):
    number: int


class Slice(NamedTuple):
    """A part of a bucket of time, from an id to another."""

    bucket: int
    low: UUID
    high: UUID


class Ended(NamedTuple):
    """Runs of one bucket that ended in one state; sums of waits and durations and their numbers.
    `bins` are those of core/bins.py that hold a wait, `bin_waits` how many each does.
    """

    bucket: int
    state: RunState
    number: int
    waits: int
    waited: timedelta
    longest_wait: timedelta
    durations: int
    lasted: timedelta
    bins: list[int] | None
    bin_waits: list[int] | None


class Times(NamedTuple):
    sampled: int
    wait_p50: timedelta | None
    wait_p99: timedelta | None
    duration_p50: timedelta | None
    duration_p99: timedelta | None


class Pace(NamedTuple):
    looked_at: int
    ended: int
    first_at: datetime | None


class Depth(NamedTuple):
    """What is ready and waits in a queue; more than `MOST_WAITING` may be more than it says."""

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
    """Runs that ended in one state; without a state, in any."""

    state: str | None
    number: int
    wait_p50: timedelta | None
    wait_p99: timedelta | None
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
READ_DEPTHS = statement("figures/read_depths", Depth)
COUNT_LATE = statement("figures/count_late", Late)
READ_QUEUES = statement("figures/read_queues", Queue)
READ_CLUSTER = statement("figures/read_cluster", Cluster)
READ_SHARDS = statement("figures/read_shards", Owner)
GUESS_JOBS = statement("figures/guess_jobs", Guess)
COUNT_JOBS = statement("figures/count_jobs", Jobs)
COUNT_BAD = statement("figures/count_bad", Bad)
COUNT_ENDED = statement("figures/count_ended", Recent)
COUNT_CONNECTIONS = statement("figures/count_connections", Connections)


def id_at(moment: datetime) -> UUID:
    """The smallest id of a moment: runs that were due before it have smaller ones."""
    return stamped(moment, bytes(10))


async def count_some(
    conn: Connection, *, tenant_id: int, start: datetime, end: datetime, most: int
) -> int:
    """How many runs of a tenant that were due in a time have ended, at most `most`."""
    row = await COUNT_SOME.one(
        conn, tenant_id=tenant_id, from_id=id_at(start), to_id=id_at(end), most=most
    )
    return 0 if row is None else row.number


async def count_slices(conn: Connection, *, tenant_id: int, slices: Sequence[Slice]) -> list[Ended]:
    return await COUNT_SLICES.all(
        conn,
        tenant_id=tenant_id,
        buckets=[each.bucket for each in slices],
        lows=[each.low for each in slices],
        highs=[each.high for each in slices],
        shortest=bins.SHORTEST.total_seconds(),
        bins_per_e=bins.PER_E,
    )


async def times(conn: Connection, *, tenant_id: int, since: datetime) -> Times:
    """Waits and durations of the newest runs that were due since a time."""
    row = await MEASURE_TIMES.one(
        conn, tenant_id=tenant_id, from_id=id_at(since), most=MOST_SAMPLED
    )
    return row or Times(0, None, None, None, None)


async def pace(
    conn: Connection, *, tenant_id: int, due_since: datetime, since: datetime, most: int
) -> Pace:
    """How many runs ended since a time, of the newest `most` that were due since another."""
    row = await MEASURE_PACE.one(
        conn, tenant_id=tenant_id, from_id=id_at(due_since), since=since, most=most
    )
    return row or Pace(0, 0, None)


async def depths(conn: Connection, *, tenant_id: int) -> list[Depth]:
    """The queues in which runs of a tenant wait, the fullest first."""
    return await READ_DEPTHS.all(
        conn, tenant_id=tenant_id, most=MOST_WAITING, most_queues=MOST_QUEUES
    )


async def late_ticks(conn: Connection, *, tenant_id: int, before: datetime) -> Late:
    row = await COUNT_LATE.one(conn, tenant_id=tenant_id, before=before, most=MOST_LATE)
    return row or Late(0, None)


async def queues(conn: Connection) -> list[Queue]:
    """All queues, the fullest first."""
    return await READ_QUEUES.all(conn, most=MOST_WAITING)


async def cluster(conn: Connection) -> Cluster | None:
    return await READ_CLUSTER.one(conn)


async def shard_owners(conn: Connection) -> list[Owner]:
    return await READ_SHARDS.all(conn)


async def jobs(conn: Connection) -> dict[JobState, int]:
    """How many jobs are in each state but deleted: exactly while they are few, else about."""
    guess = await GUESS_JOBS.one(conn)
    if guess is not None and guess.number > MOST_JOBS and guess.states and guess.parts:
        known = zip(map(JobState, guess.states), guess.parts, strict=True)
        numbers = {state: round(guess.number * part) for state, part in known}
    else:
        rows = await COUNT_JOBS.all(conn, most=MOST_JOBS)
        numbers = {row.state: row.number for row in rows}
    return {state: numbers.get(state, 0) for state in JobState if state is not JobState.DELETED}


async def bad(conn: Connection, *, since: datetime) -> list[Bad]:
    """Dead letters that were due since a time."""
    return await COUNT_BAD.all(conn, from_id=id_at(since), most=MOST_WAITING)


async def recent(conn: Connection, *, since: datetime) -> list[Recent]:
    """What became of the newest runs that were due since a time; the row of all has no state."""
    return await COUNT_ENDED.all(conn, from_id=id_at(since), most=MOST_SAMPLED)


async def connections(conn: Connection) -> list[Connections]:
    return await COUNT_CONNECTIONS.all(conn)
