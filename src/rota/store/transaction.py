"""One transaction around several statements. Room: store.

READ COMMITTED, which every connection of ours has: each statement sees what was committed before it
began. Inside another transaction it is a savepoint.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from rota.core.errors import RotaError
from rota.store.driver import Connection
from rota.store.translate import translated


@asynccontextmanager
async def transaction(conn: Connection) -> AsyncIterator[None]:
    """Commit all of the block, or nothing of it.

    Only what the driver raises at begin and commit is translated. An error of the block comes out
    as it is; if the rollback fails too, the connection is gone and its transaction with it.
    """
    with translated(conn):
        block = conn.transaction()
        await block.__aenter__()
    try:
        yield
    except BaseException:
        with suppress(RotaError), translated(conn):
            await block.__aexit__(*sys.exc_info())
        raise
    with translated(conn):
        await block.__aexit__(None, None, None)


@asynccontextmanager
async def joined(conn: Connection) -> AsyncIterator[None]:
    """The transaction that is open already, or a new one: no savepoint on the hot path (F44)."""
    with translated(conn):
        is_open = conn.is_in_transaction()
    if is_open:
        yield
        return
    async with transaction(conn):
        yield
