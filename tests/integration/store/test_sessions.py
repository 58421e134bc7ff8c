"""Sessions die for ever, and their runs are taken back once (E12, P7, F14 to F20)."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest
from tests.support.shop import until
from tests.support.world import ALWAYS_SEEN, TTL, World

from rota.core.errors import LeaseLost
from rota.core.lease import ObservedSpan
from rota.core.outcome import Guarantee
from rota.core.states import RunState
from rota.store import live_runs, sessions
from rota.store.live_runs import RunEnding
from rota.store.sessions import SessionRole

S = RunState


async def test_a_beat_renews_the_lease_and_brings_back_what_to_stop(world: World) -> None:
    session, run = await world.running()
    await live_runs.cancel_runs(world.conn, ids=[run.id])
    await world.advance(seconds=9)

    beat = await sessions.send_heartbeat(world.conn, session_id=session, running=[run.id], ttl=TTL)

    assert beat.expires_at == world.now + TTL
    assert beat.cancelling == [run.id]
    assert not beat.draining


async def test_a_session_that_nobody_has_expired_goes_on_after_an_outage(world: World) -> None:
    """While the database was away it could not renew its lease, and nobody could take it (O15)."""
    session = await world.session()
    await world.advance(seconds=60)

    beat = await sessions.send_heartbeat(world.conn, session_id=session, running=[], ttl=TTL)

    assert beat.expires_at == world.now + TTL


async def test_nobody_expires_a_session_before_having_seen_the_database_for_its_lease(
    world: World,
) -> None:
    session = await world.session()
    await world.advance(seconds=60)

    almost = ObservedSpan(TTL - timedelta(milliseconds=1), asked_at=world.now)
    soon = await sessions.expire_sessions(world.conn, sight=almost)
    then = await sessions.expire_sessions(world.conn, sight=ObservedSpan(TTL, asked_at=world.now))

    assert soon == []
    assert [each.id for each in then] == [session]


async def test_a_frozen_server_expires_nobody_for_what_it_was_asked_before(world: World) -> None:
    """It carries a statement out when it thaws, and in that time nobody could renew a lease."""
    await world.session()
    asked_at = world.now
    await world.advance(seconds=60)

    expired = await sessions.expire_sessions(world.conn, sight=ObservedSpan(TTL, asked_at=asked_at))

    assert expired == []


async def test_a_run_that_its_worker_does_not_know_of_is_left_to_it_soon_after_an_outage(
    world: World,
) -> None:
    session, run = await world.running(guarantee=Guarantee.AT_MOST_ONCE)
    await world.advance(seconds=60)
    await sessions.send_heartbeat(world.conn, session_id=session, running=[], ttl=TTL)

    almost = ObservedSpan(timedelta(seconds=4.9), asked_at=world.now)
    taken = await live_runs.reclaim_runs(world.conn, sight=almost)
    released = await live_runs.release_unknown(world.conn, session_id=session, known=[])

    assert (taken, released) == ([], [run.id])
    told = await world.get(run.id)
    assert (told.state, told.failures, told.losses) == (S.QUEUED, 0, 0)


async def test_a_session_keeps_the_runs_that_it_knows_of_and_those_of_others(world: World) -> None:
    session, known = await world.running()
    _, foreign = await world.running()

    released = await live_runs.release_unknown(world.conn, session_id=session, known=[known.id])

    assert released == []
    assert [(await world.get(each.id)).state for each in (known, foreign)] == [S.RUNNING] * 2


async def test_an_expired_session_cannot_be_revived(world: World) -> None:
    session = await world.session()
    await world.advance(seconds=10)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)

    with pytest.raises(LeaseLost, match="session"):
        await sessions.send_heartbeat(world.conn, session_id=session, running=[], ttl=TTL)


async def test_a_buried_session_stays_dead_even_for_a_beat_sent_before(world: World) -> None:
    session = await world.session()
    sent = world.now + timedelta(seconds=9.9)
    await world.advance(seconds=10)
    buried = await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)

    await world.move_to(sent)
    with pytest.raises(LeaseLost):
        await sessions.send_heartbeat(world.conn, session_id=session, running=[], ttl=TTL)

    assert [row.id for row in buried] == [session]


async def test_the_runs_of_a_dead_worker_wait_again_with_the_loss_on_record(world: World) -> None:
    session, run = await world.running()

    moved = await take_back_after_death(world)

    assert moved == [(run.id, S.QUEUED)]
    told = await world.get(run.id)
    assert (told.failures, told.losses) == (0, 1)
    outcome = await world.conn.fetchval("select outcome from rota.attempts")
    assert outcome == "lost"
    late = [RunEnding(run.id, run.attempt, S.SUCCEEDED, 0)]
    assert await live_runs.finish_runs(world.conn, session_id=session, endings=late) == {}


async def test_the_third_loss_quarantines_a_run(world: World) -> None:
    run = await world.run()

    states = []
    for _ in range(3):
        session = await world.session()
        await world.claim(session)
        states += [row.state for row in await take_back_after_death(world)]

    assert states == [S.QUEUED, S.QUEUED, S.QUARANTINED]
    told = await world.get(run)
    assert (told.state, told.attempt, told.losses) == (S.QUARANTINED, 3, 3)


async def test_an_at_most_once_run_of_a_dead_worker_is_lost_and_not_repeated(world: World) -> None:
    _, run = await world.running(guarantee=Guarantee.AT_MOST_ONCE)

    moved = await take_back_after_death(world)

    assert moved == [(run.id, S.LOST)]
    assert await world.claim(await world.session()) == []


async def test_a_run_that_was_asked_to_stop_ends_with_its_worker(world: World) -> None:
    _, run = await world.running()
    await live_runs.cancel_runs(world.conn, ids=[run.id])

    moved = await take_back_after_death(world)

    assert moved == [(run.id, S.CANCELLED)]


async def test_a_live_worker_keeps_its_runs_however_long_they_take(world: World) -> None:
    session, run = await world.running()

    for _ in range(30):
        await world.advance(seconds=5)
        await sessions.send_heartbeat(world.conn, session_id=session, running=[run.id], ttl=TTL)
        await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)
        assert await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN) == []

    assert (await world.get(run.id)).attempt == 1


async def test_a_run_that_its_living_worker_forgot_is_taken_back(world: World) -> None:
    session, run = await world.running()
    await world.advance(seconds=4)
    await sessions.send_heartbeat(world.conn, session_id=session, running=[], ttl=TTL)
    too_early = await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)
    await world.advance(seconds=4)
    await sessions.send_heartbeat(world.conn, session_id=session, running=[], ttl=TTL)

    moved = await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)

    assert too_early == []
    assert moved == [(run.id, S.QUEUED)]


async def test_a_reaper_that_was_slow_leaves_alone_what_was_claimed_again_meanwhile(
    world: World, database: str
) -> None:
    """What it saw was a run of a buried session. When it comes to lock it, that run was taken back
    by another reaper and belongs to a session that began after it had looked.
    """
    (run_id,) = await world.runs(1)
    first = await world.session()
    await world.claim(first)
    await sessions.close_session(world.conn, first)
    slow = await asyncpg.connect(database)
    reclaim = live_runs.RECLAIM
    values = {
        "seen_for": ALWAYS_SEEN.lasted,
        "asked_at": ALWAYS_SEEN.asked_at,
        "unknown_for": timedelta(seconds=5),
        "most": 500,
        "most_losses": 3,
    }
    first_look = "r.state in ('running', 'cancelling')"
    paused = reclaim.text.replace(
        first_look, f"(select pg_sleep(0.5)) is not null and {first_look}", 1
    )
    assert paused != reclaim.text
    reaping = asyncio.create_task(
        slow.fetch(paused, *(values[name] for name in reclaim.parameters))
    )

    async def is_asleep() -> bool:
        waits = "select wait_event = 'PgSleep' from pg_stat_activity where pid = $1"
        return bool(await world.conn.fetchval(waits, slow.get_server_pid()))

    await until(is_asleep)
    await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)
    second = await world.session()
    claimed = await world.claim(second)
    taken = await reaping
    await slow.close()

    assert [run.id for run in claimed] == [run_id]
    assert taken == []
    held = await world.conn.fetch("select state::text, session_id from rota.live_runs")
    assert [tuple(row) for row in held] == [("running", second)]


async def test_a_late_success_of_a_run_nobody_took_back_still_counts(world: World) -> None:
    session, run = await world.running()
    await world.advance(seconds=60)

    ending = RunEnding(run.id, run.attempt, S.SUCCEEDED, 0)
    moved = await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])

    assert moved == {run.id: S.SUCCEEDED}


async def test_a_session_is_forgotten_only_when_it_holds_no_run(world: World) -> None:
    await world.running()
    await world.advance(days=2)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)

    kept = await sessions.delete_expired(world.conn, after=timedelta(days=1))
    await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)
    gone = await sessions.delete_expired(world.conn, after=timedelta(days=1))

    assert (kept, gone) == (0, 1)


async def test_a_closed_session_does_not_wait_for_its_lease(world: World) -> None:
    session = await world.session(role=SessionRole.SCHEDULER)

    await sessions.close_session(world.conn, session)

    assert await sessions.read_live_sessions(world.conn, SessionRole.SCHEDULER) == []


async def take_back_after_death(world: World) -> list[live_runs.RunMove]:
    await world.advance(seconds=10)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)
    return await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)
