"""How the last runs of several jobs went, for lists of jobs. Room: store.

Reads only, all jobs in one statement. What one run did is run_views.py.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import EPOCH, stamped
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.run_views import FIRST_ID, RECENT
from rota.store.statement import statement
from rota.store.walking import walking


class Outcome(NamedTuple):
    """A run that runs or has ended; `reason` is JSON as text."""

    job_id: UUID
    id: UUID
    state: RunState
    scheduled_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    reason: str | None


OUTCOMES = statement("run_views/outcomes", Outcome)
# Of each job, as the statement says.
MOST: Final = 20


async def recent(
    conn: Connection, *, tenant_id: int, job_ids: Sequence[UUID], most: int
) -> dict[UUID, list[Outcome]]:
    """The newest of each job first, `most` of them and never more than `MOST`.

    A job of another tenant, or of none, has no runs.
    """
    found: dict[UUID, list[Outcome]] = {job_id: [] for job_id in job_ids}
    if not found:
        return found
    frame = stamped(max(await database_time(conn) - RECENT, EPOCH), bytes(10))
    lately = UUID(int=frame.int >> 80 << 80)
    async with walking(conn):
        for from_id in (lately, FIRST_ID):
            # Most jobs have run often enough lately; only for the others all of history is opened.
            few = sorted(job_id for job_id, runs in found.items() if len(runs) < most)
            if not few:
                break
            for job_id in few:
                found[job_id] = []
            for row in await OUTCOMES.all(conn, tenant_id=tenant_id, job_ids=few, from_id=from_id):
                found[row.job_id].append(row)
    return {
        job_id: sorted(runs, key=lambda run: run.id, reverse=True)[:most]
        for job_id, runs in found.items()
    }
