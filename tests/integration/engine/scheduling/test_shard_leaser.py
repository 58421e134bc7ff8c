"""Schedulers share the shards, and a dead one's move (O3, P7, F05, F21)."""

import random
from datetime import timedelta
from uuid import UUID

from tests.integration.engine.scheduling.conftest import Scheduler, Stage
from tests.support.leases import SHARD_LEASE
from tests.support.world import ALWAYS_SEEN

from rota.core.lease import SHARD_COUNT
from rota.core.log_events import ShardsMoved
from rota.store import sessions
from rota.store.sessions import SessionRole


def held(*schedulers: Scheduler) -> list[int]:
    return [len(scheduler.tenure.epochs) for scheduler in schedulers]


async def shared_by(stage: Stage, *schedulers: Scheduler) -> None:
    for _ in range(3):
        for scheduler in schedulers:
            await scheduler.lease()
        await stage.advance(seconds=0.5)


async def test_one_scheduler_holds_everything_at_once(stage: Stage) -> None:
    scheduler = stage.scheduler()

    await scheduler.lease()

    assert held(scheduler) == [SHARD_COUNT]
    assert scheduler.told(ShardsMoved)[0].taken == SHARD_COUNT


async def test_schedulers_come_to_even_shares_and_never_hold_one_shard_together(
    stage: Stage,
) -> None:
    one, two, three = (stage.scheduler(name) for name in ("one", "two", "three"))

    await shared_by(stage, one)
    await shared_by(stage, one, two)
    of_two = held(one, two)
    await shared_by(stage, one, two, three)

    assert of_two == [64, 64]
    assert sorted(held(one, two, three)) == [42, 43, 43]
    assert len({*one.tenure.epochs, *two.tenure.epochs, *three.tenure.epochs}) == SHARD_COUNT


async def test_the_shards_of_a_dead_scheduler_move_when_its_lease_is_over(stage: Stage) -> None:
    dead, living = stage.scheduler("dead"), stage.scheduler("living")
    await shared_by(stage, dead, living)
    last_renewal = stage.clock.monotonic() - 0.5

    rest = 0.0
    while held(living) != [SHARD_COUNT]:
        await stage.advance(seconds=max(rest, 0.001))
        rest = await living.leasing.tick()

    took = stage.clock.monotonic() - last_renewal
    assert SHARD_LEASE.ttl.total_seconds() <= took < SHARD_LEASE.ttl.total_seconds() + 0.1


async def test_a_scheduler_that_leaves_gives_its_shards_back_at_once(stage: Stage) -> None:
    leaving, staying = stage.scheduler("leaving"), stage.scheduler("staying")
    await shared_by(stage, leaving, staying)

    await leaving.leasing.release_shards()
    await staying.lease()

    assert held(leaving, staying) == [0, SHARD_COUNT]
    live = await sessions.read_live_sessions(stage.world.conn, SessionRole.SCHEDULER)
    assert [one.name for one in live] == ["staying"]


async def test_a_scheduler_that_slept_too_long_takes_its_shards_with_new_epochs(
    stage: Stage,
) -> None:
    """Nobody has expired its session, but others might have fired in its shards meanwhile."""
    scheduler = stage.scheduler()
    await scheduler.lease()
    before = scheduler.tenure.ownership

    await stage.advance(seconds=20)
    await scheduler.lease()

    after = scheduler.tenure.ownership
    assert after.owner == before.owner
    assert all(after.epochs[shard] == before.epochs[shard] + 1 for shard in range(SHARD_COUNT))
    assert [event.lost for event in scheduler.told(ShardsMoved)] == [0, SHARD_COUNT]


async def test_a_scheduler_whose_session_was_expired_begins_anew_under_another_name(
    stage: Stage,
) -> None:
    scheduler = stage.scheduler()
    await scheduler.lease()
    before = scheduler.tenure.ownership

    await stage.advance(seconds=20)
    await sessions.expire_sessions(stage.world.conn, sight=ALWAYS_SEEN)
    await scheduler.lease()

    after = scheduler.tenure.ownership
    assert after.owner != before.owner
    assert all(after.epochs[shard] == before.epochs[shard] + 1 for shard in range(SHARD_COUNT))
    assert [event.lost for event in scheduler.told(ShardsMoved)] == [0, SHARD_COUNT, 0]


async def test_renewing_changes_no_epoch(stage: Stage) -> None:
    scheduler = stage.scheduler()
    await scheduler.lease()
    before = scheduler.tenure.ownership

    for _ in range(5):
        await stage.advance(seconds=2)
        await scheduler.lease()

    assert scheduler.tenure.ownership == before


async def test_a_clock_that_is_seconds_off_does_no_harm(stage: Stage) -> None:
    scheduler = stage.scheduler()
    stage.clock.step(timedelta(seconds=-5))

    await scheduler.lease()
    await scheduler.lease()

    assert held(scheduler) == [SHARD_COUNT]


async def test_a_clock_that_is_far_off_owns_no_shards_until_it_is_set(stage: Stage) -> None:
    wrong, right = stage.scheduler("wrong"), stage.scheduler("right")
    await shared_by(stage, wrong)
    stage.clock.step(timedelta(hours=1))
    await wrong.lease()
    stage.clock.step(timedelta(hours=-1))
    let_go = held(wrong)
    await right.lease()

    await shared_by(stage, right, wrong)

    assert let_go == [0]
    assert held(right, wrong) == [64, 64]


async def test_after_any_coming_and_going_all_shards_are_held_once(stage: Stage) -> None:
    chance = random.Random(7)
    crew = [stage.scheduler(f"scheduler {number}") for number in range(5)]
    asleep: set[int] = set()

    for _ in range(60):
        number = chance.randrange(5)
        if chance.random() < 0.2:
            asleep ^= {number}
        if number not in asleep:
            await crew[number].lease()
        await stage.advance(seconds=chance.choice([0.1, 0.5, 2.5]))
    for _ in range(6):
        for scheduler in crew:
            await scheduler.lease()
        await stage.advance(seconds=1)

    owners: dict[int, UUID] = {}
    for scheduler in crew:
        assert not owners.keys() & scheduler.tenure.epochs.keys()
        owners |= dict.fromkeys(scheduler.tenure.epochs, scheduler.tenure.ownership.owner)
    assert len(owners) == SHARD_COUNT
    assert sorted(held(*crew)) == [25, 25, 26, 26, 26]
