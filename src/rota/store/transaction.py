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
