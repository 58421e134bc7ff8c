"""Reads the most recent outcomes of several jobs, for lists of jobs.

Reads only, all jobs in one statement. run_views.py shows a single run.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import EPOCH, build_id
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.ordered_scan import ordered_scan
from rota.store.run_views import FIRST_ID, RECENT_PERIOD
from rota.store.server_check import read_database_time
from rota.store.statement import statement


class RunOutcome(NamedTuple):
    """A running or finished run; `reason` is JSON as text."""

    job_id: UUID
    id: UUID
    state: RunState
    scheduled_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    reason: str | None


OUTCOMES = statement("run_views/outcomes", RunOutcome)
# Per job, as in the statement.
OUTCOMES_PER_JOB_MAX: Final = 20


async def read_recent_outcomes(
    conn: Connection, *, tenant_id: int, job_ids: Sequence[UUID], limit: int
) -> dict[UUID, list[RunOutcome]]:
    """Return the newest outcomes of each job first, at most `most` and never more than `MOST`.

    A job of another tenant, or one that does not exist, has no runs.
    """
    found: dict[UUID, list[RunOutcome]] = {job_id: [] for job_id in job_ids}
    if not found:
        return found
    frame = build_id(max(await read_database_time(conn) - RECENT_PERIOD, EPOCH), bytes(10))
    recent_id = UUID(int=frame.int >> 80 << 80)
    async with ordered_scan(conn):
        for from_id in (recent_id, FIRST_ID):
            # Most jobs have enough recent runs; only the others need all of history.
            few = sorted(job_id for job_id, runs in found.items() if len(runs) < limit)
            if not few:
                break
            for job_id in few:
                found[job_id] = []
            for row in await OUTCOMES.all(conn, tenant_id=tenant_id, job_ids=few, from_id=from_id):
                found[row.job_id].append(row)
    return {
        job_id: sorted(runs, key=lambda run: run.id, reverse=True)[:limit]
        for job_id, runs in found.items()
    }
