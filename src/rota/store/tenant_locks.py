"""Serializes transactions that count and add resources of one tenant."""

from typing import NamedTuple

from rota.store.driver import Connection
from rota.store.statement import statement


class TenantLock(NamedTuple):
    held: str


LOCK_RESOURCE = statement("tenants/lock_resource", TenantLock)


async def lock_resource(conn: Connection, *, tenant_id: int, resource: str) -> None:
    """Lock one kind of resource of a tenant until the end of the transaction.

    This is a separate statement because the snapshot of the counting statement must be newer than
    the lock.
    """
    await LOCK_RESOURCE.one(conn, tenant_id=tenant_id, things=resource)
