"""What changed since somebody last looked: runs and jobs, by the transactions that wrote them.
Room: store.

Nothing is written for the feed. Each row knows its transaction (`xmin`), and PostgreSQL knows which
transactions are still open; so "new" means "written by a transaction that was open or unborn when I
last looked", and a row that is committed late is not missed, whatever its time says. The time only
bounds how much is read. Which of the rows were told already is the caller's to remember. Members
of maps are left out: a million of them would drown all else, and their map counts them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import StoreRefused
from rota.core.ids import stamped
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import transaction
from rota.store.translate import translated


class Horizon(NamedTuple):
    """The oldest open transaction, and the number that the next one will have."""

    now: datetime
    oldest: int
    next: int
    steered: str


class Seen(NamedTuple):
    """A row that is new; `total` is how many such rows its tenant has, returned or not."""

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


class Summed(NamedTuple):
    ranges: int


class Position(NamedTuple):
    """All transactions before `xid` are known; what the others wrote has a time from `since` on."""

    xid: int
    since: datetime


HORIZON = statement("feed/horizon", Horizon)
ENDED = statement("feed/ended", Seen)
ATTEMPTED = statement("feed/attempted", Seen)
MADE = statement("feed/made", Seen)
HELD = statement("feed/held", Seen)
PROGRESSED = statement("feed/progressed", Seen)
JOBS = statement("feed/jobs", Seen)
SUMMARIZE = statement("feed/summarize", Summed)

# An id is drawn before its row is written, and its time is cut to milliseconds.
_ID_MARGIN: Final = timedelta(seconds=1)


async def horizon(conn: Connection) -> Horizon:
    """Where the transactions stand. In a transaction of the caller's, before `look`."""
    row = await HORIZON.one(conn)
    if row is None:
        raise StoreRefused(reason="it does not tell its transactions", remedy="run `rota migrate`")
    return row


async def look(
    conn: Connection, *, tenant_ids: Sequence[int], position: Position, most: int
) -> list[Seen]:
    """What was written from a position on: of each sort and tenant at most `most`, oldest first."""
    asked = {
        "tenant_ids": tenant_ids,
        "xid": position.xid,
        "since": position.since,
        "most": most,
    }
    timeless = {name: value for name, value in asked.items() if name != "since"}
    from_id = stamped(position.since - _ID_MARGIN, bytes(10))
    # Each statement sees a little more than the one before it. What they miss of each other was
    # written after the horizon was read, and is new once more at the next look.
    return [
        *await JOBS.all(conn, **asked),
        *await MADE.all(conn, from_id=from_id, **asked),
        *await HELD.all(conn, **timeless),
        *await PROGRESSED.all(conn, **asked),
        *await ATTEMPTED.all(conn, **asked),
        *await ENDED.all(conn, **asked),
    ]


async def summarize(conn: Connection, *, most: int) -> int:
    """Sum up at most so many block ranges of each table, unless somebody tidies it right now."""
    async with transaction(conn):
        with translated(conn):
            # Shorter than the second after which a waiting lock ends a vacuum.
            await conn.execute("set local lock_timeout = '200ms'")
        row = await SUMMARIZE.one(conn, most=most)
    return row.ranges if row else 0
