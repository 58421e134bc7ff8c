"""What becomes of a run, by what its handler does (E2, E8, E9, E13, E14)."""

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from tests.support.shop import CLOCK, QUICK, Shop, until

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Fail, Retry, Snooze, Stream
from rota.core.outcome import Guarantee
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState
from rota.store import checkpoints, logs

AT_ONCE = RetryPolicy(
    max_retries=2, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
)
IMPATIENT = Policy(retries=AT_ONCE)


async def test_a_waiting_run_is_carried_out_and_its_result_is_kept(shop: Shop) -> None:
    @shop.handlers.handler("add")
    async def add(_context: AttemptContext, payload: Any) -> Any:
        return {"sum": sum(payload)}

    run_id = await shop.submit("add", [1, 2, 3])
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt, run.failures) == (RunState.SUCCEEDED, 1, 0)
    assert json.loads(run.result or "") == {"sum": 6}


async def test_a_run_that_is_claimed_ahead_starts_at_its_time_and_not_before(shop: Shop) -> None:
    started: dict[str, datetime] = {}

    @shop.handlers.handler("note")
    async def note(context: AttemptContext, _payload: Any) -> None:
        started[context.idempotency_key] = CLOCK.now()

    runs: dict[str, datetime] = {}
    ahead = 0
    async with shop.worker():
        # A busy machine may miss the moment to claim ahead: again until it was met.
        while not ahead:
            dues = [CLOCK.now() + number * timedelta(milliseconds=7) for number in range(60, 100)]
            more = {str(await shop.submit("note", due_at=due)): due for due in dues}
            for run_id in more:
                await shop.ends(UUID(run_id))
            runs |= more
            ahead = await shop.conn.fetchval(
                "select count(*) from rota.runs where started_at = due_at"
            )

    assert started.keys() == runs.keys()
    assert [run_id for run_id, due in runs.items() if started[run_id] < due] == []


async def test_a_run_that_fails_is_tried_again_and_then_is_dead(shop: Shop) -> None:
    @shop.handlers.handler("broken")
    async def broken(context: AttemptContext, _payload: Any) -> None:
        raise ValueError(f"attempt {context.attempt}")

    run_id = await shop.submit("broken", policy=IMPATIENT)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt, run.failures) == (RunState.DEAD, 3, 3)
    reason = json.loads(run.reason or "")
    (error,) = reason.pop("traceback")
    assert reason.pop("frame").startswith("tests.integration.engine.execution.test_outcomes:")
    assert reason == {"type": "ValueError", "message": "attempt 3"}
    (own,) = [frame for frame in error["frames"] if frame["is_own"]]
    assert own["function"].endswith("broken")
    assert await shop.attempts(run_id) == [(1, "failed"), (2, "failed")]


async def test_the_traceback_of_a_failure_is_in_the_log_as_an_error(shop: Shop) -> None:
    @shop.handlers.handler("broken")
    async def broken(_context: AttemptContext, _payload: Any) -> None:
        # More than the log of an attempt may hold: the traceback has room of its own.
        _context.write(Stream.STDOUT, 1_100_000 * b"x")
        raise ValueError("the very reason")

    run_id = await shop.submit("broken", policy=Policy(retries=RetryPolicy(max_retries=0)))
    async with shop.worker():
        await shop.ends(run_id)
    pieces = await logs.read_lines(shop.conn, run_id)
    said = b"".join(each.chunk for each in pieces if each.stream == Stream.ERROR)

    assert said.startswith(b"Traceback")
    assert said.endswith(b"ValueError: the very reason\n")


async def test_fail_means_never_again(shop: Shop) -> None:
    @shop.handlers.handler("hopeless")
    async def hopeless(_context: AttemptContext, _payload: Any) -> None:
        raise Fail("no such customer")

    run_id = await shop.submit("hopeless", policy=IMPATIENT)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.DEAD, 1)
    assert json.loads(run.reason or "")["message"] == "no such customer"


async def test_retry_waits_as_long_as_it_was_asked_to(shop: Shop) -> None:
    @shop.handlers.handler("later")
    async def later(context: AttemptContext, _payload: Any) -> None:
        if context.attempt == 1:
            raise Retry("busy", after=timedelta(hours=1))

    run_id = await shop.submit("later", policy=IMPATIENT)
    async with shop.worker():
        await shop.reaches(run_id, RunState.RETRYING)
    ready_at = await shop.conn.fetchval("select ready_at from rota.live_runs where id = $1", run_id)

    assert ready_at - CLOCK.now() > timedelta(minutes=59)


async def test_a_snooze_costs_no_retry(shop: Shop) -> None:
    @shop.handlers.handler("sleepy")
    async def sleepy(context: AttemptContext, _payload: Any) -> str:
        if context.attempt <= 5:
            raise Snooze(timedelta(0))
        return "awake"

    run_id = await shop.submit("sleepy", policy=Policy(retries=RetryPolicy(max_retries=0)))
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt, run.failures) == (RunState.SUCCEEDED, 6, 0)
    assert {outcome for _, outcome in await shop.attempts(run_id)} == {"snoozed"}


async def test_a_payload_that_is_refused_fails_at_once_with_the_reason(shop: Shop) -> None:
    def check(payload: Any) -> Any:
        raise InvalidInput("payload.amount", payload, "a number")

    @shop.handlers.handler("strict", check=check)
    async def strict(_context: AttemptContext, _payload: Any) -> None:
        raise AssertionError("never called")

    run_id = await shop.submit("strict", {"amount": "much"}, policy=IMPATIENT)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.DEAD, 1)
    assert "payload.amount" in json.loads(run.reason or "")["message"]


async def test_a_result_that_is_not_json_is_a_failure_that_says_so(shop: Shop) -> None:
    @shop.handlers.handler("odd")
    async def odd(_context: AttemptContext, _payload: Any) -> object:
        return object()

    run_id = await shop.submit("odd", policy=IMPATIENT)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.DEAD, 1)
    assert "JSON" in json.loads(run.reason or "")["message"]


async def test_an_attempt_that_takes_too_long_is_stopped_and_costs_a_retry(shop: Shop) -> None:
    @shop.handlers.handler("slow")
    async def slow(context: AttemptContext, _payload: Any) -> str:
        if context.attempt == 1:
            await asyncio.Event().wait()
        return "quick"

    policy = Policy(retries=AT_ONCE, timeout=timedelta(milliseconds=200))
    run_id = await shop.submit("slow", policy=policy)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt, run.failures) == (RunState.SUCCEEDED, 2, 1)
    assert await shop.attempts(run_id) == [(1, "timed_out")]


async def test_an_at_most_once_run_that_fails_is_not_tried_again(shop: Shop) -> None:
    @shop.handlers.handler("once")
    async def once(_context: AttemptContext, _payload: Any) -> None:
        raise ValueError("half done")

    policy = Policy(retries=AT_ONCE, guarantee=Guarantee.AT_MOST_ONCE)
    run_id = await shop.submit("once", policy=policy)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.DEAD, 1)


async def test_a_run_past_its_deadline_expires_instead_of_being_retried(shop: Shop) -> None:
    @shop.handlers.handler("broken")
    async def broken(_context: AttemptContext, _payload: Any) -> None:
        raise ValueError

    hour = RetryPolicy(
        max_retries=3,
        growth=DelayGrowth.CONSTANT,
        base_delay=timedelta(hours=1),
        jitter=RetryJitter.NONE,
    )
    deadline = CLOCK.now() + timedelta(minutes=1)
    run_id = await shop.submit("broken", policy=Policy(retries=hour), deadline_at=deadline)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.EXPIRED


async def test_a_later_attempt_goes_on_from_the_last_checkpoint(shop: Shop) -> None:
    @shop.handlers.handler("long")
    async def long(context: AttemptContext, _payload: Any) -> int:
        done: int = await context.resume() or 0
        await context.checkpoint(done + 10)
        if context.attempt < 3:
            raise ValueError("interrupted")
        return done

    run_id = await shop.submit("long", policy=IMPATIENT)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, json.loads(run.result or "")) == (RunState.SUCCEEDED, 20)


async def test_progress_and_output_can_be_seen_while_the_run_goes_on(shop: Shop) -> None:
    @shop.handlers.handler("chatty")
    async def chatty(context: AttemptContext, _payload: Any) -> None:
        print("first line")  # noqa: T201 — that is what is tested
        context.progress(0.25, "a quarter")
        await asyncio.Event().wait()

    async def seen() -> bool:
        note = (await checkpoints.get_notes(shop.conn, [run_id])).get(run_id)
        said = b"".join(line.chunk for line in await logs.read_lines(shop.conn, run_id))
        return bool(note and note.progress == 0.25 and b"first line" in said)

    run_id = await shop.submit("chatty", policy=Policy(timeout=timedelta(seconds=30)))
    async with shop.worker() as worker:
        assert await until(seen)
        assert (await shop.look(run_id)).state is RunState.RUNNING
        worker.stop.request()
        worker.stop.request()


async def test_output_is_kept_in_order_and_cut_at_a_megabyte(shop: Shop) -> None:
    @shop.handlers.handler("loud")
    async def loud(_context: AttemptContext, _payload: Any) -> None:
        for number in range(60_000):
            print(f"line {number:08} of sixty thousand")  # noqa: T201 — that is what is tested

    # Printing all of it may take longer than a loop may usually be blocked.
    patient = msgspec.structs.replace(QUICK, blocked_after=timedelta(minutes=5))
    run_id = await shop.submit("loud")
    async with shop.worker(patient):
        await shop.ends(run_id)
    pieces = await logs.read_lines(shop.conn, run_id, limit=10_000)
    said = b"".join(piece.chunk for piece in pieces).splitlines()

    assert said[0] == b"line 00000000 of sixty thousand"
    assert said[:20_000] == sorted(said[:20_000])
    assert 1_000_000 <= sum(len(piece.chunk) for piece in pieces) < 1_001_000
    assert b"output truncated" in said[-1]


async def test_a_kind_that_this_worker_does_not_know_is_left_alone(shop: Shop) -> None:
    @shop.handlers.handler("known")
    async def known(_context: AttemptContext, _payload: Any) -> None:
        pass

    foreign = await shop.submit("unknown")
    mine = [await shop.submit("known") for _ in range(3)]
    async with shop.worker():
        for run_id in mine:
            await shop.ends(run_id)

    run = await shop.look(foreign)
    assert (run.state, run.attempt) == (RunState.QUEUED, 0)


async def test_a_running_attempt_is_stopped_at_the_deadline_of_its_run(shop: Shop) -> None:
    @shop.handlers.handler("endless")
    async def endless(_context: AttemptContext, _payload: Any) -> None:
        await asyncio.Event().wait()

    deadline = CLOCK.now() + timedelta(seconds=2)
    run_id = await shop.submit("endless", policy=Policy(timeout=None), deadline_at=deadline)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.EXPIRED, 1)


async def test_a_run_that_is_claimed_after_its_deadline_does_not_start(shop: Shop) -> None:
    @shop.handlers.handler("late")
    async def late(_context: AttemptContext, _payload: Any) -> None:
        raise AssertionError("never called")

    deadline = CLOCK.now() - timedelta(seconds=1)
    run_id = await shop.submit("late", policy=Policy(timeout=None), deadline_at=deadline)
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.EXPIRED
    assert "AssertionError" not in (run.reason or "")
