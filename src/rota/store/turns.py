"""Lets one at a time count and add things of a tenant. Room: store."""

from typing import NamedTuple

from rota.store.driver import Connection
from rota.store.statement import statement


class TenantTurn(NamedTuple):
    held: str


TAKE_TURN = statement("tenants/take_turn", TenantTurn)


async def take_turn(conn: Connection, *, tenant_id: int, things: str) -> None:
    """Let one at a time count and add things of a tenant, until the end of the transaction.

    A statement of its own: the snapshot of the one that counts must be newer than the lock.
    """
    await TAKE_TURN.one(conn, tenant_id=tenant_id, things=things)
