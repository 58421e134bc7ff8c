"""The live feed tells of steps whose they are, and of members nothing (D5)."""

from datetime import timedelta
from uuid import UUID

from tests.support.feeding import news
from tests.support.world import World

from rota.core.states import RunState
from rota.engine.observability.feed import LiveFeed
from rota.store import checkpoints, live_runs
from rota.store.checkpoints import RunProgress
from rota.store.live_runs import ReturnedAttempt, RunEnding

GRAPH_RUN = UUID("01890000-0000-7000-8000-000000000009")


async def step(world: World, *, member: int | None = None) -> UUID:
    run_id = await world.run(trigger="graph")
    await world.conn.execute(
        "update rota.live_runs set graph_run_id = $2, step = 0, member = $3 where id = $1",
        run_id,
        GRAPH_RUN,
        member,
    )
    return run_id


async def test_a_step_tells_its_graph_run_and_members_are_left_out(
    world: World, feed: LiveFeed
) -> None:
    session = await world.session()
    async with feed.open(1) as stream:
        runs = [await step(world), await step(world, member=0), await step(world, member=1)]
        told = await news(feed, stream)
        claimed = await world.claim(session)
        told += await news(feed, stream)
        await checkpoints.save_progress(
            world.conn, [RunProgress(run.id, 1, 0.5, "half") for run in claimed]
        )
        told += await news(feed, stream)
        again = [
            ReturnedAttempt(run.id, 1, RunState.RETRYING, "failed", 1, timedelta(0))
            for run in claimed
        ]
        await live_runs.put_back_runs(world.conn, session_id=session, attempts=again)
        told += await news(feed, stream)
        endings = [RunEnding(run.id, 2, RunState.SUCCEEDED) for run in await world.claim(session)]
        await live_runs.finish_runs(world.conn, session_id=session, endings=endings)
        told += await news(feed, stream)

    assert [(event.type, event.run_id, event.graph_run_id) for event in told] == [
        ("run.made", runs[0], GRAPH_RUN),
        ("run.started", runs[0], GRAPH_RUN),
        ("run.progressed", runs[0], GRAPH_RUN),
        ("run.attempted", runs[0], GRAPH_RUN),
        ("run.ended", runs[0], GRAPH_RUN),
    ]
