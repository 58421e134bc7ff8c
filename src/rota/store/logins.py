"""Everything Rota asks of logins: people at the dashboard, each by a key of theirs. Room: store.

A login is found by the digest of a secret that only a browser has. What it may do is what its key
may do at that moment, and it ends with the key; the database's clock judges both. A ticket is a
login to be: it is taken once. Cookies and forged requests are api/dashboard.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.access import Principal
from rota.core.errors import TooMany, Unauthenticated
from rota.store import turns
from rota.store.driver import Connection
from rota.store.keys import Found
from rota.store.statement import statement

LIFETIME: Final = timedelta(hours=12)
# How long a login lasts that nobody uses.
IDLE_LIMIT: Final = timedelta(minutes=30)
# The use of a login is noted this often.
TOUCH_INTERVAL: Final = timedelta(minutes=1)
TICKET_LIFETIME: Final = timedelta(minutes=1)
# Of one key; the oldest goes when there are more.
MOST_LOGINS: Final = 50
# Tickets of one key that nobody used yet.
OPEN_TICKETS_MAX: Final = 10
_AT_ONCE: Final = 1000


class Made(NamedTuple):
    expires_at: datetime


class TicketCount(NamedTuple):
    number: int


class OfKey(NamedTuple):
    key_id: UUID


COUNT_TICKETS = statement("logins/count_tickets", TicketCount)
CREATE = statement("logins/create", Made)
FIND = statement("logins/find", Found)
REDEEM = statement("logins/redeem", Found)
TOUCH = statement("logins/touch", OfKey)
END = statement("logins/end", OfKey)
FORGET = statement("logins/forget", OfKey)


async def create(conn: Connection, *, digest: bytes, key_id: UUID) -> datetime:
    """Log somebody in by a key of theirs; return until when."""
    await FORGET.all(conn, key_id=key_id, kept=MOST_LOGINS - 1, most=_AT_ONCE)
    return await _create(conn, digest, key_id, is_ticket=False, lifetime=LIFETIME)


async def create_ticket(
    conn: Connection, *, digest: bytes, key_id: UUID, lifetime: timedelta = TICKET_LIFETIME
) -> datetime:
    """Make a ticket for one login; return until when it is good. `TooMany` if the key has made
    `OPEN_TICKETS_MAX` in the last minute that nobody used.
    """
    await turns.take_turn(conn, tenant_id=0, things=f"tickets of {key_id}")
    count = await COUNT_TICKETS.one(conn, key_id=key_id, age=TICKET_LIFETIME)
    if count is not None and count.number >= OPEN_TICKETS_MAX:
        raise TooMany("unused login tickets of this key", TICKET_LIFETIME.total_seconds())
    await FORGET.all(conn, key_id=key_id, kept=MOST_LOGINS - 1, most=_AT_ONCE)
    return await _create(conn, digest, key_id, is_ticket=True, lifetime=lifetime)


async def _create(
    conn: Connection, digest: bytes, key_id: UUID, *, is_ticket: bool, lifetime: timedelta
) -> datetime:
    row = await CREATE.one(
        conn, digest=digest, key_id=key_id, is_ticket=is_ticket, lifetime=lifetime
    )
    if row is None:
        raise Unauthenticated("this API key is unknown, expired or revoked")
    return row.expires_at


async def find(
    conn: Connection, *, digest: bytes, idle: timedelta = IDLE_LIMIT
) -> Principal | None:
    """Who is logged in; None if nobody is, or nobody used the login for `idle`.

    `expires_at` is the end of the login, however much it is used.
    """
    row = await FIND.one(conn, digest=digest, idle=idle)
    return None if row is None else Principal(**row._asdict())


async def touch(conn: Connection, *, digest: bytes, idle: timedelta = IDLE_LIMIT) -> None:
    """Note that a person uses this login now."""
    least = min(TOUCH_INTERVAL, idle / 2)
    await TOUCH.one(conn, digest=digest, idle=idle, least=least)


async def redeem(conn: Connection, *, digest: bytes) -> Principal | None:
    """Take a ticket: whose it was, once; None for everybody after that."""
    row = await REDEEM.one(conn, digest=digest)
    return None if row is None else Principal(**row._asdict())


async def end(conn: Connection, *, digest: bytes) -> bool:
    """Log somebody out; return whether they were logged in."""
    return await END.one(conn, digest=digest) is not None
