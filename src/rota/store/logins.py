"""Stores logins: people at the dashboard, each authenticated by an API key.

A login is found by the digest of a secret that only the browser has. It may do what its key may do
at that moment, and it ends with the key; the database's clock decides about both. A ticket is a
future login and can be redeemed once. api/dashboard handles cookies and forged requests.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.access import Principal
from rota.core.errors import RateLimitExceeded, Unauthenticated
from rota.store import tenant_locks
from rota.store.driver import Connection
from rota.store.keys import KeyOwner
from rota.store.statement import statement

LOGIN_LIFETIME: Final = timedelta(hours=12)
# How long an unused login lasts.
IDLE_LIMIT: Final = timedelta(minutes=30)
# How often the use of a login is recorded.
TOUCH_INTERVAL: Final = timedelta(minutes=1)
TICKET_LIFETIME: Final = timedelta(minutes=1)
# Per key; beyond that, the oldest login is deleted.
LOGINS_PER_KEY_MAX: Final = 50
# Unused tickets per key.
OPEN_TICKETS_MAX: Final = 10
_AT_ONCE: Final = 1000


class CreatedLogin(NamedTuple):
    expires_at: datetime


class TicketCount(NamedTuple):
    number: int


class LoginKeyId(NamedTuple):
    key_id: UUID


COUNT_TICKETS = statement("logins/count_tickets", TicketCount)
CREATE = statement("logins/create", CreatedLogin)
FIND = statement("logins/find", KeyOwner)
REDEEM = statement("logins/redeem", KeyOwner)
TOUCH = statement("logins/record_use", LoginKeyId)
END = statement("logins/end", LoginKeyId)
FORGET = statement("logins/delete_old", LoginKeyId)


async def create_login(conn: Connection, *, digest: bytes, key_id: UUID) -> datetime:
    """Create a login for a key; return when it expires."""
    await FORGET.all(conn, key_id=key_id, kept=LOGINS_PER_KEY_MAX - 1, most=_AT_ONCE)
    return await _create(conn, digest, key_id, is_ticket=False, lifetime=LOGIN_LIFETIME)


async def create_ticket(
    conn: Connection, *, digest: bytes, key_id: UUID, lifetime: timedelta = TICKET_LIFETIME
) -> datetime:
    """Create a ticket for one login; return when it expires. Raises `RateLimitExceeded` if the key
    has `OPEN_TICKETS_MAX` unused tickets of the last minute.
    """
    await tenant_locks.lock_resource(conn, tenant_id=0, resource=f"tickets of {key_id}")
    count = await COUNT_TICKETS.one(conn, key_id=key_id, age=TICKET_LIFETIME)
    if count is not None and count.number >= OPEN_TICKETS_MAX:
        raise RateLimitExceeded("unused login tickets of this key", TICKET_LIFETIME.total_seconds())
    await FORGET.all(conn, key_id=key_id, kept=LOGINS_PER_KEY_MAX - 1, most=_AT_ONCE)
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


async def find_principal(
    conn: Connection, *, digest: bytes, idle: timedelta = IDLE_LIMIT
) -> Principal | None:
    """Return who is logged in; None if the login does not exist or was not used for `idle`.

    `expires_at` is the end of the login, however much it is used.
    """
    row = await FIND.one(conn, digest=digest, idle=idle)
    return None if row is None else Principal(**row._asdict())


async def record_use(conn: Connection, *, digest: bytes, idle: timedelta = IDLE_LIMIT) -> None:
    """Record that this login is in use."""
    interval = min(TOUCH_INTERVAL, idle / 2)
    await TOUCH.one(conn, digest=digest, idle=idle, least=interval)


async def redeem_ticket(conn: Connection, *, digest: bytes) -> Principal | None:
    """Redeem a ticket and return its owner; None if it does not exist or was redeemed before."""
    row = await REDEEM.one(conn, digest=digest)
    return None if row is None else Principal(**row._asdict())


async def end_login(conn: Connection, *, digest: bytes) -> bool:
    """End a login; return whether it existed."""
    return await END.one(conn, digest=digest) is not None
