"""Run now: past the schedule, but not past the overlap policy (S8, E4)."""

import asyncio
import json
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from tests.support.world import World

from rota.core.errors import InvalidInput, NotFound
from rota.core.ids import derive_tick_run_id
from rota.core.limits import JobLimit
from rota.core.overlap import Overlap
from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.submission.job_changes import delete_job, pause_job
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import TriggeredRun, run_now
from rota.store import cursors
from rota.store.cursors import TickFiring

S = RunState


async def a_job(world: World, **given: object) -> UUID:
    spec = JobSpec(name="report", kind="noop", **given)  # type: ignore[arg-type]
    (made,) = await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def trigger(
    world: World, job_id: UUID, *, overlap: Overlap | None = None, **given: object
) -> TriggeredRun:
    spec = RunSpec(job_id=job_id, **given)  # type: ignore[arg-type]
    return await run_now(world.conn, spec, now=world.now, new_id=world.new_id, overlap=overlap)


async def test_a_run_of_any_job_can_be_asked_for(world: World) -> None:
    job_id = await a_job(world, schedule={"cron": "0 0 1 1 *"}, payload={"n": 1})

    asked = await trigger(world, job_id, payload={"n": 2}, priority=1)

    row = await world.conn.fetchrow(
        "select id, trigger, priority, payload, due_at, job_version from rota.live_runs"
    )
    assert row is not None
    assert tuple(row) == (asked.run_id, "manual", 1, '{"n": 2}', world.now, 2)
    assert asked.refused is None


async def test_a_paused_job_can_still_be_run_by_hand(world: World) -> None:
    job_id = await a_job(world, schedule={"every": "1m"})
    await pause_job(world.conn, job_id, by="ana", now=world.now)

    asked = await trigger(world, job_id)

    assert asked.refused is None


async def test_skip_refuses_a_second_run_and_says_so_in_its_history(world: World) -> None:
    job_id = await a_job(world)
    first = await trigger(world, job_id)

    second = await trigger(world, job_id, payload={"n": 2})
    forced = await trigger(world, job_id, overlap=Overlap.ALLOW)

    assert (first.refused, second.refused, forced.refused) == (None, "overlap", None)
    told = await world.get(second.run_id)
    assert told.state is S.SKIPPED
    assert json.loads(told.reason or "") == {"code": "overlap"}


async def test_queue_one_keeps_the_newest_of_those_that_wait(world: World) -> None:
    job_id = await a_job(world, overlap=Overlap.QUEUE_ONE)
    older = await trigger(world, job_id)

    newer = await trigger(world, job_id)

    told = await world.get(older.run_id)
    assert told.state is S.SKIPPED
    assert json.loads(told.reason or "") == {"code": "overlap", "into": str(newer.run_id)}
    assert (await world.get(newer.run_id)).state is S.QUEUED


async def test_cancel_running_asks_the_one_that_runs_to_stop(world: World) -> None:
    job_id = await a_job(world, overlap=Overlap.CANCEL_RUNNING)
    older = await trigger(world, job_id)
    await world.conn.execute(
        "update rota.live_runs set state = 'running', session_id = $1", await world.session()
    )

    newer = await trigger(world, job_id)

    assert (await world.get(older.run_id)).state is S.CANCELLING
    assert (await world.get(newer.run_id)).state is S.QUEUED


async def test_terminate_running_fences_the_one_that_runs_off(world: World) -> None:
    job_id = await a_job(world, overlap=Overlap.TERMINATE_RUNNING)
    older = await trigger(world, job_id)
    (run,) = await world.claim(await world.session())

    newer = await trigger(world, job_id)

    assert run.id == older.run_id
    assert (await world.get(older.run_id)).state is S.CANCELLED
    assert (await world.get(newer.run_id)).state is S.QUEUED


async def test_many_who_ask_at_once_get_one_run(world: World, database: str) -> None:
    """E4: with the policy skip, whatever the interleaving."""
    job_id = await a_job(world, schedule={"every": "1m"})
    conns = [await asyncpg.connect(database) for _ in range(6)]
    worlds = [await World(conn).begin() for conn in conns]
    ids = [world.new_id() for _ in conns]

    asked = await asyncio.gather(
        *(trigger(each, job_id, id=id_) for each, id_ in zip(worlds, ids, strict=True))
    )

    assert sorted(one.refused or "" for one in asked) == [""] + ["overlap"] * 5
    assert await world.count("live_runs") == 1
    for conn in conns:
        await conn.close()


async def test_a_tick_that_is_decided_meanwhile_sees_the_run_that_was_asked_for(
    world: World, database: str
) -> None:
    """E4, F13: the tick's statement began before the run was committed, and waits for it."""
    job_id = await a_job(world, schedule={"every": "1m"})
    await world.advance(minutes=1)
    ownership = await world.own()
    (due,) = await world.due()
    other = await asyncpg.connect(database)
    rival = await World(other).begin()
    await rival.move_to(world.now)
    firing = TickFiring(
        due, derive_tick_run_id(job_id, due.tick_at), due.tick_at + timedelta(minutes=1), None
    )

    async with world.conn.transaction():
        await trigger(world, job_id)
        fire = asyncio.ensure_future(cursors.fire_ticks(rival.conn, ownership, [firing]))
        await until_waiting(database)
    refused = await fire
    (again,) = await world.due()
    decided = await cursors.fire_ticks(rival.conn, ownership, [firing._replace(due=again)])

    assert refused == []
    assert [one.is_skipped for one in decided] == [True]
    assert await world.count("live_runs") == 1
    await other.close()


async def until_waiting(database: str) -> None:
    """Until some connection waits for a lock of another."""
    watcher = await asyncpg.connect(database)
    try:
        async with asyncio.timeout(10):
            while not await watcher.fetchval(
                "select exists (select 1 from pg_locks where not granted)"
            ):
                pass
    finally:
        await watcher.close()


async def test_the_gates_are_those_of_the_payload_that_was_given(world: World) -> None:
    limits = (JobLimit(key="customer:{args.id}", max_running=1),)
    job_id = await a_job(world, limits=limits, payload={"id": 1}, overlap=Overlap.ALLOW)

    await trigger(world, job_id)
    await trigger(world, job_id, payload={"id": 2})
    with pytest.raises(InvalidInput):
        await trigger(world, job_id, payload={"other": 2})

    rows = await world.conn.fetch("select key from rota.gates order by key")
    assert [row[0] for row in rows] == ["key:customer:1", "key:customer:2"]
    assert await world.count("live_runs") == 2


async def test_a_deleted_job_is_not_found(world: World) -> None:
    job_id = await a_job(world)
    await delete_job(world.conn, job_id, by="ana")

    with pytest.raises(NotFound):
        await trigger(world, job_id)
