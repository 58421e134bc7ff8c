"""Isolates tenants with row-level security, the second line of defence.

The first line is that every statement names its tenant. Row-level security holds when a statement
forgets to: the connection switches to the role `rota_api`, which owns nothing, and PostgreSQL shows
it the rows of one tenant, or no rows if no tenant is set. It lasts for one transaction, so a
connection returns to its pool unchanged. It does not protect against a caller who can send
arbitrary SQL. The engine and statements about all tenants run as the owner, which bypasses
row-level security, or as a role with a policy for all tenants (roles.py).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, NamedTuple, NoReturn

from rota.core.errors import RotaError, StoreRefused, StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import transaction

ROW_SECURITY_REMEDY: Final = (
    "as an administrator of the server: `create role rota_api nologin`, grant it to the user of "
    "ROTA_DATABASE_URL, and as that user `select rota.raise_wall()`"
)
# Tenants that cannot exist: real ids are positive.
_PROBE_TENANT_ID: Final = -1
_OTHER_TENANT_ID: Final = -2


class TenantScopeState(NamedTuple):
    role: str
    tenant: str
    seqscan: str
    now: datetime


class RowSecurityGap(NamedTuple):
    hole: str


class ProbeRow(NamedTuple):
    tenant_id: int


class ClearedScope(NamedTuple):
    tenant: str


ENTER_TENANT_SCOPE = statement("row_level_security/enter_scope", TenantScopeState)
FIND_GAPS = statement("row_level_security/find_gaps", RowSecurityGap)
INSERT_PROBE = statement("row_level_security/insert_probe", ProbeRow)
READ_PROBE = statement("row_level_security/read_probe", ProbeRow)
CLEAR_TENANT = statement("row_level_security/clear_tenant", ClearedScope)


class _Undo(Exception):
    """Rolls back the transaction of a check that must leave nothing behind."""


def _undo() -> NoReturn:
    raise _Undo


@asynccontextmanager
async def tenant_scope(conn: Connection, tenant_id: int) -> AsyncIterator[datetime]:
    """Run one transaction that sees and changes rows of this tenant only.

    Yields the database's current time, which the first statement of the transaction returns.
    """
    if conn.is_in_transaction():
        # The role would last until the end of that transaction and restrict its later statements.
        raise RuntimeError("a tenant scope must begin its own transaction")
    async with transaction(conn):
        entered = await ENTER_TENANT_SCOPE.one(conn, tenant_id=tenant_id)
        if entered is None:
            raise StoreRefused(
                reason="the server did not report its time", remedy="run `rota migrate`"
            )
        yield entered.now


async def check_row_level_security(conn: Connection) -> None:
    """Refuse a database whose row-level security does not work, before the API relies on it."""
    holes = await FIND_GAPS.all(conn)
    if holes:
        raise StoreRefused(reason=holes[0].hole, remedy=ROW_SECURITY_REMEDY)
    try:
        seen = await _count_visible_probes(conn)
    except StoreUnavailable:
        raise
    except RotaError as error:
        raise StoreRefused(
            reason=f"the role rota_api cannot be used ({error})", remedy=ROW_SECURITY_REMEDY
        ) from error
    if seen != (1, 0, 0):
        raise StoreRefused(
            reason="row-level security does not work: a tenant sees another tenant's rows",
            remedy=ROW_SECURITY_REMEDY,
        )


async def _count_visible_probes(conn: Connection) -> tuple[int, int, int]:
    """Count the rows of a tenant that are visible to itself, to another tenant and to no tenant."""
    try:
        async with transaction(conn):
            await INSERT_PROBE.one(conn, tenant_id=_PROBE_TENANT_ID)
            await ENTER_TENANT_SCOPE.one(conn, tenant_id=_PROBE_TENANT_ID)
            own = len(await READ_PROBE.all(conn))
            await ENTER_TENANT_SCOPE.one(conn, tenant_id=_OTHER_TENANT_ID)
            foreign = len(await READ_PROBE.all(conn))
            await CLEAR_TENANT.one(conn)
            without_tenant = len(await READ_PROBE.all(conn))
            _undo()
    except _Undo:
        return own, foreign, without_tenant
