"""Runs with gates of their own: the limit holds whatever happens, in order where asked (E4, E7).

F30 (limit exceeded), F31 (place leaked), F32 (order of a key), F37 (one tenant floods).
"""

import asyncio
import random
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
from tests.support.world import ALWAYS_SEEN, World

from rota.core.limits import GateLimits, RateLimit
from rota.core.states import RunState
from rota.engine.dispatch.gated_claims import SURVEYED_LANES_MAX, GatedClaims
from rota.store import gates, live_runs, sessions
from rota.store.gates import NewGate
from rota.store.live_runs import ClaimedRun, ReturnedAttempt, RunEnding

S = RunState
CLAIMERS = 6


class Claimer:
    """One worker's session with its memory of turns."""

    def __init__(self, world: World, session_id: UUID) -> None:
        self.world = world
        self.session_id = session_id
        self.claims = GatedClaims()

    async def claim(self, room: int = 100) -> list[ClaimedRun]:
        return await self.claims.claim(
            self.world.conn,
            session_id=self.session_id,
            queue_id=self.world.queue_id,
            kind_ids=[self.world.kind_id],
            room=room,
        )

    async def finish(self, run: ClaimedRun) -> None:
        ending = RunEnding(run.id, run.attempt, S.SUCCEEDED)
        await live_runs.finish_runs(self.world.conn, session_id=self.session_id, endings=[ending])

    async def retry(self, run: ClaimedRun, *, wait: timedelta) -> None:
        back = ReturnedAttempt(run.id, run.attempt, S.RETRYING, "failed", 1, wait)
        await live_runs.put_back_runs(self.world.conn, session_id=self.session_id, attempts=[back])


async def a_claimer(world: World) -> Claimer:
    return Claimer(world, await world.session())


async def gate(world: World, key: str = "key:k", **limits: object) -> int:
    return await gates.put_gate(world.conn, 1, key, GateLimits(**limits))  # type: ignore[arg-type]


async def held(world: World, gate_id: int) -> int:
    return int(
        await world.conn.fetchval(
            "select count(*) from rota.live_runs"
            " where state in ('running', 'cancelling') and $1 = any(gates)",
            gate_id,
        )
    )


async def test_a_gate_lets_as_many_through_as_it_has_places(world: World) -> None:
    three = await gate(world, max_running=3)
    await world.runs(10, gates=(three,))
    claimer = await a_claimer(world)

    first = await claimer.claim()
    again = await claimer.claim()
    await claimer.finish(first[0])
    after = await claimer.claim()

    assert (len(first), len(again), len(after)) == (3, 0, 1)
    assert first[0].attempt == 1
    assert first[0].started_at == world.now


async def test_the_room_of_the_worker_is_a_limit_too(world: World) -> None:
    await world.runs(10, gates=(await gate(world, max_running=9),))
    claimer = await a_claimer(world)

    assert len(await claimer.claim(room=4)) == 4
    assert await claimer.claim(room=0) == []


async def test_a_run_passes_all_of_its_gates_or_waits(world: World) -> None:
    narrow = [await gate(world, f"key:{n}", max_running=2) for n in range(3)]
    wide = await gate(world, "key:all", max_running=4)
    for each in narrow:
        await world.runs(5, gates=(each, wide))
    claimer = await a_claimer(world)

    claimed = await claimer.claim()

    assert len(claimed) == 4
    assert [await held(world, each) <= 2 for each in narrow] == [True] * 3


@pytest.mark.parametrize("most", [1, 7])
async def test_many_claimers_at_once_never_exceed_the_limit(
    world: World, database: str, most: int
) -> None:
    """F30: what is held is asked from inside the database after every claim."""
    one = await gate(world, max_running=most)
    await world.runs(120, gates=(one,))
    conns = [await asyncpg.connect(database) for _ in range(CLAIMERS)]
    claimers = [Claimer(await World(conn).begin(), await world.session()) for conn in conns]
    highest = 0

    async def work(place: int) -> int:
        nonlocal highest
        claimer, chance, done = claimers[place], random.Random(place), 0
        mine: list[ClaimedRun] = []
        while await world_has_runs(claimer.world):
            mine += await claimer.claim(room=3)
            now_held = await held(claimer.world, one)
            highest = max(highest, now_held)
            assert now_held <= most
            chance.shuffle(mine)
            for run in mine[: chance.randint(0, len(mine))]:
                await claimer.finish(run)
                mine.remove(run)
                done += 1
        return done

    done = await asyncio.gather(*(work(place) for place in range(CLAIMERS)))

    assert sum(done) == 120
    assert highest == most
    for conn in conns:
        await conn.close()


async def world_has_runs(world: World) -> bool:
    return bool(await world.conn.fetchval("select exists (select 1 from rota.live_runs)"))


async def test_the_place_of_a_dead_worker_is_free_once_its_run_is_taken_back(world: World) -> None:
    """F31: nobody has to give a place back."""
    one = await gate(world, max_running=1)
    await world.runs(2, gates=(one,))
    dying, other = await a_claimer(world), await a_claimer(world)
    (lost,) = await dying.claim()
    assert await other.claim() == []

    await sessions.close_session(world.conn, dying.session_id)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)
    await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)
    (next_run,) = await other.claim()
    await dying.finish(lost)

    assert await held(world, one) == 1
    assert next_run.attempt in {1, 2}


async def test_a_gate_that_another_transaction_has_locked_is_left_for_later(
    world: World, database: str
) -> None:
    locked, free = (
        await gate(world, "key:a", max_running=5),
        await gate(world, "key:b", max_running=5),
    )
    await world.runs(2, gates=(locked,))
    (other,) = await world.runs(1, gates=(free,))
    claimer = await a_claimer(world)
    rival = await asyncpg.connect(database)

    async with rival.transaction():
        await rival.execute("select 1 from rota.gates where id = $1 for update", locked)
        while_locked = await claimer.claim()
    afterwards = await claimer.claim()

    assert [run.id for run in while_locked] == [other]
    assert len(afterwards) == 2
    await rival.close()


async def test_a_rate_holds_over_time(world: World) -> None:
    """E7: a burst of 3, then one every 2 seconds, by the database's clock."""
    rate = RateLimit(count=30, per=timedelta(minutes=1), burst=3)
    await world.runs(60, gates=(await gate(world, rate=rate),))
    claimer = await a_claimer(world)
    started: list[int] = []

    for _ in range(20):
        started.append(len(await claimer.claim()))
        await sessions.send_heartbeat(
            world.conn, session_id=claimer.session_id, running=[], ttl=timedelta(minutes=5)
        )
        await world.advance(seconds=1)

    assert started == [3, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]


async def test_a_rate_is_not_paid_for_runs_that_were_cancelled_meanwhile(
    world: World, database: str
) -> None:
    rate = RateLimit(count=1, per=timedelta(minutes=1))
    (run,) = await world.runs(1, gates=(await gate(world, rate=rate),))
    claimer = await a_claimer(world)
    rival = await asyncpg.connect(database)

    async with rival.transaction():
        await rival.execute("select 1 from rota.live_runs where id = $1 for update", run)
        while_locked = await claimer.claim()
    afterwards = await claimer.claim()

    assert (len(while_locked), len(afterwards)) == (0, 1)
    await rival.close()


async def test_an_ordered_gate_goes_by_tick_one_after_the_other(world: World) -> None:
    """F32: neither priority nor the order of writing matters."""
    order = await gate(world, in_order=True)
    ticks = [world.now - timedelta(seconds=n) for n in (1, 5, 3, 4, 2)]
    for place, tick in enumerate(ticks):
        await world.run(scheduled_at=tick, priority=9 - place, gates=(order,))
    claimer = await a_claimer(world)
    seen = []

    for _ in ticks:
        (run,) = await claimer.claim()
        assert await claimer.claim() == []
        seen.append(run.scheduled_at)
        await claimer.finish(run)

    assert seen == sorted(ticks)


async def test_a_head_that_waits_for_its_retry_keeps_its_place(world: World) -> None:
    order = await gate(world, in_order=True)
    head = await world.run(scheduled_at=world.now - timedelta(seconds=9), gates=(order,))
    behind = await world.run(gates=(order,))
    claimer = await a_claimer(world)
    (run,) = await claimer.claim()
    await claimer.retry(run, wait=timedelta(seconds=5))

    while_waiting = await claimer.claim()
    await world.advance(seconds=5)
    (again,) = await claimer.claim()
    await claimer.finish(again)
    (then,) = await claimer.claim()

    assert while_waiting == []
    assert (again.id, again.attempt) == (head, 2)
    assert then.id == behind


async def test_order_holds_with_many_claimers_and_retries(world: World, database: str) -> None:
    """F32 under load: every key starts its ticks in order, one at a time."""
    keys = [await gate(world, f"key:{n}", in_order=True) for n in range(12)]
    for key in keys:
        for n in range(6):
            await world.run(scheduled_at=world.now + timedelta(seconds=n), gates=(key,))
    conns = [await asyncpg.connect(database) for _ in range(CLAIMERS)]
    claimers = [Claimer(await World(conn).begin(), await world.session()) for conn in conns]
    ended: dict[UUID, list[object]] = {}

    async def work(place: int) -> None:
        claimer, chance = claimers[place], random.Random(place)
        while await world_has_runs(claimer.world):
            for run in await claimer.claim(room=4):
                if run.attempt == 1 and chance.random() < 0.3:
                    await claimer.retry(run, wait=timedelta(0))
                    continue
                row = await claimer.world.conn.fetchrow(
                    "select gates[1], scheduled_at from rota.live_runs where id = $1", run.id
                )
                assert row is not None
                ended.setdefault(row[0], []).append(row[1])
                await claimer.finish(run)

    await asyncio.gather(*(work(place) for place in range(CLAIMERS)))

    assert {key: len(ticks) for key, ticks in ended.items()} == dict.fromkeys(keys, 6)
    assert all(ticks == sorted(ticks) for ticks in ended.values())  # type: ignore[type-var]
    for conn in conns:
        await conn.close()


async def test_an_ordered_run_in_another_queue_or_of_another_kind_still_has_its_turn(
    world: World,
) -> None:
    order = await gate(world, in_order=True)
    earlier = world.now - timedelta(seconds=9)
    foreign = await world.run(scheduled_at=earlier, kind_id=world.kind_id + 99, gates=(order,))
    await world.run(gates=(order,))
    claimer = await a_claimer(world)

    before = await claimer.claim()
    await live_runs.cancel_runs(world.conn, ids=[foreign])
    after = await claimer.claim()

    assert (len(before), len(after)) == (0, 1)


async def test_more_lanes_than_one_look_holds_all_get_their_turn(world: World) -> None:
    many = SURVEYED_LANES_MAX + 40
    made = await gates.put_gates(
        world.conn, [NewGate(1, f"key:{n}", GateLimits(max_running=1)) for n in range(many)]
    )
    new = [world.new_run(gates=(one,)) for one in made.values()]
    await live_runs.insert_runs(world.conn, new)
    claimer = await a_claimer(world)

    claimed: list[ClaimedRun] = []
    while batch := await claimer.claim(room=50):
        claimed += batch

    assert len({run.id for run in claimed}) == many


async def test_lanes_whose_runs_are_not_ready_do_not_hide_one_that_is(world: World) -> None:
    many = 2 * SURVEYED_LANES_MAX
    made = await gates.put_gates(
        world.conn, [NewGate(1, f"key:{n:04}", GateLimits(max_running=1)) for n in range(many)]
    )
    *later, last = sorted(made.values())
    due_at = world.now + timedelta(hours=1)
    new = [world.new_run(gates=(one,), due_at=due_at) for one in later]
    ready = world.new_run(gates=(last,))
    await live_runs.insert_runs(world.conn, [*new, ready])
    claimer = await a_claimer(world)

    claimed = await claimer.claim()

    assert [run.id for run in claimed] == [ready.id]


async def test_one_tenants_gates_do_not_fill_the_room_alone(world: World) -> None:
    """T1, F37."""
    flood = await gate(world, "key:a", max_running=100)
    quiet = await gates.put_gate(world.conn, 2, "key:b", GateLimits(max_running=100))
    await world.runs(50, gates=(flood,))
    (alone,) = await world.runs(1, gates=(quiet,), tenant_id=2)
    claimer = await a_claimer(world)

    claimed = await claimer.claim(room=2)

    assert alone in [run.id for run in claimed]


async def test_what_is_paused_starts_nothing(world: World) -> None:
    """S14: a queue, then a tenant."""
    await world.runs(2, gates=(await gate(world, max_running=5),))
    claimer = await a_claimer(world)

    await gates.pause_queue(world.conn, world.queue_id)
    queue_paused = await claimer.claim()
    await gates.pause_queue(world.conn, world.queue_id, paused=False)
    await gates.pause_tenant(world.conn, 1)
    tenant_paused = await claimer.claim()
    await gates.pause_tenant(world.conn, 1, paused=False)
    resumed = await claimer.claim()

    assert (queue_paused, tenant_paused, len(resumed)) == ([], [], 2)


async def test_a_session_whose_lease_has_run_out_starts_nothing(world: World) -> None:
    await world.runs(2, gates=(await gate(world, max_running=5),))
    claimer = await a_claimer(world)

    await world.advance(seconds=11)

    assert await claimer.claim() == []


async def test_gated_runs_respect_the_limits_of_their_queue_and_tenant(world: World) -> None:
    own = await gate(world, max_running=50)
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(max_running=4))
    await gates.limit_tenant(world.conn, 1, GateLimits(max_running=3))
    await world.runs(10, gates=(own,))
    claimer = await a_claimer(world)

    by_tenant = await claimer.claim()
    await gates.limit_tenant(world.conn, 1, None)
    by_queue = await claimer.claim()

    assert (len(by_tenant), len(by_queue)) == (3, 1)
