from collections.abc import AsyncIterator

import asyncpg
import pytest
from tests.support.relaying import Ledger, build_relay, make_ledger
from tests.support.world import World

from rota.engine.relay.relay import Relay
from rota.store.driver import Connection


@pytest.fixture
async def ledger(world: World) -> Ledger:
    await make_ledger(world.conn)
    return Ledger()


@pytest.fixture
async def relay(world: World, ledger: Ledger) -> Relay:
    """A relay that has begun to read."""
    relay = build_relay(world, ledger)
    await relay.tick()
    return relay


@pytest.fixture
async def other(database: str, world: World) -> AsyncIterator[Connection]:
    """A second connection; `rota.now` must be set before it writes."""
    conn = await asyncpg.connect(database)
    await conn.execute("select set_config('rota.now', $1, false)", world.now.isoformat())
    yield conn
    await conn.close()
