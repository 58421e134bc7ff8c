"""Reads a summary of jobs and recent runs. Never on the hot path."""

from datetime import datetime
from typing import Final, NamedTuple

from rota.core.states import JobState, RunState
from rota.store.driver import Connection
from rota.store.metrics_queries import first_id_of_endings
from rota.store.statement import statement

# How many jobs one count reads: some 50 ms.
COUNTED_JOBS_MAX: Final = 10_000


class EndedRunSummary(NamedTuple):
    """A run that ended; `name` is None if its job was removed."""

    name: str | None
    state: RunState
    attempt: int
    started_at: datetime | None
    finished_at: datetime
    reason: str | None


class JobCount(NamedTuple):
    """How many jobs are in a state, and when the next of them fires."""

    state: JobState
    number: int
    next_at: datetime | None


COUNT_JOBS = statement("overview/count_jobs", JobCount)
LATEST = statement("overview/latest", EndedRunSummary)


async def count_jobs(
    conn: Connection, *, tenant_id: int, limit: int = COUNTED_JOBS_MAX
) -> list[JobCount]:
    """Count the tenant's jobs by state; if there are more than `most`, only the newest."""
    return await COUNT_JOBS.all(conn, tenant_id=tenant_id, most=limit)


async def read_latest(
    conn: Connection, *, since: datetime, limit: int = 100
) -> list[EndedRunSummary]:
    """Return the runs that ended after a time, oldest first."""
    return await LATEST.all(conn, from_id=first_id_of_endings(since), since=since, most=limit)
