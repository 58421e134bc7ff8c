"""Stores the logs of attempts, in order.

An attempt stores at most `ATTEMPT_LOG_MAX_BYTES`, whichever process writes. A worker counts while
the attempt writes (execute/output.py), so its batches cost nothing extra here. For writers that
Rota cannot trust to count, `append_bounded` counts.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.executor import Stream
from rota.store.driver import Connection
from rota.store.statement import statement

ATTEMPT_LOG_MAX_BYTES: Final = 1_000_000
LOG_TRUNCATED_LINE: Final = b"[output truncated: it exceeds 1 MB]\n"
# The position of that line in a log that is counted here: after every other piece.
LOG_TRUNCATED_SEQ: Final = 999_999_999


class LogPiece(NamedTuple):
    run_id: UUID
    attempt: int
    seq: int
    stream: int
    logged_at: datetime
    chunk: bytes


class StoredLogLine(NamedTuple):
    attempt: int
    seq: int
    stream: int
    logged_at: datetime
    chunk: bytes


class AppendedPiece(NamedTuple):
    run_id: UUID


class StoredLog(NamedTuple):
    size: int
    seqs: list[int]


STORED = statement("logs/stored", StoredLog)
APPEND = statement("logs/append", AppendedPiece)
READ = statement("logs/read", StoredLogLine)
LOG_START = (0, -1)


async def append_pieces(conn: Connection, pieces: Sequence[LogPiece]) -> None:
    await APPEND.all(
        conn,
        run_ids=[piece.run_id for piece in pieces],
        attempts=[piece.attempt for piece in pieces],
        seqs=[piece.seq for piece in pieces],
        streams=[piece.stream for piece in pieces],
        logged_ats=[piece.logged_at for piece in pieces],
        chunks=[piece.chunk for piece in pieces],
    )


async def append_bounded(conn: Connection, pieces: Sequence[LogPiece]) -> None:
    """Append pieces of one attempt up to the limit, and a line that says that the rest was cut.

    The caller has locked the run, so that two writers do not use the same space.
    """
    if not pieces:
        return
    run_id, attempt = pieces[0].run_id, pieces[0].attempt
    seqs = [piece.seq for piece in pieces]
    stored = await STORED.one(conn, run_id=run_id, attempt=attempt, seqs=seqs)
    size, known = (0, set[int]()) if stored is None else (stored.size, set(stored.seqs))
    stored_pieces: list[LogPiece] = []
    for piece in pieces:
        room = ATTEMPT_LOG_MAX_BYTES - size
        if piece.seq in known:
            continue
        if room > 0:
            stored_pieces.append(piece._replace(chunk=piece.chunk[:room]))
        size += len(piece.chunk)
        if len(piece.chunk) > room:
            stored_pieces.append(
                piece._replace(
                    seq=LOG_TRUNCATED_SEQ, stream=Stream.ROTA.value, chunk=LOG_TRUNCATED_LINE
                )
            )
            break
    if stored_pieces:
        await append_pieces(conn, stored_pieces)


async def read_lines(
    conn: Connection, run_id: UUID, *, after: tuple[int, int] = LOG_START, limit: int = 1000
) -> list[StoredLogLine]:
    """Return log lines after (attempt, seq); call again from the last one to follow the log."""
    return await READ.all(
        conn, run_id=run_id, after_attempt=after[0], after_seq=after[1], most=limit
    )
