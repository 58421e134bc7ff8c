"""What `rota bench failover` reads from the database (P7)."""

import json
from datetime import timedelta

from tests.support.world import NOON, World

from rota.core.states import RunState
from rota.store import benchmark, live_runs
from rota.store.benchmark import Restarts, Shares
from rota.store.live_runs import Ending

SECOND = timedelta(seconds=1)


async def test_restarts_are_counted_by_tick_by_attempt_and_by_the_last_start(world: World) -> None:
    job = world.new_id()
    session = await world.session()
    for number in range(3):
        # Two of one tick, and one of another: the second is one too many.
        await world.run(job_id=job, scheduled_at=NOON - SECOND * (number // 2))
    taken = await world.claim(session)
    running = await benchmark.running(world.conn, kind_id=world.kind_id)
    endings = [
        Ending(run.id, run.attempt, RunState.SUCCEEDED, result=json.dumps(1000 + number))
        for number, run in enumerate(taken)
    ]
    await live_runs.finish(world.conn, session_id=session, endings=endings)

    found = await benchmark.restarts(
        world.conn, kind_id=world.kind_id, since=NOON, until=NOON + SECOND
    )
    none = await benchmark.restarts(
        world.conn, kind_id=world.kind_id, since=NOON - SECOND, until=NOON
    )

    assert found == Restarts(3, 2, 3, 1002)
    assert none == Restarts(0, 0, 0, None)
    assert (running, await benchmark.running(world.conn, kind_id=world.kind_id)) == (3, 0)


async def test_the_shares_of_schedulers_are_told_by_the_smallest(world: World) -> None:
    nobody = await benchmark.shares(world.conn)
    await world.own(*range(100))
    await world.own(*range(100, 128))

    assert nobody == Shares(0, 0)
    assert await benchmark.shares(world.conn) == Shares(2, 28)
