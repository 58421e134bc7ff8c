"""Events that are kept are matched again: counted first, then done once (S7, S13)."""

from datetime import timedelta

import pytest
from tests.integration.engine.events.test_event_batches import event, numbers
from tests.integration.engine.events.test_ingestion import job, matches, taken
from tests.support.world import World

from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.event_rules.replay import ReplayFilter
from rota.engine.events import event_replay
from rota.engine.events.event_replay import ReplayedEvents
from rota.engine.events.window_closing import close_due_windows

PAID = ReplayFilter(type="order.paid")


async def counted(
    world: World, which: ReplayFilter, *, tenant_id: int = 1
) -> event_replay.EventReplayCount:
    return await event_replay.count_events(world.conn, which, tenant_id=tenant_id, now=world.now)


async def replayed(world: World, which: ReplayFilter, token: str) -> ReplayedEvents:
    return await event_replay.replay_events(
        world.conn, which, tenant_id=1, token=token, now=world.now
    )


async def test_a_replay_makes_new_runs_once(world: World) -> None:
    job_id = await job(world, "order.*")
    (first,) = (await taken(world, event(1))).events
    await taken(world, event(2), event(3, "order.sent"))
    await world.advance(minutes=1)

    dry = await counted(world, PAID)
    done = await replayed(world, PAID, dry.token)
    again = await replayed(world, PAID, dry.token)

    assert (dry.found, done.events, len(done.new_run_ids), again.new_run_ids) == (2, 2, 2, ())
    assert not set(done.new_run_ids) & set(first.run_ids)
    triggers = await world.conn.fetch(
        "select trigger::text, count(*) from rota.live_runs group by 1 order by 1"
    )
    assert [tuple(row) for row in triggers] == [("event", 3), ("replay", 2)]
    told = await matches(world, first.event_id)
    assert [each["job_id"] for each in told] == [job_id.hex] * 2
    assert "replay" in told[1]

    second = await replayed(world, PAID, (await counted(world, PAID)).token)
    assert len(second.new_run_ids) == 0, (
        "it was counted at the same moment, so it is the same replay"
    )
    await world.advance(seconds=1)
    assert len((await replayed(world, PAID, (await counted(world, PAID)).token)).new_run_ids) == 2


async def test_a_replay_asks_the_jobs_as_they_are_now_or_one_of_them(world: World) -> None:
    await taken(world, event(1), event(2))
    chosen = await job(world, {"type": "*", "where": "event.data.n == 2"})
    await job(world, "*")
    which = ReplayFilter(job_id=chosen, since=world.now - timedelta(hours=1))

    done = await replayed(world, which, (await counted(world, which)).token)

    assert (done.events, await numbers(world)) == (2, [[2]])


async def test_what_is_replayed_is_gathered_as_ever(world: World) -> None:
    await taken(world, event(1), event(2), event(3))
    await job(world, {"type": "*", "batch": {"size": 2, "within": "5s"}})
    token = (await counted(world, PAID)).token

    for _ in range(2):
        await replayed(world, PAID, token)
    await world.advance(seconds=5)
    await close_due_windows(world.conn)

    assert await numbers(world) == [[1, 2], [3]]


async def test_what_came_after_the_dry_run_is_not_replayed(world: World) -> None:
    await taken(world, event(1))
    dry = await counted(world, PAID)
    await world.advance(seconds=1)
    await taken(world, event(2))
    await job(world, "*")

    await replayed(world, PAID, dry.token)

    assert await numbers(world) == [[1]]


async def test_a_replay_without_its_dry_run_is_refused(world: World) -> None:
    await taken(world, event(1))
    token = (await counted(world, PAID)).token

    with pytest.raises(InvalidInput, match="at least one of type"):
        await counted(world, ReplayFilter())
    for other in (ReplayFilter(type="order.sent"), ReplayFilter(type="order.paid", source="api")):
        with pytest.raises(InvalidInput, match="expected the token that a dry run"):
            await replayed(world, other, token)
    with pytest.raises(InvalidInput, match=r"must be after filter\.since"):
        await counted(world, ReplayFilter(since=world.now, until=world.now))
    with pytest.raises(NotFound):
        await counted(world, ReplayFilter(job_id=world.new_id()))
    await taken(world, event(2))
    with pytest.raises(Conflict, match="2 match now, 1 matched in the dry run"):
        await replayed(world, PAID, token)
