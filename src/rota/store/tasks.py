"""Reads the tasks of a tenant: the kinds that it may see, and the outcomes of its runs.

Reads only. Every statement bounds the rows that it reads. No index begins with the kind, because it
would slow down the end of every run; so runs of other kinds are read and filtered out.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from rota.core import duration_bins
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.metrics_queries import TimeSlice, first_id_of_endings, smallest_id_at
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement

# Waiting and scheduled runs that a count reads: about 60 ms.
LIVE_COUNT_MAX: Final = 200_000
# Ended runs that the list of tasks reads: about 40 ms.
ENDED_COUNT_MAX: Final = 32_000
# Jobs that the list of tasks reads.
JOBS_COUNT_MAX: Final = 10_000


class TaskRow(NamedTuple):
    """A kind and its worker's description of it; JSON as text."""

    id: int
    name: str
    description: str | None
    payload_schema: str | None
    default_policy: str | None
    exactly_once: bool | None


class LiveCount(NamedTuple):
    kind_id: int
    waiting: int
    running: int
    scheduled: int


class EndedCount(NamedTuple):
    """Runs of one kind that ended since a time. `near_runs` and `first_at` cover all kinds."""

    kind_id: int
    ended: int
    failed: int
    succeeded: int
    last_finished_at: datetime
    near_runs: int
    first_at: datetime | None


class KindJobCount(NamedTuple):
    kind_id: int
    number: int


class TaskEnding(NamedTuple):
    """Runs of one bucket that ended in one state, with bins of core/duration_bins.py and their
    counts.
    """

    bucket: int
    state: RunState
    number: int
    wait_bins: list[int] | None
    wait_counts: list[int] | None
    duration_bins: list[int] | None
    duration_counts: list[int] | None


class SampledCount(NamedTuple):
    number: int


READ = statement("tasks/read", TaskRow)
COUNT_LIVE = statement("tasks/count_live", LiveCount)
COUNT_ENDED = statement("tasks/count_ended", EndedCount)
COUNT_JOBS = statement("tasks/count_jobs", KindJobCount)
COUNT_SLICES = statement("tasks/count_slices", TaskEnding)
COUNT_SAMPLED = statement("tasks/count_sampled", SampledCount)


async def read_tasks(
    conn: Connection, *, tenant_id: int, ids: Collection[int], names: Collection[str]
) -> list[TaskRow]:
    """Return kinds by id, by name, and those that the tenant's submissions use."""
    return await READ.all(conn, tenant_id=tenant_id, ids=sorted(ids), names=sorted(names))


async def count_live(conn: Connection, *, tenant_id: int) -> list[LiveCount]:
    """Count waiting, running and scheduled runs, up to `LIVE_COUNT_MAX` of each."""
    async with ordered_scan(conn):
        return await COUNT_LIVE.all(conn, tenant_id=tenant_id, most=LIVE_COUNT_MAX)


async def count_ended(conn: Connection, *, tenant_id: int, since: datetime) -> list[EndedCount]:
    """Count the runs that ended since a time, among the newest `ENDED_COUNT_MAX`."""
    async with ordered_scan(conn):
        return await COUNT_ENDED.all(
            conn,
            tenant_id=tenant_id,
            since=since,
            from_id=first_id_of_endings(since),
            most=ENDED_COUNT_MAX,
        )


async def count_jobs(conn: Connection, *, tenant_id: int) -> list[KindJobCount]:
    return await COUNT_JOBS.all(conn, tenant_id=tenant_id, most=JOBS_COUNT_MAX)


async def count_sampled(conn: Connection, *, tenant_id: int, due: Sequence[TimeSlice]) -> int:
    """Return how many runs of all kinds have a time in these periods in their ids."""
    row = await COUNT_SAMPLED.one(
        conn,
        tenant_id=tenant_id,
        lows=[smallest_id_at(period.low) for period in due],
        highs=[smallest_id_at(period.high) for period in due],
    )
    return 0 if row is None else row.number


async def count_slices(
    conn: Connection,
    *,
    tenant_id: int,
    kind_id: int,
    starts: Sequence[datetime],
    until: datetime,
    slices: tuple[Sequence[TimeSlice], Sequence[TimeSlice]],
) -> list[TaskEnding]:
    """Count the runs of one kind that ended in buckets that begin at `starts`.

    `slices` are times in ids, and times of endings more than an hour after those.
    """
    due, late = slices
    return await COUNT_SLICES.all(
        conn,
        tenant_id=tenant_id,
        kind_id=kind_id,
        starts=list(starts),
        until=until,
        lows=[smallest_id_at(period.low) for period in due],
        highs=[smallest_id_at(period.high) for period in due],
        late_lows=[period.low for period in late],
        late_highs=[period.high for period in late],
        shortest=duration_bins.BIN_DURATION_MIN.total_seconds(),
        bins_per_e=duration_bins.BINS_PER_E,
    )
