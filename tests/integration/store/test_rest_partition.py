"""A row that is written while the partition of its day is made is written again (O7)."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from tests.support.shop import until
from tests.support.world import NOON, World

from rota.core.errors import StoreUnavailable
from rota.core.ids import build_id
from rota.store import logs
from rota.store.driver import Connection
from rota.store.logs import LogPiece
from rota.store.partitions import create_ahead

WAITING = "select count(*) from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'"
PIECE = LogPiece(build_id(NOON, bytes(10)), 1, 0, 1, NOON, b"hello\n")


@pytest.fixture
async def maker(database: str) -> AsyncIterator[Connection]:
    conn = await asyncpg.connect(database)
    yield conn
    await conn.close()


async def test_it_is_asked_to_come_again_and_finds_its_day(
    world: World, maker: Connection, conn: Connection
) -> None:
    pid = await conn.fetchval("select pg_backend_pid()")
    # A statement that has begun keeps to the partitions that it knew.
    async with maker.transaction():
        await create_ahead(maker, today=NOON.date(), ahead=0)
        writing = asyncio.ensure_future(logs.append_pieces(conn, [PIECE]))
        await until(lambda: maker.fetchval(WAITING, pid))

    with pytest.raises(StoreUnavailable, match="partition constraint"):
        await writing
    await logs.append_pieces(conn, [PIECE])

    assert [line.chunk for line in await logs.read_lines(conn, PIECE.run_id)] == [b"hello\n"]
