"""Setting jobs aside that cannot be scheduled, so that they do not stop the others. Room: store."""

from typing import NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement


class SetAside(NamedTuple):
    id: UUID


QUARANTINE = statement("jobs/quarantine", SetAside)


async def quarantine(conn: Connection, *, job_id: UUID, version: int, reason: str) -> bool:
    """Set a job aside, unless it was edited since `version`; return whether it was."""
    row = await QUARANTINE.one(conn, id=job_id, version=version, reason=reason)
    return row is not None
