"""Runs several statements in one transaction.

Every connection uses READ COMMITTED: each statement sees what was committed before it began. Inside
another transaction, `transaction` is a savepoint.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from rota.core.errors import RotaError
from rota.store.driver import Connection
from rota.store.error_translation import translate_errors


@asynccontextmanager
async def transaction(conn: Connection) -> AsyncIterator[None]:
    """Commit the whole block, or none of it.

    Only driver errors at begin and commit are translated. An error of the block passes unchanged;
    if the rollback fails too, the connection is lost and its transaction with it.
    """
    with translate_errors(conn):
        block = conn.transaction()
        await block.__aenter__()
    try:
        yield
    except BaseException:
        with suppress(RotaError), translate_errors(conn):
            await block.__aexit__(*sys.exc_info())
        raise
    with translate_errors(conn):
        await block.__aexit__(None, None, None)


@asynccontextmanager
async def join_transaction(conn: Connection) -> AsyncIterator[None]:
    """Join the open transaction, or begin one. Avoids a savepoint on the hot path (F44)."""
    with translate_errors(conn):
        is_open = conn.is_in_transaction()
    if is_open:
        yield
        return
    async with transaction(conn):
        yield
