"""The databases that `rota bench` makes, and what `rota bench failover` reads (P7)."""

import json
from datetime import timedelta
from uuid import uuid4

import asyncpg
from tests.support.shop import until
from tests.support.world import NOON, World

from rota.core.states import RunState
from rota.store import live_runs
from rota.store.embedded import Embedded
from rota.store.live_runs import RunEnding
from rota_bench import database
from rota_bench.database import RestartCounts, ShardShares

SECOND = timedelta(seconds=1)
# One page a tenth of a second: the vacuum of this table lasts far longer than the test.
VACUUMED = """
create table dead (n integer) with (
    autovacuum_vacuum_threshold = 1,
    autovacuum_vacuum_cost_delay = 100,
    autovacuum_vacuum_cost_limit = 1
);
insert into dead select generate_series(1, 200000);
delete from dead
"""
VACUUM_OF = "select pid from pg_stat_progress_vacuum where datname = $1"


async def test_restarts_are_counted_by_tick_by_attempt_and_by_the_last_start(world: World) -> None:
    job = world.new_id()
    session = await world.session()
    for number in range(3):
        # Two of one tick, and one of another: the second is one too many.
        await world.run(job_id=job, scheduled_at=NOON - SECOND * (number // 2))
    taken = await world.claim(session)
    running = await database.count_running(world.conn, kind_id=world.kind_id)
    endings = [
        RunEnding(run.id, run.attempt, RunState.SUCCEEDED, result=json.dumps(1000 + number))
        for number, run in enumerate(taken)
    ]
    await live_runs.finish_runs(world.conn, session_id=session, endings=endings)

    found = await database.read_restarts(
        world.conn, kind_id=world.kind_id, since=NOON, until=NOON + SECOND
    )
    none = await database.read_restarts(
        world.conn, kind_id=world.kind_id, since=NOON - SECOND, until=NOON
    )

    assert found == RestartCounts(3, 2, 3, 1002)
    assert none == RestartCounts(0, 0, 0, None)
    assert (running, await database.count_running(world.conn, kind_id=world.kind_id)) == (3, 0)


async def test_the_shares_of_schedulers_are_told_by_the_smallest(world: World) -> None:
    nobody = await database.read_shard_shares(world.conn)
    await world.own(*range(100))
    await world.own(*range(100, 128))

    assert nobody == ShardShares(0, 0)
    assert await database.read_shard_shares(world.conn) == ShardShares(2, 28)


async def test_a_login_without_privileges_drops_a_database_that_autovacuum_works_in(
    server: Embedded,
) -> None:
    """The login may not terminate the autovacuum worker, which belongs to the superuser."""
    name = f"vacuumed_{uuid4().hex}"
    admin = await asyncpg.connect(server.url)
    try:
        await admin.execute(f"create role {name} login createdb password '{name}'")
        conn = await asyncpg.connect(server.url, user=name, password=name)
        await database.create_database(conn, name)
        url = database.with_database(server.url, name)
        other = await asyncpg.connect(url, user=name, password=name)
        await other.execute(VACUUMED)
        await other.close()
        await until(lambda: admin.fetchval(VACUUM_OF, name))

        await database.drop_database(conn, name)

        await conn.close()
        await admin.execute(f"drop role {name}")
        left = await admin.fetchval("select count(*) from pg_database where datname = $1", name)
        assert left == 0
    finally:
        await admin.close()
