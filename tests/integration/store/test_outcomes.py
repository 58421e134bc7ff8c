"""How the last runs of several jobs went (issue 7: the list of jobs)."""

import json

from tests.support.finished import make
from tests.support.world import World

from rota.store import run_views


async def test_the_newest_runs_of_each_job_come_first_and_no_more_than_asked(world: World) -> None:
    one, other, idle = [await world.job() for _ in range(3)]
    ended = [await make(world, "succeeded", job_id=one) for _ in range(3)]
    alive = await make(world, "running", job_id=one)
    dead = await make(world, "dead", job_id=other, reason=json.dumps({"code": "failed"}))
    await make(world, None, job_id=other)

    found = await run_views.read_recent_outcomes(
        world.conn, tenant_id=1, job_ids=[one, other, idle], limit=3
    )

    assert [run.id for run in found[one]] == [alive, ended[2], ended[1]]
    assert [(run.id, run.reason) for run in found[other]] == [(dead, '{"code": "failed"}')]
    assert found[idle] == []


async def test_a_job_that_seldom_runs_is_looked_for_in_all_of_history(world: World) -> None:
    seldom = await world.job()
    long_ago = await make(world, "dead", job_id=seldom)
    await world.advance(days=5)
    lately = await make(world, "succeeded", job_id=seldom)

    found = await run_views.read_recent_outcomes(
        world.conn, tenant_id=1, job_ids=[seldom], limit=20
    )

    assert [run.id for run in found[seldom]] == [lately, long_ago]


async def test_runs_of_another_tenant_are_not_told(world: World) -> None:
    job_id = await world.job()
    await make(world, "succeeded", job_id=job_id)

    found = await run_views.read_recent_outcomes(world.conn, tenant_id=2, job_ids=[job_id], limit=5)

    assert found == {job_id: []}
    assert await run_views.read_recent_outcomes(world.conn, tenant_id=1, job_ids=[], limit=5) == {}
