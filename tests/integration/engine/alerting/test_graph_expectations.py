"""Expectations of graphs and their steps."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.support.watching import Incident, WatchDesk
from tests.support.world import NOON, World

HOUR = timedelta(hours=1)
HOURLY = {"cron": "0 * * * *"}


@pytest.fixture
async def desk(world: World) -> WatchDesk:
    return await WatchDesk(world, has_defaults=False).begin()


async def start_graph(desk: WatchDesk, hour: int) -> tuple[UUID, list[UUID]]:
    await desk.world.move_to(NOON + hour * HOUR)
    (run_id,) = await desk.fire()
    return run_id, await desk.expand(run_id, ["extract", "load"])


async def end_graph(desk: WatchDesk, hour: int, extract: str, load: str) -> None:
    """A graph run whose two steps end so; it fails if one of them does."""
    run_id, steps = await start_graph(desk, hour)
    for step_id, state in zip(steps, (extract, load), strict=True):
        await desk.start_run(step_id)
        await desk.world.advance(seconds=1)
        await desk.end_run(step_id, state)
    is_good = extract == load == "succeeded"
    await desk.end_run(run_id, "succeeded" if is_good else "dead")
    await desk.check()


async def test_a_rule_about_a_step_counts_this_step_only(desk: WatchDesk) -> None:
    await desk.add_job("etl", HOURLY)
    await desk.add_rule("load", {"failures": {"streak": 2}}, {"job": "etl", "step": "load"})

    await end_graph(desk, 1, "dead", "dead")
    await end_graph(desk, 2, "dead", "succeeded")
    await end_graph(desk, 3, "succeeded", "dead")
    assert await desk.incidents() == []
    await end_graph(desk, 4, "succeeded", "dead")
    assert await desk.incidents() == [Incident("failure_streak", "etl / load", "open", 1)]
    await end_graph(desk, 5, "dead", "succeeded")
    assert await desk.open_conditions() == []


async def test_a_failed_step_does_not_count_for_its_job(desk: WatchDesk) -> None:
    await desk.add_job("etl", HOURLY, expect={"failures": {"streak": 2}})

    await end_graph(desk, 1, "dead", "dead")
    assert await desk.incidents() == []
    await end_graph(desk, 2, "dead", "succeeded")
    assert await desk.incidents() == [Incident("failure_streak", "etl", "open", 1)]


async def test_the_duration_of_a_graph_is_checked_while_its_steps_run(desk: WatchDesk) -> None:
    await desk.add_job("etl", HOURLY, expect={"max_duration": "PT20M"})
    await end_graph(desk, 1, "succeeded", "succeeded")
    await desk.world.conn.execute("update rota.jobs set updated_at = rota.now()")
    await desk.check()
    run_id, steps = await start_graph(desk, 2)
    await desk.check()

    await desk.world.advance(minutes=19)
    await desk.check()
    assert await desk.incidents() == []
    await desk.world.advance(minutes=2)
    await desk.check()
    assert await desk.incidents() == [Incident("max_duration", "etl", "open", 1)]

    for step_id in steps:
        await desk.start_run(step_id)
        await desk.end_run(step_id)
    await desk.end_run(run_id)
    await end_graph(desk, 3, "succeeded", "succeeded")
    await desk.world.advance(minutes=21)
    await desk.check()
    assert await desk.open_conditions() == []
