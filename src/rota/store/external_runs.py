"""Claims and locks runs that an external system executes and reports."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.store.driver import Connection
from rota.store.statement import statement


class TakenRun(NamedTuple):
    attempt: int
    started_at: datetime


class HeldAttempt(NamedTuple):
    attempt: int


HOLD = statement("external_runs/hold", HeldAttempt)
TAKE = statement("external_runs/take", TakenRun)


async def take_run(conn: Connection, *, run_id: UUID, session_id: UUID) -> TakenRun:
    """Assign a run that was created in this transaction to a session."""
    row = await TAKE.one(conn, id=run_id, session_id=session_id)
    if row is None:
        raise LeaseLost(thing="run", id=run_id)
    return row


async def lock_run(conn: Connection, *, run_id: UUID, session_id: UUID) -> int:
    """Lock a run until the transaction ends and return its attempt; raise `LeaseLost` if the
    session no longer holds it.
    """
    row = await HOLD.one(conn, id=run_id, session_id=session_id)
    if row is None:
        raise LeaseLost(thing="run", id=run_id)
    return row.attempt
