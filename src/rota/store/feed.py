"""Finds runs and jobs that changed since the last look, by the transactions that wrote them.

Nothing is written for the feed. Each row knows its transaction (`xmin`), and PostgreSQL knows which
transactions are still open. So "new" means "written by a transaction that was open or not yet
started at the last look". The time bounds how much is read; `TransactionHorizon.writers` tells the
caller from which time on a row may still be committed (core/commit_window.py). The caller remembers
which rows it has already sent. Members of maps are left out: a million of them would drown
everything else, and their map counts them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import StoreRefused
from rota.core.ids import build_id
from rota.store.driver import Connection
from rota.store.error_translation import translate_errors
from rota.store.statement import statement
from rota.store.transaction import transaction


class TransactionHorizon(NamedTuple):
    """The oldest open transaction, the id of the next one, and the transactions that hold a write
    lock on a table of the feed.
    """

    now: datetime
    oldest: int
    next: int
    writers: list[str]
    steered: str


class ChangedRow(NamedTuple):
    """A new row; `total` is how many such rows its tenant has, returned or not."""

    what: str
    tenant_id: int
    xid: int
    at: datetime
    job_id: UUID
    name: str | None
    run_id: UUID | None
    state: str
    attempt: int | None
    progress: float | None
    message: str | None
    graph_run_id: UUID | None
    total: int


class SummarizedRanges(NamedTuple):
    ranges: int


class FeedPosition(NamedTuple):
    """All transactions before `xid` are known; rows of the others have times from `since` on."""

    xid: int
    since: datetime


HORIZON = statement("feed/horizon", TransactionHorizon)
ENDED = statement("feed/ended_runs", ChangedRow)
ATTEMPTED = statement("feed/ended_attempts", ChangedRow)
MADE = statement("feed/new_runs", ChangedRow)
HELD_RUNS = statement("feed/held_runs", ChangedRow)
PROGRESSED = statement("feed/progress", ChangedRow)
JOBS = statement("feed/jobs", ChangedRow)
SUMMARIZE = statement("feed/summarize", SummarizedRanges)

# An id is generated before its row is written, and its time is truncated to milliseconds.
_ID_MARGIN: Final = timedelta(seconds=1)


async def read_horizon(conn: Connection) -> TransactionHorizon:
    """Return the current transaction ids. Call it in the same transaction, before `look`."""
    row = await HORIZON.one(conn)
    if row is None:
        raise StoreRefused(
            reason="the server did not report its transactions", remedy="run `rota migrate`"
        )
    return row


async def read_changes(
    conn: Connection, *, tenant_ids: Sequence[int], position: FeedPosition, limit: int
) -> list[ChangedRow]:
    """Return rows written from a position on: at most `most` per type and tenant, oldest first."""
    conditions = {
        "tenant_ids": tenant_ids,
        "xid": position.xid,
        "since": position.since,
        "most": limit,
    }
    from_id = build_id(position.since - _ID_MARGIN, bytes(10))
    # Each statement sees slightly more than the one before it. Rows that they miss of each other
    # were written after the horizon was read, and are new again at the next look.
    return [
        *await JOBS.all(conn, **conditions),
        *await MADE.all(conn, from_id=from_id, **conditions),
        *await HELD_RUNS.all(conn, **conditions),
        *await PROGRESSED.all(conn, **conditions),
        *await ATTEMPTED.all(conn, **conditions),
        *await ENDED.all(conn, **conditions),
    ]


async def summarize_ranges(conn: Connection, *, limit: int) -> int:
    """Summarize at most `most` block ranges of each table, unless it is being vacuumed."""
    async with transaction(conn):
        with translate_errors(conn):
            # Shorter than the second after which a waiting lock ends a vacuum.
            await conn.execute("set local lock_timeout = '200ms'")
        row = await SUMMARIZE.one(conn, most=limit)
    return row.ranges if row else 0
