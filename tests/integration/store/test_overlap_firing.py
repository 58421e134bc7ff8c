"""Firing among others who touch the same rows at the same time (E4, E1, O3, F15, F39, CP-F6)."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest
from tests.support.world import World

from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.store import cursors, live_runs, sessions
from rota.store.cursors import CursorStep, DueTick, TickFiring, TickRecord
from rota.store.driver import Connection

MINUTE = timedelta(minutes=1)
TTL = timedelta(seconds=6)


@pytest.fixture
async def other(database: str, world: World) -> AsyncIterator[World]:
    """The same database and the same time over a connection of its own."""
    conn = await asyncpg.connect(database)
    yield await World(conn).begin()
    await conn.close()


def firing_of(due: DueTick) -> TickFiring:
    run_id = derive_tick_run_id(due.job_id, due.tick_at)
    return TickFiring(due, run_id, due.tick_at + MINUTE, due.tick_at + MINUTE)


async def until_it_waits(conn: Connection) -> None:
    """Until somebody waits for a lock in this database."""
    while not await conn.fetchval(
        "select count(*) from pg_stat_activity"
        " where datname = current_database() and wait_event_type = 'Lock'"
    ):
        pass


async def test_a_renewal_waits_for_a_fire_of_our_own_and_loses_no_shard(
    world: World, other: World
) -> None:
    await world.job()
    ownership = await world.own()
    (due,) = await world.due()

    async with world.conn.transaction():
        await cursors.fire_ticks(world.conn, ownership, [firing_of(due)])
        renewing = asyncio.ensure_future(
            sessions.renew_shards(other.conn, owner=ownership.owner, shards=range(128), ttl=TTL)
        )
        await until_it_waits(world.conn)
    renewed = await renewing

    assert renewed == ownership.epochs


async def test_taking_a_shard_passes_by_while_its_old_owner_still_fires(
    world: World, other: World
) -> None:
    await world.job()
    ownership = await world.own()
    (due,) = await world.due()

    async with world.conn.transaction():
        fired = await cursors.fire_ticks(world.conn, ownership, [firing_of(due)])
        await other.advance(seconds=7)
        taken = await sessions.hold_shards(
            other.conn, owner=other.new_id(), shards=range(128), ttl=TTL
        )

    assert len(fired) == 1
    assert len(taken) == 127
    assert due.shard not in taken


async def test_a_run_that_is_claimed_meanwhile_is_not_replaced_by_the_next_tick(
    world: World, other: World
) -> None:
    job = await world.job(overlap="queue_one")
    ownership = await world.own()
    first = derive_tick_run_id(job, world.now)
    await cursors.fire_overlapping(
        world.conn, ownership, [firing_of(each) for each in await world.due()]
    )
    await world.advance(minutes=1)
    ownership = await world.own()
    due = await world.due()
    session = await world.session()
    await other.move_to(world.now)

    async with world.conn.transaction():
        await world.claim(session)
        firing = asyncio.ensure_future(
            cursors.fire_overlapping(other.conn, ownership, [firing_of(each) for each in due])
        )
        await until_it_waits(world.conn)
    decided = await firing

    assert [row.is_skipped for row in decided] == [False]
    assert (await world.get(first)).state is RunState.RUNNING
    assert await world.count("live_runs") == 2


async def test_a_run_that_ends_meanwhile_is_not_terminated_again(
    world: World, other: World
) -> None:
    job = await world.job(overlap="terminate_running")
    ownership = await world.own()
    first = derive_tick_run_id(job, world.now)
    await cursors.fire_overlapping(
        world.conn, ownership, [firing_of(each) for each in await world.due()]
    )
    session = await world.session()
    (run,) = await world.claim(session)
    await world.advance(minutes=1)
    ownership = await world.own()
    due = await world.due()
    await other.move_to(world.now)

    async with world.conn.transaction():
        ending = live_runs.RunEnding(run.id, run.attempt, RunState.SUCCEEDED)
        await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])
        firing = asyncio.ensure_future(
            cursors.fire_overlapping(other.conn, ownership, [firing_of(each) for each in due])
        )
        await until_it_waits(world.conn)
    await firing

    assert (await world.get(first)).state is RunState.SUCCEEDED
    assert await world.count("live_runs") == 1


async def test_a_move_that_comes_too_late_writes_nothing(world: World) -> None:
    job = await world.job()
    ownership = await world.own()
    (due,) = await world.due()
    await cursors.fire_ticks(world.conn, ownership, [firing_of(due)])
    record = TickRecord(job, world.new_id(), due.tick_at, RunState.MISSED, '{"code": "outage"}')

    moved = await cursors.move_cursors(
        world.conn, ownership, [CursorStep(due, None, None)], [record]
    )

    assert moved == set()
    assert await world.count("runs") == 0
    assert await world.count("cursors") == 1


async def test_a_move_with_an_old_epoch_writes_nothing(world: World) -> None:
    job = await world.job()
    stale = await world.own()
    (due,) = await world.due()
    await world.advance(seconds=7)
    fresh = await world.own()
    record = TickRecord(job, world.new_id(), due.tick_at, RunState.MISSED, '{"code": "outage"}')
    step = CursorStep(due, world.now + MINUTE, world.now + MINUTE)

    refused = await cursors.move_cursors(world.conn, stale, [step], [record])
    moved = await cursors.move_cursors(world.conn, fresh, [step], [record])

    assert (refused, moved) == (set(), {job})
    assert await world.count("runs") == 1


async def test_reading_by_shard_goes_on_from_where_each_was_read(world: World) -> None:
    jobs = [await world.job(fire_at=world.now + n * MINUTE) for n in range(6)]
    all_due = await world.due(within=timedelta(hours=1))
    halfway = {due.shard: world.now + 2 * MINUTE for due in all_due}

    rest = await cursors.read_due(
        world.conn,
        shards=list(halfway),
        afters=list(halfway.values()),
        before=world.now + timedelta(hours=1),
        limit=100,
    )

    assert [due.job_id for due in rest] == jobs[3:]
