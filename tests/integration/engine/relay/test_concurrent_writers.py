"""Transactions that overlap, roll back and use savepoints are handed over exactly once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random
from uuid import UUID

import asyncpg
import pytest
from tests.support.relaying import Ledger, make_ledger
from tests.support.standing import Standing

from rota.core.ids import build_id
from rota.engine.relay.relay import Relay
from rota.runtime.clock import SystemClock
from rota.store import interning
from rota.store.driver import Connection

WRITERS = 6
TRANSACTIONS = 12
INSERT = """
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, left_state, trigger, priority
)
select id, id, at, at, at, at, 1, $2, $3, $4, 1, 'dead', 'running', 'tick', 5
from unnest($1::uuid[]) as id, (select rota.now() as at) as clock
"""


@pytest.fixture
async def connections(database: str) -> AsyncIterator[list[Connection]]:
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(WRITERS + 1):
            conn = await asyncpg.connect(database)
            stack.push_async_callback(conn.close)
            opened.append(conn)
        yield opened


async def write(conn: Connection, rng: Random, names: tuple[int, int, int]) -> list[UUID]:
    """Commit runs in transactions of different lengths; return those that were committed."""
    committed: list[UUID] = []
    clock = SystemClock()
    for _ in range(TRANSACTIONS):
        await conn.execute("begin")
        await conn.execute(
            "select pg_current_xact_id(), pg_sleep($1)", rng.choice([0, 0, 0.05, 0.5])
        )
        ids: list[UUID] = []
        for _ in range(rng.randint(1, 3)):
            new = [build_id(clock.now(), rng.randbytes(10)) for _ in range(rng.randint(1, 5))]
            in_savepoint = rng.random() < 0.5
            if in_savepoint:
                await conn.execute("savepoint part")
            await conn.execute(INSERT, new, *names)
            if in_savepoint:
                await conn.execute("release part")
            ids += new
            await conn.execute("select pg_sleep($1)", rng.choice([0, 0.01, 0.1]))
        is_kept = rng.random() < 0.9
        await conn.execute("commit" if is_kept else "rollback")
        committed += ids if is_kept else []
    return committed


async def test_every_committed_run_is_handed_over_exactly_once(
    conn: Connection, connections: list[Connection]
) -> None:
    await make_ledger(conn)
    names = (
        await interning.intern_queue(conn, "default"),
        await interning.intern_kind(conn, "noop"),
        await interning.intern_policy(conn, "{}"),
    )
    own, *others = connections
    ledger = Ledger()
    clock = SystemClock()
    relay = Relay(
        source=Standing(own),
        consumers=[ledger],
        clock=clock,
        emit=lambda _: None,
        owner=UUID(int=1),
        holder="test",
    )
    await relay.tick()
    writing = asyncio.gather(
        *(write(other, Random(number), names) for number, other in enumerate(others))
    )
    while not writing.done():
        await relay.tick()
    committed = [run_id for ids in await writing for run_id in ids]
    await relay.tick()

    handed = Counter(event.run_id for event in ledger.handed)
    assert len(committed) > 200
    assert set(handed) == set(committed)
    assert set(handed.values()) == {1}
