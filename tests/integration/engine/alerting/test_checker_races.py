"""Several schedulers check the same deadlines: each is checked once."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest
from tests.support.standing import WorldClock
from tests.support.watching import WatchDesk
from tests.support.world import NOON, World

from rota.engine.alerting.deadline_checker import DeadlineChecker
from rota.store.driver import Pool

CHECKERS = 3
JOBS = 60
ROUNDS = 8


@pytest.mark.parametrize("condition", [{"start_within": "PT1M"}, {"succeed_every": "PT1H"}])
async def test_a_deadline_that_several_schedulers_check_is_one_incident(
    world: World, database: str, condition: dict[str, str]
) -> None:
    desk = await WatchDesk(world, has_defaults=False).begin()
    for number in range(JOBS):
        await desk.add_job(f"job {number}", {"cron": "0 * * * *"}, expect=condition)
    await desk.sync()
    violations = 0
    for hour in range(1, ROUNDS + 1):
        await world.move_to(NOON + timedelta(hours=hour))
        is_bad = hour % 2 == 1
        fired = await desk.fire()
        if not is_bad:
            for run_id in fired:
                await desk.start_run(run_id)
                await desk.end_run(run_id)
        await world.move_to(NOON + timedelta(hours=hour, minutes=2))
        await desk.read_events()
        await race(world, database)
        violations += JOBS * is_bad

    opened = await world.conn.fetchval(
        "select count(*) from rota.incident_events where type = 'opened'"
    )
    evidence = await world.conn.fetchval("select sum(count) from rota.incidents")
    assert (opened, evidence) == (violations, violations)


async def race(world: World, database: str) -> None:
    async def set_clock(conn: asyncpg.Connection) -> None:
        await conn.execute("select set_config('rota.now', $1, false)", world.now.isoformat())

    pool: Pool = await asyncpg.create_pool(
        database, min_size=CHECKERS, max_size=CHECKERS, init=set_clock, reset=_keep_settings
    )
    checkers = [DeadlineChecker(source=pool, clock=WorldClock(world)) for _ in range(CHECKERS)]
    try:
        for _ in range(3):
            await asyncio.gather(*(checker.tick() for checker in checkers))
    finally:
        await pool.close()


async def _keep_settings(_conn: object) -> None:
    """Keep the moved clock of a connection."""
