"""Serializes transactions that count and add resources of one tenant."""

from typing import NamedTuple

from rota.store.driver import Connection
from rota.store.statement import statement


class TenantTurn(NamedTuple):
    held: str


TAKE_TURN = statement("tenants/take_turn", TenantTurn)


async def take_turn(conn: Connection, *, tenant_id: int, things: str) -> None:
    """Lock one kind of resource of a tenant until the end of the transaction.

    This is a separate statement because the snapshot of the counting statement must be newer than
    the lock.
    """
    await TAKE_TURN.one(conn, tenant_id=tenant_id, things=things)
