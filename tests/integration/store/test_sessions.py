"""Sessions die for ever, and their runs are taken back once (E12, P7, F14 to F20)."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest
from tests.support.shop import until
from tests.support.world import TTL, World

from rota.core.errors import LeaseLost
from rota.core.outcome import Guarantee
from rota.core.states import RunState
from rota.store import live_runs, sessions
from rota.store.live_runs import Ending
from rota.store.sessions import Role

S = RunState


async def test_a_beat_renews_the_lease_and_brings_back_what_to_stop(world: World) -> None:
    session, run = await world.running()
    await live_runs.cancel(world.conn, ids=[run.id])
    await world.advance(seconds=9)

    beat = await sessions.beat(world.conn, session_id=session, running=[run.id], ttl=TTL)

    assert beat.expires_at == world.now + TTL
    assert beat.cancelling == [run.id]
    assert not beat.draining


async def test_an_expired_session_cannot_be_revived(world: World) -> None:
    session = await world.session()
    await world.advance(seconds=10)

    with pytest.raises(LeaseLost, match="session"):
        await sessions.beat(world.conn, session_id=session, running=[], ttl=TTL)


async def test_a_buried_session_stays_dead_even_for_a_beat_sent_before(world: World) -> None:
    session = await world.session()
    sent = world.now + timedelta(seconds=9.9)
    await world.advance(seconds=10)
    buried = await sessions.bury(world.conn)

    await world.move_to(sent)
    with pytest.raises(LeaseLost):
        await sessions.beat(world.conn, session_id=session, running=[], ttl=TTL)

    assert [row.id for row in buried] == [session]


async def test_the_runs_of_a_dead_worker_wait_again_with_the_loss_on_record(world: World) -> None:
    session, run = await world.running()

    moved = await take_back_after_death(world)

    assert moved == [(run.id, S.QUEUED)]
    told = await world.get(run.id)
    assert (told.failures, told.losses) == (0, 1)
    outcome = await world.conn.fetchval("select outcome from rota.attempts")
    assert outcome == "lost"
    late = [Ending(run.id, run.attempt, S.SUCCEEDED, 0)]
    assert await live_runs.finish(world.conn, session_id=session, endings=late) == {}


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
    await live_runs.cancel(world.conn, ids=[run.id])

    moved = await take_back_after_death(world)

    assert moved == [(run.id, S.CANCELLED)]


async def test_a_live_worker_keeps_its_runs_however_long_they_take(world: World) -> None:
    session, run = await world.running()

    for _ in range(30):
        await world.advance(seconds=5)
        await sessions.beat(world.conn, session_id=session, running=[run.id], ttl=TTL)
        await sessions.bury(world.conn)
        assert await live_runs.reclaim(world.conn) == []

    assert (await world.get(run.id)).attempt == 1


async def test_a_run_that_its_living_worker_forgot_is_taken_back(world: World) -> None:
    session, run = await world.running()
    await world.advance(seconds=4)
    await sessions.beat(world.conn, session_id=session, running=[], ttl=TTL)
    too_early = await live_runs.reclaim(world.conn)
    await world.advance(seconds=4)
    await sessions.beat(world.conn, session_id=session, running=[], ttl=TTL)

    moved = await live_runs.reclaim(world.conn)

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
    await sessions.close(world.conn, first)
    slow = await asyncpg.connect(database)
    reclaim = live_runs.RECLAIM
    values = {"unknown_for": timedelta(seconds=5), "most": 500, "most_losses": 3}
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
    await live_runs.reclaim(world.conn)
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

    ending = Ending(run.id, run.attempt, S.SUCCEEDED, 0)
    moved = await live_runs.finish(world.conn, session_id=session, endings=[ending])

    assert moved == {run.id: S.SUCCEEDED}


async def test_a_session_is_forgotten_only_when_it_holds_no_run(world: World) -> None:
    await world.running()
    await world.advance(days=2)
    await sessions.bury(world.conn)

    kept = await sessions.forget(world.conn, after=timedelta(days=1))
    await live_runs.reclaim(world.conn)
    gone = await sessions.forget(world.conn, after=timedelta(days=1))

    assert (kept, gone) == (0, 1)


async def test_a_closed_session_does_not_wait_for_its_lease(world: World) -> None:
    session = await world.session(role=Role.SCHEDULER)

    await sessions.close(world.conn, session)

    assert await sessions.live(world.conn, Role.SCHEDULER) == []


async def take_back_after_death(world: World) -> list[live_runs.Moved]:
    await world.advance(seconds=10)
    await sessions.bury(world.conn)
    return await live_runs.reclaim(world.conn)
