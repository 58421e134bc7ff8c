"""A warning before a deadline is missed, from the history of the job."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.watching import Incident, WatchDesk
from tests.support.world import World

from rota.core.ids import derive_tick_run_id

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
TICK = datetime(2026, 7, 2, 2, 30, tzinfo=UTC)


@pytest.fixture
async def desk(world: World) -> WatchDesk:
    return await WatchDesk(world, has_defaults=False).begin()


async def add_history(desk: WatchDesk, *, days: int, length: timedelta) -> None:
    """A nightly job that took about as long every night."""
    world = desk.world
    job_id = await desk.add_job(
        "report",
        {"cron": "30 2 * * *"},
        expect={"finish_by": "+PT2H", "at_risk": {"probability": "20%"}},
    )
    for number in range(1, days + 1):
        tick = TICK - number * DAY
        await world.conn.execute(
            """
            insert into rota.runs (
                id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id,
                queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
                attempt
            )
            values ($1, $2, $3, $3, $3, $3, $4, 1, $5, $6, $7, 1, 'succeeded', 'running', 'tick',
                5, 1)
            """,
            derive_tick_run_id(job_id, tick),
            job_id,
            tick,
            tick + length + (number % 7) * MINUTE,
            world.queue_id,
            world.kind_id,
            world.policy_id,
        )
    await desk.sync()


async def start_late(desk: WatchDesk, wait: timedelta) -> None:
    """Start tonight's run late, and look for some minutes."""
    await desk.world.move_to(TICK)
    (run_id,) = await desk.fire()
    await desk.world.move_to(TICK + wait)
    await desk.start_run(run_id)
    for _ in range(5):
        await desk.world.advance(minutes=4)
        await desk.check()


async def test_a_run_that_will_probably_be_late_is_an_incident_before_it_is(
    desk: WatchDesk,
) -> None:
    await add_history(desk, days=30, length=60 * MINUTE)

    await start_late(desk, 80 * MINUTE)

    assert await desk.incidents() == [Incident("at_risk", "report", "open", 1)]
    assert "will probably not succeed by 2026-07-02 04:30 UTC" in (await desk.titles())[0]

    # The deadline decides: the warning ends, and the run is late.
    await desk.world.move_to(TICK + 120 * MINUTE + timedelta(seconds=1))
    await desk.check()
    assert await desk.open_conditions() == ["finish_by"]


async def test_a_run_that_has_enough_time_is_no_incident(desk: WatchDesk) -> None:
    await add_history(desk, days=30, length=60 * MINUTE)

    await start_late(desk, 10 * MINUTE)

    assert await desk.incidents() == []


async def test_too_little_history_warns_of_nothing(desk: WatchDesk) -> None:
    await add_history(desk, days=5, length=60 * MINUTE)

    await start_late(desk, 80 * MINUTE)

    assert await desk.incidents() == []
