"""A node that dies while it goes on with a backfill has done nothing, or all of it (S13)."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.past import Past, hours
from tests.support.shop import until
from tests.support.world import World

from rota.core.backfills import BackfillState
from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.engine.submission.backfills.advancer import BackfillPass, advance_oldest
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, open_connection

# A node of which only the duty of backfills is there; it looks once.
NODE = """
import asyncio, sys
from rota.engine.submission.backfills.advancer import advance_oldest
from rota.store.pool import DatabaseAccess, open_connection

async def main():
    async with open_connection(DatabaseAccess(url=sys.argv[1])) as conn:
        await advance_oldest(conn)

asyncio.run(main())
"""
# A process that is started on a busy machine takes its time.
PATIENCE = 60.0
# What a look waits for if somebody else holds it, in the order of its statements. The fourth is the
# note that it would write after it has made the runs, half written by another.
POINTS = {
    "before it sees what ended": "lock table rota.backfill_runs in exclusive mode",
    "before it knows the job": "select 1 from rota.jobs for update",
    "before it makes runs": "lock table rota.live_runs in share row exclusive mode",
    "before it notes the runs it made": (
        "insert into rota.backfill_runs select id, $1, tenant_id from rota.backfills"
    ),
    "before it notes how far it came": "lock table rota.backfills in share row exclusive mode",
}


@asynccontextmanager
async def held_up(conn: Connection, point: str, *arguments: object) -> AsyncIterator[None]:
    """What somebody else does who is not done yet, and never will be."""
    transaction = conn.transaction()
    await transaction.start()  # type: ignore[attr-defined]
    await conn.execute(POINTS[point], *arguments)
    yield
    await transaction.rollback()  # type: ignore[attr-defined]


async def stuck(conn: Connection) -> bool:
    """Whether somebody waits for a lock in this database."""
    return bool(
        await conn.fetchval(
            "select count(*) from pg_stat_activity"
            " where datname = current_database() and wait_event_type = 'Lock'"
        )
    )


async def killed_at(point: str, past: Past, database: str, *arguments: object) -> None:
    """A node begins to look, comes to this point, and is killed."""
    async with (
        open_connection(DatabaseAccess(url=database)) as other,
        held_up(other, point, *arguments),
    ):
        node = await asyncio.to_thread(subprocess.Popen, [sys.executable, "-c", NODE, database])
        try:
            await until(lambda: stuck(past.world.conn), patience=PATIENCE)
        finally:
            node.kill()
            await asyncio.to_thread(node.wait)


async def looked_at_last(past: Past) -> BackfillPass:
    """The next look, once the database knows that the node is gone."""

    async def try_it() -> BackfillPass | None:
        await past.world.advance(seconds=60)
        return await advance_oldest(past.world.conn)

    return await until(try_it)


async def test_a_node_killed_at_any_point_of_a_look_makes_nothing_twice_and_loses_nothing(
    world: World, database: str
) -> None:
    past = await Past.begin(world)
    id_ = await past.backfill(hours=600)

    for point, statement in POINTS.items():
        before = (await past.row(id_), await past.made())
        upcoming = next(at for at in hours(600, 1) if at >= before[0].reached)
        arguments = (derive_tick_run_id(past.job_id, upcoming),) if "$1" in statement else ()
        await killed_at(point, past, database, *arguments)
        await until(lambda: nobody_else(world.conn), patience=PATIENCE)
        after = (await past.row(id_), await past.made())
        assert after == before, point
        await looked_at_last(past)
        await past.end_all(RunState.SUCCEEDED)
    await past.work()

    row = await past.row(id_)
    assert await past.made() == hours(600, 1)
    assert row.state is BackfillState.FINISHED
    assert (row.made, row.succeeded) == (600, 600)
    assert await world.count("backfill_runs") == 0


async def nobody_else(conn: Connection) -> bool:
    """Whether the killed node's connection is gone."""
    return not await conn.fetchval(
        "select count(*) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
        " and backend_type = 'client backend'"
    )


async def test_nodes_that_look_at_the_same_time_share_the_work(world: World, database: str) -> None:
    past = await Past.begin(world)
    id_ = await past.backfill(hours=200, at_once=1_000)

    async def node() -> int:
        async with open_connection(DatabaseAccess(url=database)) as conn:
            looks = [await advance_oldest(conn) for _ in range(5)]
            return sum(each.new_runs for each in looks if each is not None)

    made = await asyncio.gather(*(node() for _ in range(4)))

    assert sum(made) == 200
    assert (await past.row(id_)).made == 200
    assert await past.made() == hours(200, 1)
