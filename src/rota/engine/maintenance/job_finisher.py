"""Marks jobs as finished after their last tick was fired.

Firing only adds them to a list, because writing the job's row costs as much as the rest of the
fire. Reads show such a job as finished at once, because it has no cursor (`rota.shown_state`); the
mark serves queries that filter by state. It is not urgent: a bounded batch, then a rest.
"""

from dataclasses import dataclass
from typing import Final

from rota.store import finished_jobs
from rota.store.driver import ConnectionSource
from rota.store.transaction import transaction

FINISH_BATCH_MAX: Final = 500
# Limits marking to a few thousand jobs per second, so that it does not compete with firing.
FINISH_BATCH_INTERVAL_S: Final = 0.2
FINISH_POLL_INTERVAL_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFinisher:
    source: ConnectionSource

    async def tick(self) -> float:
        async with self.source.acquire() as conn, transaction(conn):
            marked = await finished_jobs.mark_finished(conn, limit=FINISH_BATCH_MAX)
        return FINISH_BATCH_INTERVAL_S if marked >= FINISH_BATCH_MAX else FINISH_POLL_INTERVAL_S
