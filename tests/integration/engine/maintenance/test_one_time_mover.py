"""One-time jobs of an earlier release become submissions; everything else stays a job."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.support.shop import until
from tests.support.standing import Standing
from tests.support.world import World

from rota.core.ids import derive_tick_run_id
from rota.core.states import JobState, RunState
from rota.engine.maintenance.cleanup import FIRST_ID, ONE_TIME_ROUND_INTERVAL_S, OneTimeJobMover
from rota.store import live_runs, uniqueness_keys
from rota.store.live_runs import RunEnding
from rota.store.uniqueness_keys import UniqueKeyHolder, UniqueKeyRequest

ONCE = (
    '{"at": "2026-07-02T12:00:00Z", "timezone": "UTC", "jitter": null,'
    ' "window": {"start": null, "end": null, "max_runs": null},'
    ' "misfire": {"on_outage": "once", "on_resume": "skip", "on_edit": "skip",'
    ' "start_deadline": null, "max_catchup": 100, "pace": null, "late_after": "PT1M"}}'
)
STRICT = ONCE.replace('"start_deadline": null', '"start_deadline": "PT5M"')
BOUNDED = ONCE.replace('"max_runs": null', '"max_runs": 1')
TOMORROW = timedelta(days=1)


async def move_all(world: World) -> None:
    """Move the jobs that are there, as if the previous release had made them."""
    await world.conn.execute("update rota.jobs set defined_since = null")
    await move(world)


async def move(world: World) -> None:
    mover = OneTimeJobMover(source=Standing(world.conn))
    while await mover.tick() != ONE_TIME_ROUND_INTERVAL_S:
        pass


async def find_jobs(world: World) -> set[UUID]:
    return {row[0] for row in await world.conn.fetch("select j.id from rota.jobs as j")}


async def make_future(world: World, **given: object) -> UUID:
    at = world.now + TOMORROW
    usual: dict[str, object] = {"schedule": ONCE, "tick_at": at, "fire_at": at}
    return await world.job(**(usual | given))


async def end_only_run(world: World, job_id: UUID, **given: object) -> UUID:
    session, claimed = await world.running(job_id=job_id, **given)
    ending = RunEnding(claimed.id, claimed.attempt, RunState.DEAD)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
    return claimed.id


async def test_a_job_whose_instant_lies_ahead_waits_as_a_submission(world: World) -> None:
    job_id = await make_future(
        world, name="pay", payload='{"n": 1}', labels='{"team": "a"}', user_id="u1", priority=2
    )

    await move_all(world)

    assert await find_jobs(world) == set()
    assert await world.count("cursors") == 0
    row: Any = await world.conn.fetchrow("select * from rota.scheduled_runs")
    assert row["id"] == derive_tick_run_id(job_id, world.now + TOMORROW)
    assert (row["job_id"], row["due_at"]) == (job_id, world.now + TOMORROW)
    assert (row["name"], row["payload"], row["labels"]) == ("pay", '{"n": 1}', '{"team": "a"}')
    assert (row["user_id"], row["priority"]) == ("u1", 2)


async def test_a_job_that_has_run_becomes_what_its_run_says(world: World) -> None:
    job_id = await world.job(
        state=JobState.FINISHED, schedule=ONCE, tick_at=None, fire_at=None, name="pay",
        payload='{"n": 1}', labels='{"team": "a"}', user_id="u1",
    )  # fmt: skip
    run_id = await end_only_run(world, job_id)

    await move_all(world)

    assert await find_jobs(world) == set()
    row: Any = await world.conn.fetchrow("select * from rota.runs")
    assert (row["id"], row["job_id"]) == (run_id, job_id)
    assert (row["name"], row["payload"], row["labels"]) == ("pay", '{"n": 1}', '{"team": "a"}')
    assert row["user_id"] == "u1"


async def test_a_run_with_a_payload_of_its_own_keeps_it(world: World) -> None:
    job_id = await world.job(
        state=JobState.FINISHED, schedule=ONCE, tick_at=None, fire_at=None, payload='{"n": 1}'
    )
    await end_only_run(world, job_id, payload='{"n": 2}')

    await move_all(world)

    assert await world.conn.fetchval("select payload from rota.runs") == '{"n": 2}'


@pytest.mark.parametrize(
    ("name", "expected"),
    [("noop 0badcafe", None), ("noop 20260701", "noop 20260701"), ("pay 0badcafe", "pay 0badcafe")],
)
async def test_only_a_name_that_rota_made_up_is_dropped(
    world: World, name: str, expected: str | None
) -> None:
    await make_future(world, name=name)

    await move_all(world)

    assert await world.conn.fetchval("select name from rota.scheduled_runs") == expected


async def test_a_job_with_a_living_run_is_left_alone_until_the_run_has_ended(world: World) -> None:
    job_id = await world.job(
        state=JobState.FINISHED, schedule=ONCE, tick_at=None, fire_at=None, payload="1"
    )
    session, claimed = await world.running(job_id=job_id)

    await move_all(world)
    assert await find_jobs(world) == {job_id}

    ending = RunEnding(claimed.id, claimed.attempt, RunState.SUCCEEDED)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
    await move_all(world)
    assert await find_jobs(world) == set()


async def test_a_job_that_somebody_ran_before_its_instant_is_left_alone(world: World) -> None:
    job_id = await make_future(world, payload="1")
    await end_only_run(world, job_id)

    await move_all(world)

    assert await find_jobs(world) == {job_id}


async def test_a_job_whose_run_is_being_replayed_is_left_alone(world: World, database: str) -> None:
    """The previous release brings a run back without the payload of its job."""
    job_id = await world.job(
        state=JobState.FINISHED, schedule=ONCE, tick_at=None, fire_at=None, payload="1"
    )
    run_id = await end_only_run(world, job_id)
    await world.conn.execute("update rota.jobs set defined_since = null")
    other = await asyncpg.connect(database)

    async def is_waiting() -> bool:
        pids = await world.conn.fetchval("select pg_blocking_pids($1)", other.get_server_pid())
        return bool(pids)

    try:
        async with world.conn.transaction():
            await live_runs.requeue_runs(world.conn, ids=[run_id])
            await world.conn.execute("update rota.live_runs set payload = null")
            moving = asyncio.create_task(OneTimeJobMover(source=Standing(other)).tick())
            await until(is_waiting)
        await moving
    finally:
        await other.close()

    assert await find_jobs(world) == {job_id}


async def test_a_one_time_job_of_this_release_stays_a_job(world: World) -> None:
    job_id = await make_future(world)

    await move(world)

    assert await find_jobs(world) == {job_id}


async def test_what_only_a_job_can_be_stays_a_job(world: World) -> None:
    jobs = {
        await make_future(world, schedule='{"cron": "0 9 * * *"}'),
        await make_future(world, schedule=STRICT),
        await make_future(world, schedule=BOUNDED),
        await make_future(world, graph_id=1),
        await make_future(world, state=JobState.PAUSED),
        await make_future(world, labels='{"rota.project": "shop"}'),
        await make_future(world, labels='{"rota.app": "shop"}'),
        await world.job(schedule='{"on_demand": true}', tick_at=None, fire_at=None),
    }

    await move_all(world)

    assert await find_jobs(world) == jobs


async def test_a_pass_is_bounded_and_may_end_after_any_batch(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rota.engine.maintenance.cleanup.ONE_TIME_BATCH_MAX", 2)
    for _ in range(5):
        await make_future(world)
    await world.conn.execute("update rota.jobs set defined_since = null")
    first = OneTimeJobMover(source=Standing(world.conn))
    await first.tick()
    assert await world.count("scheduled_runs") == 2

    second = OneTimeJobMover(source=Standing(world.conn))
    assert second._after == FIRST_ID
    while await second.tick() != ONE_TIME_ROUND_INTERVAL_S:
        pass

    assert await world.count("scheduled_runs") == 5
    assert await find_jobs(world) == set()


async def test_a_unique_key_is_held_until_the_moved_submission_has_run(world: World) -> None:
    job_id = await make_future(world)
    wish = UniqueKeyRequest(1, b"0" * 16, job_id, None, timedelta(0))
    await uniqueness_keys.take_key(world.conn, wish)

    await move_all(world)
    await world.advance(hours=1)

    assert await uniqueness_keys.prune_keys(world.conn, limit=10) == 0
    found = await uniqueness_keys.read_standing(
        world.conn, UniqueKeyHolder(job_id, None, is_held=False), tenant_id=1
    )
    assert found.waits
