"""Marks jobs as finished after their last tick was decided."""

from typing import NamedTuple
from uuid import UUID

from rota.store import jobs
from rota.store.driver import Connection
from rota.store.statement import statement


class EndedJob(NamedTuple):
    job_id: UUID


class MarkedJob(NamedTuple):
    id: UUID


TAKE_ENDED = statement("jobs/take_ended", EndedJob)
MARK_FINISHED = statement("jobs/mark_finished", MarkedJob)


async def mark_finished(conn: Connection, *, limit: int) -> int:
    """Mark jobs as finished whose last tick was decided; return how many were on the list.

    Runs in the caller's transaction. The jobs are locked before their cursors are read, so that a
    concurrent edit comes first and is seen.
    """
    if ended := [row.job_id for row in await TAKE_ENDED.all(conn, most=limit)]:
        await jobs.LOCK.all(conn, ids=ended)
        await MARK_FINISHED.all(conn, ids=ended)
    return len(ended)
