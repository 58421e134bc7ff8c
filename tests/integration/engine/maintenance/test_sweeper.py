"""Deleted jobs and interned rows that nothing uses are removed, and nothing else is."""

from datetime import timedelta
from itertools import count
from uuid import UUID

import pytest
from tests.support.standing import Standing
from tests.support.world import World

from rota.core.limits import GateLimits
from rota.core.states import JobState, RunState
from rota.engine.maintenance.sweeper import INTERVAL_S, Sweeper
from rota.store import gates, graphs, interning, live_runs
from rota.store.gates import NewGate
from rota.store.live_runs import RunEnding
from rota.store.retention import SWEEPS, sweep_interned

KEEP = timedelta(days=30)
ONCE = '{"at": "2026-07-01T12:00:00Z"}'
CRON = '{"cron": "0 9 * * *"}'


def sweeper(world: World) -> Sweeper:
    hours = count()
    return Sweeper(
        source=Standing(world.conn),
        keep_runs=KEEP,
        keep_deleted_jobs=KEEP,
        monotonic=lambda: next(hours) * 7 * 3600.0,
    )


async def find_jobs(world: World) -> set[UUID]:
    return {row[0] for row in await world.conn.fetch("select j.id from rota.jobs as j")}


async def end_job(world: World, state: JobState, schedule: str = CRON) -> UUID:
    return await world.job(state=state, schedule=schedule, tick_at=None, fire_at=None)


async def test_a_deleted_job_is_removed_once_it_is_too_old(world: World) -> None:
    deleted = await end_job(world, JobState.DELETED)
    kept = await end_job(world, JobState.FINISHED)
    duty = sweeper(world)

    await world.advance(days=29)
    await duty.tick()
    assert await find_jobs(world) == {deleted, kept}

    await world.advance(days=2)
    assert await duty.tick() == INTERVAL_S
    assert await find_jobs(world) == {kept}


async def test_a_deleted_job_stays_as_long_as_a_run_of_it_is_kept(world: World) -> None:
    job_id = await end_job(world, JobState.DELETED)
    session, claimed = await world.running(job_id=job_id)
    duty = sweeper(world)

    await world.advance(days=40)
    await duty.tick()
    assert await find_jobs(world) == {job_id}

    ending = RunEnding(claimed.id, claimed.attempt, RunState.SUCCEEDED)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
    await duty.tick()
    assert await find_jobs(world) == {job_id}

    await world.conn.execute("delete from rota.runs")
    await duty.tick()
    assert await find_jobs(world) == set()


async def test_a_one_time_job_that_ended_is_removed_with_its_last_run(world: World) -> None:
    once = await end_job(world, JobState.FINISHED, ONCE)
    active = await world.job(schedule=ONCE, tick_at=world.now + timedelta(days=90))

    await world.advance(days=31)
    await sweeper(world).tick()

    assert once not in await find_jobs(world)
    assert active in await find_jobs(world)


async def make_unused(world: World, relation: str) -> int:
    """Return the id of a new interned row that nothing uses."""
    match relation:
        case "kinds":
            return await interning.intern_kind(world.conn, "spare")
        case "queues":
            found = await interning.intern_tenant_queues(world.conn, [(1, "spare")])
            return found[1, "spare"]
        case "policies":
            return await interning.intern_policy(world.conn, '{"timeout": "PT1S"}')
        case "schedules":
            return await interning.intern_schedule(world.conn, CRON)
        case "graphs":
            found_graphs = await graphs.intern_definitions(world.conn, 1, ['{"steps": []}'])
            return next(iter(found_graphs.values()))
        case _:
            made = await gates.put_gates(
                world.conn, [NewGate(1, "spare", GateLimits(max_running=1))]
            )
            return made[1, "spare"]


async def is_there(world: World, relation: str, id_: int) -> bool:
    found = await world.conn.fetchval(f"select 1 from rota.{relation} where id = $1", id_)
    return found is not None


@pytest.mark.parametrize("relation", SWEEPS)
async def test_an_interned_row_is_deleted_after_it_was_unused_for_long(
    world: World, relation: str
) -> None:
    id_ = await make_unused(world, relation)
    duty = sweeper(world)

    await duty.tick()
    await world.advance(days=32)
    await duty.tick()
    assert await is_there(world, relation, id_)

    await world.advance(days=2)
    await duty.tick()
    assert not await is_there(world, relation, id_)
    assert await make_unused(world, relation) != id_


@pytest.mark.parametrize("relation", SWEEPS)
async def test_an_interned_row_that_is_asked_for_again_is_kept(world: World, relation: str) -> None:
    id_ = await make_unused(world, relation)
    duty = sweeper(world)
    await duty.tick()
    await world.advance(days=20)

    assert await make_unused(world, relation) == id_
    await duty.tick()
    await world.advance(days=20)
    await duty.tick()

    assert await is_there(world, relation, id_)


async def test_what_a_waiting_run_uses_is_kept(world: World) -> None:
    policy_id = await interning.intern_policy(world.conn, '{"timeout": "PT1S"}')
    kind_id = await interning.intern_kind(world.conn, "rare")
    queue_id = await interning.intern_queue(world.conn, "rare")
    made = await gates.put_gates(world.conn, [NewGate(1, "rare", GateLimits(max_running=1))])
    gate_id = made[1, "rare"]
    await world.run(policy_id=policy_id, kind_id=kind_id, queue_id=queue_id, gates=(gate_id,))
    duty = sweeper(world)

    for _ in range(3):
        await duty.tick()
        await world.advance(days=40)

    assert await is_there(world, "policies", policy_id)
    assert await is_there(world, "kinds", kind_id)
    assert await is_there(world, "queues", queue_id)
    assert await is_there(world, "gates", gate_id)


async def test_a_queue_with_a_pause_is_kept(world: World) -> None:
    queue_id = await interning.intern_queue(world.conn, "paused")
    await gates.pause_queue(world.conn, queue_id, by="ann")
    duty = sweeper(world)

    for _ in range(3):
        await duty.tick()
        await world.advance(days=40)

    assert await is_there(world, "queues", queue_id)


async def test_a_pass_deletes_at_most_so_many(world: World) -> None:
    for number in range(5):
        await interning.intern_policy(world.conn, f'{{"timeout": "PT{number + 1}S"}}')
    await sweep_interned(world.conn, "policies", before=world.now, limit=2)
    await world.advance(days=1)

    numbers = [
        await sweep_interned(world.conn, "policies", before=world.now, limit=2) for _ in range(4)
    ]

    # The world's own policy is unused, too.
    assert numbers == [2, 2, 2, 0]
