"""Everything Rota asks of logs: what attempts wrote, in order. Room: store."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement


class Piece(NamedTuple):
    run_id: UUID
    attempt: int
    seq: int
    stream: int
    logged_at: datetime
    chunk: bytes


class Line(NamedTuple):
    attempt: int
    seq: int
    stream: int
    logged_at: datetime
    chunk: bytes


class Added(NamedTuple):
    run_id: UUID


APPEND = statement("logs/append", Added)
READ = statement("logs/read", Line)
BEGINNING = (0, -1)


async def append(conn: Connection, pieces: Sequence[Piece]) -> None:
    await APPEND.all(
        conn,
        run_ids=[piece.run_id for piece in pieces],
        attempts=[piece.attempt for piece in pieces],
        seqs=[piece.seq for piece in pieces],
        streams=[piece.stream for piece in pieces],
        logged_ats=[piece.logged_at for piece in pieces],
        chunks=[piece.chunk for piece in pieces],
    )


async def read(
    conn: Connection, run_id: UUID, *, after: tuple[int, int] = BEGINNING, most: int = 1000
) -> list[Line]:
    """What a run's attempts wrote after (attempt, seq); ask again from the last to follow."""
    return await READ.all(
        conn, run_id=run_id, after_attempt=after[0], after_seq=after[1], most=most
    )
