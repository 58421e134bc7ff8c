"""A transaction translates what the driver raises, and nothing of what its caller does."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import asyncpg
import pytest
from tests.support.world import World

from rota.core.errors import StoreFailed, StoreUnavailable
from rota.store import interning
from rota.store.driver import Connection
from rota.store.error_translation import translate_errors
from rota.store.pool import DatabaseAccess, open_connection, open_pool
from rota.store.transaction import join_transaction, transaction

DEFERRED = """
create table parent (id integer primary key);
create table child (id integer references parent deferrable initially deferred)
"""


Begin = Callable[[Connection], AbstractAsyncContextManager[None]]


class Mine(Exception):
    """An error of the caller's."""


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError("/no/such/file"),
        TimeoutError("mine"),
        ConnectionRefusedError("somebody else's server"),
        asyncpg.InterfaceError("somebody else's connection is closed"),
        asyncio.CancelledError(),
        Mine(),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("begin", [transaction, join_transaction])
async def test_an_error_of_the_caller_comes_out_as_it_is(
    world: World, error: BaseException, begin: Begin
) -> None:
    async def fail() -> None:
        async with begin(world.conn):
            await interning.intern_queue(world.conn, "undone")
            raise error

    with pytest.raises(type(error)) as raised:
        await fail()

    assert raised.value is error
    count = "select count(*) from rota.queues where name = 'undone'"
    assert await world.conn.fetchval(count) == 0


async def test_what_the_server_refuses_at_commit_is_translated(database: str) -> None:
    async with open_connection(DatabaseAccess(url=database)) as conn:
        await conn.execute(DEFERRED)

        async def commit() -> None:
            async with transaction(conn):
                await conn.execute("insert into child values (1)")

        with pytest.raises(StoreFailed, match="23503"):
            await commit()


async def test_an_error_of_the_caller_is_told_even_if_the_rollback_fails(database: str) -> None:
    async def fail() -> None:
        async with transaction(conn):
            conn.terminate()
            raise Mine

    async with open_connection(DatabaseAccess(url=database)) as conn:
        with pytest.raises(Mine):
            await fail()
    async with open_pool(DatabaseAccess(url=database), size=1) as pool, pool.acquire() as conn:
        with pytest.raises(Mine):
            await fail()


async def test_a_connection_that_is_gone_is_unavailable(database: str) -> None:
    async def begin(within: Begin) -> None:
        async with within(conn):
            pass

    async with open_connection(DatabaseAccess(url=database)) as conn:
        conn.terminate()
        for within in (transaction, join_transaction):
            with pytest.raises(StoreUnavailable):
                await begin(within)
        with pytest.raises(StoreUnavailable):
            await interning.intern_queue(conn, "mail")
    async with open_pool(DatabaseAccess(url=database), size=1) as pool, pool.acquire() as conn:
        conn.terminate()
        for within in (transaction, join_transaction):
            with pytest.raises(StoreUnavailable):
                await begin(within)
        with pytest.raises(StoreUnavailable):
            await interning.intern_queue(conn, "mail")


async def test_a_mistake_in_the_use_of_a_connection_is_no_outage(database: str) -> None:
    async with open_connection(DatabaseAccess(url=database)) as conn:
        first = asyncio.create_task(conn.fetchval("select pg_sleep(60)"))
        second = asyncio.create_task(ask(conn))
        with pytest.raises(asyncpg.InterfaceError, match="another operation"):
            await second
        first.cancel()
        await asyncio.wait({first})


async def ask(conn: Connection) -> None:
    with translate_errors(conn):
        await conn.fetchval("select 1")
