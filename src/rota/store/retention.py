"""Removes jobs and interned rows that no job and no stored run needs any more.

The first pass that finds no use of an interned row (a kind, queue, policy, schedule, graph or gate)
marks it as unused. A later pass deletes it if it is still unused after the runs of that time have
been dropped. Interning it again in between keeps it (`rota.keep_interned`). partitions.py removes
days and months of history.
"""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import Statement, statement


class RemovedJob(NamedTuple):
    id: UUID


class SweptCount(NamedTuple):
    number: int


REMOVE_JOBS = statement("retention/remove_jobs", RemovedJob)
REMOVE_VERSIONS = statement("retention/remove_versions", RemovedJob)
# Jobs refer to all other relations, and graphs to kinds and queues; hence this order.
SWEEPS: Final[dict[str, Statement[SweptCount]]] = {
    relation: statement(f"retention/sweep_{relation}", SweptCount)
    for relation in ("graphs", "schedules", "policies", "kinds", "queues", "gates")
}
# How many of the oldest removable jobs one pass examines, per job that it may remove.
EXAMINED_PER_REMOVED_JOB: Final = 4


async def remove_jobs(
    conn: Connection, *, deleted_before: datetime, ended_before: datetime, limit: int
) -> int:
    """Remove jobs that were deleted, and one-time jobs that ended, before these times and that have
    no runs left; return how many.
    """
    removed = await REMOVE_JOBS.all(
        conn,
        deleted_before=deleted_before,
        ended_before=ended_before,
        look=limit * EXAMINED_PER_REMOVED_JOB,
        most=limit,
    )
    return len(removed)


async def remove_versions(conn: Connection, *, before: datetime, limit: int) -> int:
    """Remove job versions that were superseded before a time; return how many."""
    return len(await REMOVE_VERSIONS.all(conn, before=before, most=limit))


async def sweep_interned(conn: Connection, relation: str, *, before: datetime, limit: int) -> int:
    """Delete interned rows that have been unused since before a time; return how many."""
    row = await SWEEPS[relation].one(conn, before=before, most=limit)
    return 0 if row is None else row.number
