"""Everything Rota asks of a tenant's own queues: creating, pausing, limiting. Room: store.

A queue of a tenant is the pair of the two. Its name is interned once for all tenants (names.py);
what is said here holds for the runs of one tenant and is nobody else's business. The pause and the
limits of a queue for all tenants are in gates.py, and hold beside these.
"""

from typing import NamedTuple

from rota.core.limits import Limits
from rota.store import gates
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import joined


class QueueId(NamedTuple):
    id: int


FIND = statement("tenant_queues/find", QueueId)
CREATE = statement("tenant_queues/create", QueueId)
PAUSE = statement("tenant_queues/pause", QueueId)
LIMIT = statement("tenant_queues/limit", QueueId)


async def find(conn: Connection, *, tenant_id: int, name: str) -> int | None:
    """Return the id of a queue that is the tenant's; None for one of others, too."""
    row = await FIND.one(conn, tenant_id=tenant_id, name=name)
    return None if row is None else row.id


async def create(conn: Connection, *, tenant_id: int, queue_id: int) -> bool:
    """Make a queue one of the tenant's own; return whether it was not before."""
    return await CREATE.one(conn, tenant_id=tenant_id, queue_id=queue_id) is not None


async def pause(
    conn: Connection, *, tenant_id: int, queue_id: int, paused: bool = True, by: str | None = None
) -> None:
    """Start no run of the tenant in this queue any more; `paused=False` lets them go on."""
    await PAUSE.one(conn, tenant_id=tenant_id, queue_id=queue_id, paused=paused, by=by)


async def limit(conn: Connection, *, tenant_id: int, queue_id: int, limits: Limits | None) -> None:
    """Limit the runs of the tenant in this queue, or no longer. Claimers know within a second."""
    async with joined(conn):
        gate_id = await gates.guard(conn, tenant_id, f"queue:{queue_id}", limits)
        await LIMIT.one(
            conn,
            tenant_id=tenant_id,
            queue_id=queue_id,
            gate_id=None if limits is None else gate_id,
        )
