"""Quarantines jobs that cannot be scheduled, so that they do not block the others."""

from typing import NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement


class QuarantinedJob(NamedTuple):
    id: UUID


QUARANTINE = statement("jobs/quarantine", QuarantinedJob)


async def quarantine_job(conn: Connection, *, job_id: UUID, version: int, reason: str) -> bool:
    """Quarantine a job unless it was edited after `version`; return whether it was quarantined."""
    row = await QUARANTINE.one(conn, id=job_id, version=version, reason=reason)
    return row is not None
