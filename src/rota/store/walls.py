"""The second wall between tenants: row level security. Room: store.

The first wall is that every statement names its tenant. This one holds when a statement forgets to:
behind it a connection is the role `rota_api`, which owns nothing, and PostgreSQL shows it the rows
of one tenant, or none at all if no tenant is set. It lasts for one transaction, so nothing of it is
left on a connection that goes back to its pool. It does not hold against somebody who can send SQL
of their own. The engine and whatever concerns all tenants work as the owner, who passes it, or as a
role with a policy for all tenants (roles.py).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, NamedTuple, NoReturn

from rota.core.errors import RotaError, StoreRefused, StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import transaction

REMEDY: Final = (
    "as an administrator of the server: `create role rota_api nologin`, grant it to the user of "
    "ROTA_DATABASE_URL, and as that user `select rota.raise_wall()`"
)
# Tenants that cannot exist: ids are positive.
_HERE: Final = -1
_THERE: Final = -2


class Entered(NamedTuple):
    role: str
    tenant: str
    seqscan: str
    now: datetime


class Hole(NamedTuple):
    hole: str


class Seen(NamedTuple):
    tenant_id: int


class Left(NamedTuple):
    tenant: str


ENTER = statement("walls/enter", Entered)
HOLES = statement("walls/holes", Hole)
PUT_PROBE = statement("walls/put_probe", Seen)
SEE_PROBE = statement("walls/see_probe", Seen)
FORGET_TENANT = statement("walls/forget_tenant", Left)


class _Undo(Exception):
    """Ends the transaction of a test that must leave nothing behind."""


def _undo() -> NoReturn:
    raise _Undo


@asynccontextmanager
async def behind_wall(conn: Connection, tenant_id: int) -> AsyncIterator[datetime]:
    """One transaction that sees and changes rows of this tenant only; committed at the end.

    Yields the time by the database's clock, which came with the statement that begins it.
    """
    if conn.is_in_transaction():
        # The role would last until the end of that one, and what follows would be behind the wall.
        raise RuntimeError("behind_wall begins a transaction of its own")
    async with transaction(conn):
        entered = await ENTER.one(conn, tenant_id=tenant_id)
        if entered is None:
            raise StoreRefused(reason="it does not tell the time", remedy="run `rota migrate`")
        yield entered.now


async def check_wall(conn: Connection) -> None:
    """Refuse a database whose wall does not hold, before anybody relies on it."""
    holes = await HOLES.all(conn)
    if holes:
        raise StoreRefused(reason=holes[0].hole, remedy=REMEDY)
    try:
        seen = await _try_wall(conn)
    except StoreUnavailable:
        raise
    except RotaError as error:
        raise StoreRefused(
            reason=f"the role rota_api cannot be used ({error})", remedy=REMEDY
        ) from error
    if seen != (1, 0, 0):
        raise StoreRefused(reason="a tenant sees rows of another one", remedy=REMEDY)


async def _try_wall(conn: Connection) -> tuple[int, int, int]:
    """How many rows of a tenant are seen by itself, by another one, and by nobody."""
    try:
        async with transaction(conn):
            await PUT_PROBE.one(conn, tenant_id=_HERE)
            await ENTER.one(conn, tenant_id=_HERE)
            mine = len(await SEE_PROBE.all(conn))
            await ENTER.one(conn, tenant_id=_THERE)
            foreign = len(await SEE_PROBE.all(conn))
            await FORGET_TENANT.one(conn)
            nobodys = len(await SEE_PROBE.all(conn))
            _undo()
    except _Undo:
        return mine, foreign, nobodys
