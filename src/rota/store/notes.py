"""Stores progress and checkpoints of runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.store.driver import Connection
from rota.store.statement import statement


class Noted(NamedTuple):
    run_id: UUID


class Note(NamedTuple):
    run_id: UUID
    attempt: int
    noted_at: datetime
    progress: float | None
    message: str | None
    checkpoint: str | None


class Progress(NamedTuple):
    run_id: UUID
    attempt: int
    fraction: float
    message: str


SAVE_CHECKPOINT = statement("notes/save_checkpoint", Noted)
SAVE_PROGRESS = statement("notes/save_progress", Noted)
GET = statement("notes/get", Note)


async def save_checkpoint(
    conn: Connection, *, run_id: UUID, attempt: int, session_id: UUID, checkpoint: str
) -> None:
    """Store a checkpoint (JSON); raise `LeaseLost` if the session no longer holds the attempt."""
    row = await SAVE_CHECKPOINT.one(
        conn, run_id=run_id, attempt=attempt, session_id=session_id, checkpoint=checkpoint
    )
    if row is None:
        raise LeaseLost(thing="run", id=run_id)


async def save_progress(conn: Connection, told: Sequence[Progress]) -> None:
    """Store the last progress of each attempt; one row per run in the batch."""
    await SAVE_PROGRESS.all(
        conn,
        run_ids=[progress.run_id for progress in told],
        attempts=[progress.attempt for progress in told],
        progresses=[progress.fraction for progress in told],
        messages=[progress.message for progress in told],
    )


async def get(conn: Connection, run_ids: Sequence[UUID]) -> dict[UUID, Note]:
    return {row.run_id: row for row in await GET.all(conn, run_ids=run_ids)}
