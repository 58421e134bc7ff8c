"""One transaction around several statements. Room: store.

READ COMMITTED, which every connection of ours has: each statement sees what was committed before it
began. Inside another transaction it is a savepoint.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rota.store.driver import Connection
from rota.store.translate import translated


@asynccontextmanager
async def transaction(conn: Connection) -> AsyncIterator[None]:
    """All of the block or nothing of it; what the driver raises at commit is translated too."""
    with translated():
        async with conn.transaction():
            yield


@asynccontextmanager
async def joined(conn: Connection) -> AsyncIterator[None]:
    """The transaction that is open already, or a new one: no savepoint on the hot path (F44)."""
    if conn.is_in_transaction():
        yield
        return
    async with transaction(conn):
        yield
