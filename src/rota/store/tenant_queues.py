"""Creates, pauses and limits a tenant's own queues.

A queue of a tenant is the pair of the two. Its name is interned once for all tenants (names.py);
its pause and limits apply to the runs of one tenant only. gates.py holds the pause and the limits
of a queue for all tenants, which apply in addition.
"""

from typing import NamedTuple

from rota.core.limits import GateLimits
from rota.store import gates
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction


class QueueId(NamedTuple):
    id: int


FIND = statement("tenant_queues/find", QueueId)
CREATE = statement("tenant_queues/create", QueueId)
PAUSE = statement("tenant_queues/pause", QueueId)
LIMIT = statement("tenant_queues/limit", QueueId)


async def find_queue(conn: Connection, *, tenant_id: int, name: str) -> int | None:
    """Return the id of the tenant's queue; None if another tenant has it or it does not exist."""
    row = await FIND.one(conn, tenant_id=tenant_id, name=name)
    return None if row is None else row.id


async def create_queue(conn: Connection, *, tenant_id: int, queue_id: int) -> bool:
    """Add a queue to the tenant's own; return whether it is new."""
    return await CREATE.one(conn, tenant_id=tenant_id, queue_id=queue_id) is not None


async def pause_queue(
    conn: Connection, *, tenant_id: int, queue_id: int, paused: bool = True, by: str | None = None
) -> None:
    """Start no more runs of the tenant in this queue; `paused=False` resumes them."""
    await PAUSE.one(conn, tenant_id=tenant_id, queue_id=queue_id, paused=paused, by=by)


async def limit_queue(
    conn: Connection, *, tenant_id: int, queue_id: int, limits: GateLimits | None
) -> None:
    """Set or remove the tenant's limits in this queue. Claimers notice within a second."""
    async with join_transaction(conn):
        gate_id = await gates.put_shared_gate(conn, tenant_id, f"queue:{queue_id}", limits)
        await LIMIT.one(
            conn,
            tenant_id=tenant_id,
            queue_id=queue_id,
            gate_id=None if limits is None else gate_id,
        )
