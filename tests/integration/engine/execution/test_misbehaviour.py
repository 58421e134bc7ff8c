"""A handler that misbehaves harms no other run (E9, E11, E15)."""

import asyncio
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from tests.support.shop import QUICK, Shop, until
from tests.support.world import ALWAYS_SEEN

from rota.core.executor import AttemptContext
from rota.core.log_events import AttemptStuck, LoopBlocked
from rota.core.outcome import Guarantee
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState
from rota.store import live_runs, sessions

AT_ONCE = RetryPolicy(
    max_retries=1, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
)
NO_GRACE = Policy(retries=AT_ONCE, grace=timedelta(0), timeout=timedelta(milliseconds=300))


def exit_process() -> None:
    sys.exit(3)


def interrupt() -> None:
    raise KeyboardInterrupt


def cancel_itself() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("harm", [exit_process, interrupt, cancel_itself])
async def test_whatever_a_handler_raises_fails_its_own_run_only(
    shop: Shop, harm: Callable[[], None]
) -> None:
    @shop.handlers.handler("bad")
    async def bad(_context: AttemptContext, _payload: Any) -> None:
        harm()

    @shop.handlers.handler("good")
    async def good(_context: AttemptContext, _payload: Any) -> None:
        pass

    bad_id = await shop.submit("bad", policy=Policy(retries=AT_ONCE))
    good_ids = [await shop.submit("good") for _ in range(5)]
    async with shop.worker() as worker:
        bad_run = await shop.ends(bad_id)
        good_runs = [await shop.ends(run_id) for run_id in good_ids]
        assert not worker.node.done()

    assert (bad_run.state, bad_run.attempt) == (RunState.DEAD, 2)
    assert {run.state for run in good_runs} == {RunState.SUCCEEDED}


async def test_a_handler_that_blocks_the_loop_fails_and_the_others_start_again(
    shop: Shop,
) -> None:
    freed = threading.Event()

    @shop.handlers.handler("blocking")
    async def blocking(_context: AttemptContext, _payload: Any) -> None:
        freed.wait()

    @shop.handlers.handler("waiting")
    async def waiting(context: AttemptContext, _payload: Any) -> int:
        if context.attempt == 1:
            await asyncio.Event().wait()
        return context.attempt

    innocent = await shop.submit("waiting")
    async with shop.worker():
        await shop.reaches(innocent, RunState.RUNNING)
        culprit = await shop.submit("blocking", policy=Policy(retries=RetryPolicy(max_retries=0)))
        blamed = await shop.ends(culprit)
        saved = await shop.ends(innocent)
        freed.set()

    assert (blamed.state, blamed.attempt) == (RunState.DEAD, 1)
    assert "handler blocked the event loop" in (blamed.reason or "")
    assert (saved.state, saved.attempt, saved.failures) == (RunState.SUCCEEDED, 2, 0)
    assert await shop.attempts(innocent) == [(1, "released")]
    (event,) = [event for event in shop.events if isinstance(event, LoopBlocked)]
    assert event.kind == "blocking"


async def test_a_worker_whose_loop_is_blocked_goes_on_beating(shop: Shop) -> None:
    freed = threading.Event()

    @shop.handlers.handler("blocking")
    async def blocking(_context: AttemptContext, _payload: Any) -> None:
        freed.wait()

    patient = msgspec.structs.replace(QUICK, blocked_after=timedelta(minutes=1))
    run_id = await shop.submit("blocking")
    async with shop.worker(patient) as worker:
        await shop.reaches(run_id, RunState.RUNNING)
        first = (await sessions.read_live_sessions(shop.conn, sessions.SessionRole.WORKER))[
            0
        ].beat_at

        async def beats_on() -> bool:
            (session,) = await sessions.read_live_sessions(shop.conn, sessions.SessionRole.WORKER)
            return session.beat_at > first + 2 * QUICK.lease

        assert await until(beats_on)
        assert not worker.node.done()
        freed.set()
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.SUCCEEDED, 1)


async def test_an_attempt_that_ignores_every_request_to_stop_does_not_keep_its_slot(
    shop: Shop,
) -> None:
    freed = threading.Event()

    @shop.handlers.handler("deaf")
    def deaf(_context: Any, _payload: Any) -> None:
        freed.wait()

    @shop.handlers.handler("good")
    async def good(_context: AttemptContext, _payload: Any) -> None:
        pass

    one_slot = msgspec.structs.replace(QUICK, slots=1)
    deaf_id = await shop.submit("deaf", policy=NO_GRACE)
    async with shop.worker(one_slot):
        await shop.reaches(deaf_id, RunState.RUNNING)
        good_id = await shop.submit("good")
        stuck = await shop.ends(deaf_id)
        run = await shop.ends(good_id)
        freed.set()

    assert stuck.state is RunState.DEAD
    assert run.state is RunState.SUCCEEDED


async def test_an_async_handler_that_swallows_its_cancellation_is_given_up(shop: Shop) -> None:
    @shop.handlers.handler("stubborn")
    async def stubborn(_context: AttemptContext, _payload: Any) -> None:
        for _ in range(50):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    policy = Policy(
        retries=RetryPolicy(max_retries=0), grace=timedelta(0), timeout=timedelta(milliseconds=200)
    )
    run_id = await shop.submit("stubborn", policy=policy)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.DEAD
    assert [type(e) for e in shop.events if isinstance(e, AttemptStuck)] == [AttemptStuck]


async def test_a_running_run_that_is_cancelled_stops_and_ends_as_cancelled(shop: Shop) -> None:
    stopped = threading.Event()

    @shop.handlers.handler("endless")
    async def endless(_context: AttemptContext, _payload: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    run_id = await shop.submit("endless")
    async with shop.worker():
        await shop.reaches(run_id, RunState.RUNNING)
        await live_runs.cancel_runs(shop.conn, ids=[run_id])
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.CANCELLED, 1)
    assert stopped.is_set()


async def test_a_run_cancelled_by_force_is_over_before_its_handler_knows(shop: Shop) -> None:
    freed = threading.Event()

    @shop.handlers.handler("busy")
    def busy(_context: Any, _payload: Any) -> str:
        freed.wait()
        return "done"

    run_id = await shop.submit("busy")
    async with shop.worker():
        await shop.reaches(run_id, RunState.RUNNING)
        forced = await live_runs.cancel_runs_now(shop.conn, ids=[run_id])
        run = await shop.look(run_id)
        freed.set()

    assert forced == [run_id]
    assert run.state is RunState.CANCELLED
    assert (await shop.look(run_id)).result is None


async def test_a_draining_worker_lets_its_runs_end(shop: Shop) -> None:
    told = threading.Event()

    @shop.handlers.handler("slow")
    def slow(_context: Any, _payload: Any) -> str:
        told.wait()
        return "in time"

    run_id = await shop.submit("slow")
    async with shop.worker() as worker:
        await shop.reaches(run_id, RunState.RUNNING)
        late = await shop.submit("slow")
        worker.stop.request()
        told.set()
        ending = await worker.node

    assert ending.exit_code == 0
    assert (await shop.look(run_id)).state is RunState.SUCCEEDED
    assert await sessions.read_live_sessions(shop.conn, sessions.SessionRole.WORKER) == []
    assert (await shop.look(late)).state in {RunState.SUCCEEDED, RunState.QUEUED}


@pytest.mark.parametrize(
    ("guarantee", "state"),
    [(Guarantee.AT_LEAST_ONCE, RunState.QUEUED), (Guarantee.AT_MOST_ONCE, RunState.LOST)],
)
async def test_what_outlives_the_drain_is_handed_back_unless_it_may_run_only_once(
    shop: Shop, guarantee: Guarantee, state: RunState
) -> None:
    @shop.handlers.handler("endless")
    async def endless(_context: AttemptContext, _payload: Any) -> None:
        await asyncio.Event().wait()

    hasty = msgspec.structs.replace(QUICK, drain=timedelta(milliseconds=100))
    run_id = await shop.submit("endless", policy=Policy(guarantee=guarantee))
    async with shop.worker(hasty) as worker:
        await shop.reaches(run_id, RunState.RUNNING)
        await worker.drain()

    run = await shop.look(run_id)
    assert (run.state, run.attempt, run.failures) == (state, 1, 0)


async def test_a_worker_whose_session_was_buried_ends_itself_and_records_nothing(
    shop: Shop,
) -> None:
    freed = threading.Event()

    @shop.handlers.handler("busy")
    def busy(_context: Any, _payload: Any) -> str:
        freed.wait()
        return "too late"

    run_id = await shop.submit("busy")
    async with shop.worker() as worker:
        await shop.reaches(run_id, RunState.RUNNING)
        await shop.conn.execute("update rota.sessions set expires_at = '-infinity'")
        ending = await worker.node
        freed.set()
    await live_runs.reclaim_runs(shop.conn, sight=ALWAYS_SEEN)

    run = await shop.look(run_id)
    assert ending.exit_code == 1
    assert (run.state, run.losses) == (RunState.QUEUED, 1)


async def test_the_third_lost_worker_quarantines_the_run(shop: Shop) -> None:
    freed = threading.Event()

    @shop.handlers.handler("poison")
    def poison(_context: Any, _payload: Any) -> None:
        freed.wait()

    run_id = await shop.submit("poison", policy=Policy(grace=timedelta(0)))
    for _ in range(3):
        async with shop.worker() as worker:
            await shop.reaches(run_id, RunState.RUNNING)
            await shop.conn.execute("update rota.sessions set expires_at = '-infinity'")
            await worker.node
        await live_runs.reclaim_runs(shop.conn, sight=ALWAYS_SEEN)
    freed.set()

    run = await shop.look(run_id)
    assert (run.state, run.attempt, run.losses) == (RunState.QUARANTINED, 3, 3)


async def test_a_task_that_a_handler_left_behind_cannot_end_the_worker(shop: Shop) -> None:
    @shop.handlers.handler("careless")
    async def careless(_context: AttemptContext, _payload: Any) -> None:
        async def later() -> None:
            sys.exit(3)

        tasks.append(asyncio.ensure_future(later()))

    @shop.handlers.handler("good")
    async def good(_context: AttemptContext, _payload: Any) -> None:
        pass

    tasks: list[object] = []
    careless_id = await shop.submit("careless")
    async with shop.worker():
        await shop.ends(careless_id)
        good_run = await shop.ends(await shop.submit("good"))

    assert good_run.state is RunState.SUCCEEDED
