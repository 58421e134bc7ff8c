"""Everything Rota asks of idempotency keys. Room: store."""

from datetime import timedelta
from typing import NamedTuple

from rota.store.driver import Connection
from rota.store.statement import statement


class Pruned(NamedTuple):
    tenant_id: int


PRUNE = statement("idempotency/prune", Pruned)


async def prune(conn: Connection, *, keep: timedelta, most: int) -> int:
    """Forget keys older than `keep`, at most so many; return how many they were."""
    return len(await PRUNE.all(conn, keep=keep, most=most))
