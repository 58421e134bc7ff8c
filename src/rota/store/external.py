"""Runs that something outside of Rota carries out, and tells of. Room: store."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.store.driver import Connection
from rota.store.statement import statement


class Taken(NamedTuple):
    attempt: int
    started_at: datetime


class Held(NamedTuple):
    attempt: int


HOLD = statement("external/hold", Held)
TAKE = statement("external/take", Taken)


async def take(conn: Connection, *, run_id: UUID, session_id: UUID) -> Taken:
    """Let a session have a run that was made in this transaction."""
    row = await TAKE.one(conn, id=run_id, session_id=session_id)
    if row is None:
        raise LeaseLost(thing="run", id=run_id)
    return row


async def hold(conn: Connection, *, run_id: UUID, session_id: UUID) -> int:
    """Lock a run until the transaction ends and return its attempt; `LeaseLost` if the session has
    it no more.
    """
    row = await HOLD.one(conn, id=run_id, session_id=session_id)
    if row is None:
        raise LeaseLost(thing="run", id=run_id)
    return row.attempt
