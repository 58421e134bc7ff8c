"""Reads the history that a rehearsal of expectations replays."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import build_id
from rota.store.driver import Connection
from rota.store.metrics_queries import first_id_of_endings
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement

# Runs that one statement reads.
PAGE_RUNS_MAX: Final = 5_000
EXPECTING_JOBS_MAX: Final = 10_000


class PastRunRow(NamedTuple):
    """An ended run. `labels` and `reason` are JSON texts."""

    id: UUID
    job_id: UUID
    job_name: str | None
    labels: str | None
    task: str | None
    queue: str | None
    state: str
    trigger: str
    graph_run_id: UUID | None
    step: int | None
    scheduled_at: datetime
    due_at: datetime
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime
    reason: str | None
    fingerprint: str | None
    timezone: str | None
    job_created_at: datetime | None


class ExpectingJob(NamedTuple):
    """A job with expectations of its own. `expect` and `alert` are JSON texts."""

    id: UUID
    tenant_id: int
    name: str
    expect: str
    alert: str | None
    timezone: str | None
    created_at: datetime


PAST_RUNS = statement("expectations/past_runs", PastRunRow)
EXPECTING_JOBS = statement("expectations/expecting_jobs", ExpectingJob)


async def read_past_runs(
    conn: Connection, *, tenant_id: int, since: datetime, now: datetime, limit: int
) -> tuple[list[PastRunRow], bool]:
    """Return the newest runs that ended since a time, in the order of their ends, and whether these
    are all of them.
    """
    from_id = first_id_of_endings(since)
    before_id = build_id(now + timedelta(days=1), bytes(10))
    found: list[PastRunRow] = []
    async with ordered_scan(conn):
        while len(found) < limit:
            size = min(PAGE_RUNS_MAX, limit - len(found))
            page = await PAST_RUNS.all(
                conn, tenant_id=tenant_id, from_id=from_id, before_id=before_id, most=size
            )
            found += page
            if len(page) < size:
                break
            before_id = page[-1].id
    is_complete = len(found) < limit
    ended = [row for row in found if row.finished_at >= since]
    return sorted(ended, key=lambda row: row.finished_at), is_complete


async def read_expecting_jobs(conn: Connection, *, tenant_id: int) -> list[ExpectingJob]:
    """Return the jobs of a tenant that have expectations of their own."""
    return await EXPECTING_JOBS.all(conn, tenant_id=tenant_id, most=EXPECTING_JOBS_MAX)
