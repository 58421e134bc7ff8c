"""A tick is decided once, by the holder of its shard, against the version it read (E1, S14, O3)."""

import asyncio
from datetime import timedelta

import asyncpg
from tests.support.world import World

from rota.core.ids import derive_tick_run_id
from rota.core.lease import compute_shard
from rota.core.states import RunState
from rota.store import jobs, live_runs, sessions
from rota.store.sessions import SessionRole

MINUTE = timedelta(minutes=1)


async def test_a_tick_becomes_a_run_and_the_cursor_moves(world: World) -> None:
    job = await world.job()
    ownership = await world.own()

    decided = await world.fire(ownership, await world.due(), every=MINUTE)

    run_id = derive_tick_run_id(job, world.now)
    assert decided == [(run_id, False)]
    assert (await world.get(run_id)).state is RunState.QUEUED
    assert await world.due() == []
    (following,) = await world.due(within=MINUTE)
    assert following.tick_at == world.now + MINUTE
    assert following.fired is None


async def test_the_ticks_of_a_job_with_a_cap_are_counted(world: World) -> None:
    await world.job(fired=0)
    ownership = await world.own()

    await world.fire(ownership, await world.due(), every=MINUTE)

    (following,) = await world.due(within=MINUTE)
    assert following.fired == 1


async def test_the_same_tick_fired_twice_makes_one_run(world: World) -> None:
    await world.job()
    ownership = await world.own()
    due = await world.due()

    first = await world.fire(ownership, due, every=MINUTE)
    second = await world.fire(ownership, due, every=MINUTE)

    assert len(first) == 1
    assert second == []
    assert await world.count("live_runs") == 1


async def test_a_scheduler_that_lost_its_shards_fires_nothing(world: World) -> None:
    await world.job()
    stale = await world.own()
    due = await world.due()
    await world.advance(seconds=7)
    fresh = await world.own()

    refused = await world.fire(stale, due, every=MINUTE)
    fired = await world.fire(fresh, due, every=MINUTE)

    assert refused == []
    assert len(fired) == 1
    shard = next(iter(stale.epochs))
    assert fresh.epochs[shard] == stale.epochs[shard] + 1


async def test_an_expired_lease_of_ones_own_comes_back_with_a_new_epoch(world: World) -> None:
    ownership = await world.own(5)
    await world.advance(seconds=7)

    again = await sessions.hold_shards(
        world.conn, owner=ownership.owner, shards=[5], ttl=timedelta(seconds=6)
    )

    assert again == {5: ownership.epochs[5] + 1}


async def test_a_held_shard_is_not_taken_before_its_lease_runs_out(world: World) -> None:
    await world.own(5)
    other = await world.session(role=SessionRole.SCHEDULER)

    taken = await sessions.hold_shards(
        world.conn, owner=other, shards=[5, 6], ttl=timedelta(seconds=6)
    )

    assert list(taken) == [6]


async def test_only_jobs_of_held_shards_are_decided(world: World) -> None:
    mine, other = await world.job(), await world.job()
    assert compute_shard(mine) != compute_shard(other)
    ownership = await world.own(compute_shard(mine))

    decided = await world.fire(ownership, await world.due(), every=MINUTE)

    assert [row.run_id for row in decided] == [derive_tick_run_id(mine, world.now)]


async def test_a_tick_is_never_decided_before_its_time(world: World) -> None:
    await world.job(tick_at=world.now + MINUTE, fire_at=world.now + MINUTE)
    ownership = await world.own()

    decided = await world.fire(ownership, await world.due(within=MINUTE), every=MINUTE)

    assert decided == []
    assert len(await world.due(within=MINUTE)) == 1


async def test_a_pause_that_committed_keeps_the_tick_from_firing(world: World) -> None:
    job = await world.job()
    ownership = await world.own()
    due = await world.due()

    paused = await jobs.pause_jobs(world.conn, ids=[job], held='{"by": "test"}')
    decided = await world.fire(ownership, due, every=MINUTE)

    assert paused == [job]
    assert decided == []
    assert await world.due(within=MINUTE) == []


async def test_a_tick_that_meets_an_unfinished_run_is_recorded_as_skipped(world: World) -> None:
    job = await world.job(overlap="skip")
    ownership = await world.own()
    await world.fire(ownership, await world.due(), every=MINUTE)
    await world.advance(minutes=1)
    ownership = await world.own()

    decided = await world.fire(ownership, await world.due(), every=MINUTE)

    skipped = derive_tick_run_id(job, world.now)
    assert decided == [(skipped, True)]
    told = await world.get(skipped)
    assert (told.state, told.reason) == (RunState.SKIPPED, '{"code": "overlap"}')
    assert await world.count("live_runs") == 1


async def test_a_job_that_allows_overlap_fires_beside_its_unfinished_run(world: World) -> None:
    await world.job(overlap="allow")
    ownership = await world.own()
    await world.fire(ownership, await world.due(), every=MINUTE)
    await world.advance(minutes=1)
    ownership = await world.own()

    await world.fire(ownership, await world.due(), every=MINUTE)

    assert await world.count("live_runs") == 2


async def test_the_last_tick_ends_the_cursor_and_the_job_is_marked_after_it(world: World) -> None:
    job = await world.job()
    ownership = await world.own()

    decided = await world.fire(ownership, await world.due(), every=None)
    listed = await jobs.mark_finished(world.conn, limit=10)
    again = await jobs.mark_finished(world.conn, limit=10)

    assert len(decided) == 1
    assert await world.count("cursors") == 0
    state = await world.conn.fetchval("select state::text from rota.jobs where id = $1", job)
    assert (listed, again, state) == (1, 0, "finished")


async def test_two_schedulers_that_fire_the_same_ticks_make_each_run_once(
    world: World, database: str
) -> None:
    for _ in range(60):
        await world.job()
    ownership = await world.own()
    due = await world.due()
    others = [await asyncpg.connect(database) for _ in range(4)]
    worlds = [await World(conn).begin() for conn in others]

    decided = await asyncio.gather(*(each.fire(ownership, due, every=MINUTE) for each in worlds))

    assert sum(map(len, decided)) == 60
    assert await world.count("live_runs") == 60
    for conn in others:
        await conn.close()


async def test_a_run_that_was_fired_late_can_be_claimed_from_when_it_was_written(
    world: World,
) -> None:
    due_at = world.now
    job = await world.job()
    await world.advance(hours=2)
    ownership = await world.own()
    await world.fire(ownership, await world.due(), every=MINUTE)

    (claimed,) = await world.claim(await world.session())

    assert claimed.id == derive_tick_run_id(job, due_at)
    assert (claimed.due_at, claimed.ready_at) == (due_at, world.now)
    assert await live_runs.get_runs(world.conn, [claimed.id])
