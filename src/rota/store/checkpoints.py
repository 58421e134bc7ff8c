"""Stores progress and checkpoints of runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import LeaseLost
from rota.store.driver import Connection
from rota.store.statement import statement


class NotedRun(NamedTuple):
    run_id: UUID


class RunNote(NamedTuple):
    run_id: UUID
    attempt: int
    noted_at: datetime
    progress: float | None
    message: str | None
    checkpoint: str | None


class RunProgress(NamedTuple):
    run_id: UUID
    attempt: int
    fraction: float
    message: str


SAVE_CHECKPOINT = statement("checkpoints/save_checkpoint", NotedRun)
SAVE_PROGRESS = statement("checkpoints/save_progress", NotedRun)
GET = statement("checkpoints/get", RunNote)


async def save_checkpoint(
    conn: Connection, *, run_id: UUID, attempt: int, session_id: UUID, checkpoint: str
) -> None:
    """Store a checkpoint (JSON); raise `LeaseLost` if the session no longer holds the attempt."""
    row = await SAVE_CHECKPOINT.one(
        conn, run_id=run_id, attempt=attempt, session_id=session_id, checkpoint=checkpoint
    )
    if row is None:
        raise LeaseLost(thing="run", id=run_id)


async def save_progress(conn: Connection, updates: Sequence[RunProgress]) -> None:
    """Store the last progress of each attempt; one row per run in the batch."""
    await SAVE_PROGRESS.all(
        conn,
        run_ids=[progress.run_id for progress in updates],
        attempts=[progress.attempt for progress in updates],
        progresses=[progress.fraction for progress in updates],
        messages=[progress.message for progress in updates],
    )


async def get_notes(conn: Connection, run_ids: Sequence[UUID]) -> dict[UUID, RunNote]:
    return {row.run_id: row for row in await GET.all(conn, run_ids=run_ids)}
