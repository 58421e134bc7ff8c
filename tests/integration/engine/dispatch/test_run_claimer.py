"""Who is claimed, in which order, and how long a claimer rests (E5, E6, E7, T1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest
from tests.support.standing import Standing, WorldClock
from tests.support.world import ALWAYS_SEEN, World

from rota.core.limits import GateLimits
from rota.engine.dispatch.guarded_claims import LimitedClaims
from rota.engine.dispatch.run_claimer import (
    CLAIM_REST_MAX_S,
    CLAIM_REST_MIN_S,
    QueueClaimState,
    RunClaimer,
)
from rota.store import gates, sessions
from rota.store.live_runs import ClaimedRun


@dataclass
class Hands:
    """Free slots, and what was put into them."""

    slots: int
    begun: list[ClaimedRun] = field(default_factory=list)

    def free(self) -> int:
        return self.slots - len(self.begun)

    async def begin(self, runs: Sequence[ClaimedRun]) -> None:
        self.begun += runs

    @property
    def ids(self) -> list[UUID]:
        return [run.id for run in self.begun]


async def claimer(
    world: World, *, slots: int, queues: tuple[int, ...] = ()
) -> tuple[RunClaimer, Hands]:
    session, hands, clock = await world.session(), Hands(slots), WorldClock(world)
    served = queues or (world.queue_id,)
    limits = LimitedClaims(
        session_id=session, queue_ids=served, kind_ids=(world.kind_id,), clock=clock
    )
    claiming = RunClaimer(
        source=Standing(world.conn),
        queues=[QueueClaimState(queue_id=queue_id) for queue_id in served],
        claims=limits,
        free_slots=hands.free,
        start_runs=hands.begin,
        start_gated_runs=hands.begin,
        held_runs=list,
        clock=clock,
    )
    return claiming, hands


async def tenant(world: World, name: str) -> int:
    return int(
        await world.conn.fetchval("insert into rota.tenants (name) values ($1) returning id", name)
    )


async def test_no_more_is_claimed_than_slots_are_free(world: World) -> None:
    await world.runs(10)
    claiming, hands = await claimer(world, slots=3)

    await claiming.tick()
    await claiming.tick()

    assert len(hands.begun) == 3


async def test_the_high_priority_goes_first_and_the_low_one_when_it_has_waited_long_enough(
    world: World,
) -> None:
    low = await world.run(priority=9)
    await world.advance(minutes=5)
    high = await world.run(priority=1)
    first, first_hands = await claimer(world, slots=1)
    await first.tick()
    await world.advance(minutes=120)
    await world.run(priority=1)
    second, second_hands = await claimer(world, slots=1)
    await second.tick()

    assert first_hands.ids == [high]
    assert second_hands.ids == [low]


async def test_a_backlog_of_one_tenant_does_not_keep_another_waiting(world: World) -> None:
    small = await tenant(world, "small")
    await world.runs(500)
    claiming, hands = await claimer(world, slots=20)
    mine = await world.run(tenant_id=small)

    await claiming.tick()

    assert mine in hands.ids


async def test_a_tenant_gets_turns_by_its_weight(world: World) -> None:
    heavy = await tenant(world, "heavy")
    await world.conn.execute("update rota.tenants set weight = 3 where id = $1", heavy)
    await world.runs(100)
    await world.runs(100, tenant_id=heavy)
    claiming, hands = await claimer(world, slots=40)

    await claiming.tick()

    shares = [run.tenant_id for run in hands.begun]
    assert (shares.count(heavy), shares.count(1)) == (30, 10)


@pytest.mark.parametrize("what", ["queues", "tenants"])
async def test_nothing_starts_after_a_pause_was_acknowledged(world: World, what: str) -> None:
    await world.runs(5)
    claiming, hands = await claimer(world, slots=1)
    await claiming.tick()

    await world.conn.execute(f"update rota.{what} set paused_at = now()")
    hands.slots = 5
    await claiming.tick()

    assert len(hands.begun) == 1


async def test_a_session_whose_lease_ran_out_claims_nothing(world: World) -> None:
    await world.runs(5)
    claiming, hands = await claimer(world, slots=5)

    await world.advance(seconds=11)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)
    await claiming.tick()

    assert hands.begun == []


async def test_all_queues_of_a_worker_are_served_in_turn(world: World) -> None:
    other = int(
        await world.conn.fetchval("insert into rota.queues (name) values ('other') returning id")
    )
    await world.runs(50)
    await world.runs(50, queue_id=other)
    claiming, hands = await claimer(world, slots=10, queues=(world.queue_id, other))

    await claiming.tick()
    first = {run.id for run in hands.begun}
    hands.slots = 20
    await claiming.tick()

    served = await world.conn.fetch(
        "select distinct queue_id from rota.live_runs where id = any($1)", list(hands.ids)
    )
    assert len(first) == 10
    assert {row[0] for row in served} == {world.queue_id, other}


async def test_a_run_is_not_claimed_before_its_time(world: World) -> None:
    later = await world.run(due_at=world.now + timedelta(seconds=5))
    claiming, hands = await claimer(world, slots=5)

    await claiming.tick()
    before = list(hands.ids)
    await world.advance(seconds=5)
    await claiming.tick()

    assert before == []
    assert hands.ids == [later]


async def test_an_idle_claimer_rests_longer_and_longer_until_it_is_woken(world: World) -> None:
    claiming, _hands = await claimer(world, slots=5)

    rests = [await claiming.tick() for _ in range(12)]
    claiming.on_hint()
    woken = await claiming.tick()

    assert rests == sorted(rests)
    assert rests[-1] == CLAIM_REST_MAX_S
    assert woken <= 2 * CLAIM_REST_MIN_S


async def test_a_claimer_that_filled_its_slots_comes_back_at_once(world: World) -> None:
    await world.runs(10)
    claiming, _hands = await claimer(world, slots=5)

    assert await claiming.tick() == 0.0


async def test_a_backlog_of_plain_runs_does_not_starve_those_behind_a_gate(world: World) -> None:
    gate = await gates.put_gate(
        world.conn, tenant_id=1, key="one at a time", limits=GateLimits(max_running=1)
    )
    gated = await world.run(gates=(gate,))
    await world.runs(100)
    claiming, hands = await claimer(world, slots=10)

    await claiming.tick()
    await world.advance(seconds=1)
    hands.slots += 10
    await claiming.tick()

    assert gated in hands.ids
