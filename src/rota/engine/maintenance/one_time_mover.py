"""Turns one-time jobs of earlier releases into submissions, in batches.

A pass reads the jobs after the last one it saw, in one short transaction. It may be interrupted at
any time: the next process starts with the first job, and moved jobs no longer exist as jobs. At the
end of the table it rests, because a process of the previous release may still add some.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from rota.store import one_time_jobs
from rota.store.driver import ConnectionSource
from rota.store.transaction import transaction

BATCH_MAX: Final = 200
# Between batches: a few thousand jobs per second, far below the load of the hot path.
BATCH_INTERVAL_S: Final = 0.1
ROUND_INTERVAL_S: Final = 3600.0
FIRST_ID: Final = UUID(int=0)


@dataclass(slots=True, kw_only=True)
class OneTimeJobMover:
    source: ConnectionSource
    _after: UUID = FIRST_ID

    async def tick(self) -> float:
        """Move one batch; return how long to rest."""
        async with self.source.acquire() as conn, transaction(conn):
            jobs = await one_time_jobs.read_jobs(conn, after=self._after, limit=BATCH_MAX)
            movable = [job for job in jobs if job.is_movable]
            if movable:
                await one_time_jobs.move_jobs(conn, movable)
        if not jobs:
            self._after = FIRST_ID
            return ROUND_INTERVAL_S
        self._after = jobs[-1].id
        return BATCH_INTERVAL_S
