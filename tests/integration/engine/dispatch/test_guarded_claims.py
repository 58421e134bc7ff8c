"""Limits of whole queues and tenants over plain runs (E7, T1)."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
from tests.support.world import ALWAYS_SEEN, World

from rota.core.lanes import Lane
from rota.core.limits import GateLimits, RateLimit
from rota.core.states import RunState
from rota.engine.dispatch.gated_claims import GatedClaims
from rota.engine.dispatch.guarded_claims import (
    LimitsInForce,
    claim_within_limits,
    read_limits_in_force,
)
from rota.store import gates, live_runs, sessions, tenants
from rota.store.live_runs import ClaimedRun, LaneScan, RunEnding

HEAD = datetime(1, 1, 2, tzinfo=UTC)
ALL_LANES = [Lane(tenant, priority) for tenant in (1, 2) for priority in (1, 5, 9)]


async def claim(
    world: World,
    session_id: UUID,
    *,
    room: int = 100,
    lanes: list[Lane] | None = None,
    in_force: LimitsInForce | None = None,
) -> list[ClaimedRun]:
    return await claim_within_limits(
        world.conn,
        session_id=session_id,
        queue_id=world.queue_id,
        kind_ids=[world.kind_id],
        walks=[LaneScan(lane, HEAD, UUID(int=0), room) for lane in lanes or ALL_LANES],
        room=room,
        limits=in_force or await read_limits_in_force(world.conn, [world.queue_id]),
    )


async def finish(world: World, session_id: UUID, runs: list[ClaimedRun]) -> None:
    endings = [RunEnding(run.id, run.attempt, RunState.SUCCEEDED) for run in runs]
    await live_runs.finish_runs(world.conn, session_id=session_id, endings=endings)


def by_tenant(runs: list[ClaimedRun]) -> dict[int, int]:
    return {tenant: sum(run.tenant_id == tenant for run in runs) for tenant in (1, 2)}


async def a_second_tenant(world: World) -> None:
    await world.conn.execute("insert into rota.tenants (name) values ('second')")


async def test_without_limits_it_is_the_plain_claim(world: World) -> None:
    await world.runs(5)

    in_force = await read_limits_in_force(world.conn, [world.queue_id])
    claimed = await claim(world, await world.session(), in_force=in_force)

    assert in_force == LimitsInForce()
    assert len(claimed) == 5


async def test_a_queue_runs_no_more_at_a_time_than_it_may(world: World) -> None:
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(max_running=3))
    await world.runs(10)
    session = await world.session()

    first = await claim(world, session)
    full = await claim(world, session)
    await finish(world, session, first[:2])
    freed = await claim(world, session)

    assert (len(first), len(full), len(freed)) == (3, 0, 2)


async def test_a_tenants_limit_holds_over_all_its_lanes_and_leaves_the_others_alone(
    world: World,
) -> None:
    await a_second_tenant(world)
    await gates.limit_tenant(world.conn, 1, GateLimits(max_running=4))
    for priority in (1, 5, 9):
        await world.runs(3, priority=priority)
    await world.runs(6, tenant_id=2)

    claimed = await claim(world, await world.session())

    assert by_tenant(claimed) == {1: 4, 2: 6}
    first = sorted(run.priority for run in claimed if run.tenant_id == 1)
    assert first == [1, 1, 1, 5]


async def test_a_tenants_limit_counts_its_runs_in_other_queues(world: World) -> None:
    await gates.limit_tenant(world.conn, 1, GateLimits(max_running=2))
    await world.runs(1)
    session = await world.session()
    await world.claim(session)
    await world.conn.execute("update rota.live_runs set queue_id = queue_id + 1")
    await world.runs(5)

    assert len(await claim(world, session)) == 1


async def test_a_queues_rate_holds_over_time(world: World) -> None:
    """E7: ten a second, two at once."""
    rate = RateLimit(count=10, per=timedelta(seconds=1), burst=2)
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(rate=rate))
    await world.runs(100)
    session = await world.session(ttl=timedelta(hours=1))
    started = []

    for _ in range(6):
        started.append(len(await claim(world, session)))
        await world.advance(milliseconds=150)

    assert started == [2, 1, 2, 1, 2, 1]


async def test_many_claimers_of_both_sorts_never_exceed_the_limits(
    world: World, database: str
) -> None:
    """F30 for a queue and a tenant: asked from inside the database after every claim."""
    await a_second_tenant(world)
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(max_running=9))
    await gates.limit_tenant(world.conn, 1, GateLimits(max_running=5))
    own = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=2))
    for priority in (1, 5, 9):
        await world.runs(20, priority=priority)
    await world.runs(40, tenant_id=2)
    await world.runs(30, gates=(own,))
    conns = [await asyncpg.connect(database) for _ in range(6)]
    workers = [await world.session() for _ in conns]
    highest = [0, 0, 0]

    async def work(place: int) -> int:
        mine = await World(conns[place]).begin()
        session, chance, done = workers[place], random.Random(place), 0
        gated, runs = GatedClaims(), list[ClaimedRun]()
        while await mine.conn.fetchval("select exists (select 1 from rota.live_runs)"):
            runs += await claim(mine, session, room=4)
            runs += await gated.claim(
                mine.conn,
                session_id=session,
                queue_id=mine.queue_id,
                kind_ids=[mine.kind_id],
                room=2,
            )
            row = await mine.conn.fetchrow(
                "select count(*), count(*) filter (where tenant_id = 1),"
                " count(*) filter (where gates is not null)"
                " from rota.live_runs where state = 'running'"
            )
            assert row is not None
            highest[:] = [max(pair) for pair in zip(highest, row, strict=True)]
            chance.shuffle(runs)
            ending = runs[: chance.randint(0, len(runs))]
            await finish(mine, session, ending)
            runs = [run for run in runs if run not in ending]
            done += len(ending)
        return done

    done = await asyncio.gather(*(work(place) for place in range(6)))

    assert sum(done) == 130
    assert highest == [9, 5, 2]
    for conn in conns:
        await conn.close()


async def test_a_gate_that_another_claimer_has_locked_yields_nothing_this_time(
    world: World, database: str
) -> None:
    await a_second_tenant(world)
    await gates.limit_tenant(world.conn, 1, GateLimits(max_running=5))
    await world.runs(2)
    await world.runs(2, tenant_id=2)
    session = await world.session()
    rival = await asyncpg.connect(database)

    async with rival.transaction():
        await rival.execute("select 1 from rota.gates for update")
        while_locked = await claim(world, session)
    afterwards = await claim(world, session)

    assert by_tenant(while_locked) == {1: 0, 2: 2}
    assert by_tenant(afterwards) == {1: 2, 2: 0}
    await rival.close()


async def test_what_is_paused_starts_nothing(world: World) -> None:
    """S14."""
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(max_running=5))
    await world.runs(2)
    session = await world.session()

    await gates.pause_queue(world.conn, world.queue_id)
    queue_paused = await claim(world, session)
    await gates.pause_queue(world.conn, world.queue_id, paused=False)
    await gates.pause_tenant(world.conn, 1)
    tenant_paused = await claim(world, session)
    await gates.pause_tenant(world.conn, 1, paused=False)
    resumed = await claim(world, session)

    assert (queue_paused, tenant_paused, len(resumed)) == ([], [], 2)


async def test_the_place_of_a_dead_worker_is_free_once_its_run_is_taken_back(world: World) -> None:
    """F31."""
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(max_running=1))
    await world.runs(2)
    dying, other = await world.session(), await world.session()
    await claim(world, dying)

    before = await claim(world, other)
    await sessions.close_session(world.conn, dying)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)
    await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)
    after = await claim(world, other)

    assert (len(before), len(after)) == (0, 1)


async def test_weights_and_gates_in_force_are_read_together(world: World) -> None:
    await a_second_tenant(world)
    await tenants.update_tenant(world.conn, 2, weight=5)
    await gates.limit_tenant(world.conn, 2, GateLimits(max_running=7))
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(max_running=9))

    in_force = await read_limits_in_force(world.conn, [world.queue_id])

    assert in_force.weights == {2: 5}
    assert in_force.tenants.keys() == {2}
    assert in_force.queues.keys() == {world.queue_id}
