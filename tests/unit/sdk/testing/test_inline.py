"""Handlers that are run in a test, by the code that workers use (I3)."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Fail, Retry, Snooze
from rota.core.outcome import Cancelled, Failed, Snoozed, Succeeded
from rota.sdk import app as sdk
from rota.sdk.testing import Clock, run_inline, run_inline_async, run_until_ended

app = sdk.App("shop")


@dataclass
class Receipt:
    order: int
    id: UUID


@app.job(retries={"max": 2, "kind": "constant", "base": "10s", "jitter": "none"})
async def charge(ctx: sdk.Context, order: int, cents: int = 100) -> Receipt:
    print("charging", order)  # noqa: T201 — its output is the test
    ctx.progress(0.5, "half")
    await ctx.checkpoint({"charged": cents})
    ctx.progress(1.0)
    return Receipt(order=order, id=UUID(int=cents))


@app.job()
def count(ctx: sdk.SyncContext, words: list[str]) -> int:
    ctx.log.warning("counting %d", len(words))
    ctx.checkpoint(len(words))
    return len(words)


def test_an_async_job_tells_its_result_output_progress_and_checkpoints() -> None:
    ran = run_inline(charge, {"order": 7})

    assert ran.succeeded
    assert ran.outcome == Succeeded(result=Receipt(order=7, id=UUID(int=100)))
    assert ran.result == {"order": 7, "id": str(UUID(int=100))}
    assert ran.output == "charging 7\n"
    assert ran.progress == ((0.5, "half"), (1.0, ""))
    assert ran.checkpoints == ({"charged": 100},)
    assert ran.error is None


def test_a_sync_job_runs_in_a_thread_as_in_a_worker() -> None:
    ran = run_inline(count, {"words": ["a", "b"]})

    assert (ran.result, ran.checkpoints) == (2, (2,))
    assert "counting 2" in ran.output


def test_wrong_arguments_fail_without_a_retry() -> None:
    story = run_until_ended(charge, {"order": "seven"})

    assert story.state == "dead"
    assert len(story.attempts) == 1
    assert "order" in str(story.attempts[0].error)


def test_plain_functions_and_handlers_are_run_as_well() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    async def echo(_context: AttemptContext, payload: Any) -> Any:
        return payload

    assert run_inline(add, {"a": 1, "b": 2}).result == 3
    assert run_inline(echo, [1, 2]).result == [1, 2]


def test_an_attempt_goes_on_from_the_checkpoint_of_another() -> None:
    async def resume(ctx: sdk.Context) -> Any:
        return [ctx.attempt, await ctx.resume()]

    ran = run_inline(resume, attempt=3, checkpoint={"page": 7})

    assert ran.result == [3, {"page": 7}]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (Fail("never"), "Fail: never"),
        (Retry("later", after=timedelta(hours=1)), "Retry: later"),
        (SystemExit(3), "SystemExit: 3"),
    ],
    ids=str,
)
def test_what_a_handler_raises_is_its_outcome(error: BaseException, said: str) -> None:
    async def fails() -> None:
        raise error

    ran = run_inline(fails)

    assert isinstance(ran.outcome, Failed)
    assert ran.outcome.final is isinstance(error, Fail)
    assert ran.error == said


def test_a_result_that_json_does_not_know_is_a_failure() -> None:
    ran = run_inline(lambda: {"what": object()})

    assert isinstance(ran.outcome, Failed)
    assert "JSON" in str(ran.error)


def test_retries_wait_as_the_job_says_on_a_clock_that_is_moved() -> None:
    clock = Clock("2026-03-01T00:00:00Z")
    seen: list[datetime] = []

    @app.job(name="flaky", kind="flaky", retries={"max": 5, "base": "1m", "jitter": "none"})
    async def flaky(ctx: sdk.Context) -> str:
        seen.append(clock.now())
        if ctx.attempt < 4:
            raise TimeoutError(f"attempt {ctx.attempt}")
        return "done"

    story = run_until_ended(flaky, clock=clock)

    assert (story.succeeded, story.result, story.state) == (True, "done", "succeeded")
    assert story.delays == (timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4))
    assert seen == [each.at for each in story.attempts]
    assert clock.now() == datetime(2026, 3, 1, 0, 7, tzinfo=UTC)


def test_a_run_gives_up_after_its_last_retry() -> None:
    def fails() -> None:
        raise ValueError("no")

    assert len(run_until_ended(fails).attempts) == 4  # as usual: three retries
    assert len(run_until_ended(fails, retries=0).attempts) == 1
    late = run_until_ended(fails, retries={"max": 9, "base": "1h", "jitter": "none"}, deadline="2h")
    assert (len(late.attempts), late.state) == (2, "expired")


def test_a_snooze_costs_no_retry_and_keeps_the_checkpoint() -> None:
    async def wait(ctx: sdk.Context) -> Any:
        page = await ctx.resume() or 0
        if page == 3:
            return page
        await ctx.checkpoint(page + 1)
        raise Snooze(timedelta(minutes=5))

    story = run_until_ended(wait, retries=0)

    assert isinstance(story.attempts[0].outcome, Snoozed)
    assert (story.result, len(story.attempts)) == (3, 4)
    assert set(story.delays) == {timedelta(minutes=5)}


def test_what_needs_a_database_says_so() -> None:
    async def exactly_once(ctx: sdk.Context) -> None:
        async with ctx.transaction():
            pass

    def in_a_thread(ctx: sdk.SyncContext) -> None:
        with ctx.transaction():
            pass

    assert "rota_server" in str(run_inline(exactly_once).error)
    assert "rota_server" in str(run_inline(in_a_thread).error)


def test_a_job_that_is_exactly_once_fails_inline_without_its_transaction() -> None:
    app = sdk.App("inline")

    @app.job(guarantee="exactly_once")
    def forgetful() -> str:
        return "done"

    ran = run_inline(forgetful)

    assert not ran.succeeded
    assert "without using ctx.transaction()" in str(ran.error)


def test_an_attempt_that_takes_too_long_is_asked_to_stop() -> None:
    def waits(ctx: sdk.SyncContext) -> None:
        while True:
            ctx.progress(0.5)

    async def hangs() -> None:
        await asyncio.Event().wait()

    late = run_inline(hangs, timeout="10ms")
    ended = run_inline(waits, timeout="1h", cancel_after="10ms")

    assert isinstance(late.outcome, Failed)
    assert late.outcome.timed_out
    assert ended.outcome == Cancelled()
    assert run_inline(count, {"words": []}, timeout="1h").succeeded
    with pytest.raises(InvalidInput, match="timeout"):
        run_inline(hangs, timeout="soon")


async def test_inside_a_loop_the_async_twin_is_to_be_awaited() -> None:
    with pytest.raises(InvalidInput, match="await run_inline_async"):
        run_inline(count, {"words": []})

    assert (await run_inline_async(count, {"words": []})).result == 0


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a job, a function, or a handler"):
        run_inline("charge")


def test_records_are_heard_from_the_level_of_a_worker_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.root, "level", logging.WARNING)

    def greet(ctx: sdk.SyncContext) -> None:
        ctx.log.info("hello")
        ctx.log.debug("to nobody")

    ran = run_inline(greet)

    assert "hello" in ran.output
    assert "to nobody" not in ran.output
    assert logging.root.level == logging.WARNING


def test_output_and_logging_are_as_before_afterwards() -> None:
    handlers = list(logging.root.handlers)

    run_inline(count, {"words": []})

    assert logging.root.handlers == handlers


def test_a_clock_moves_on_and_never_back() -> None:
    clock = Clock("2026-03-01T00:00:00+01:00")

    clock.advance("1h30m")
    clock.advance(timedelta(minutes=30))

    assert clock.now() == datetime(2026, 3, 1, 1, tzinfo=UTC)
    assert clock.move_to("2026-03-02T00:00:00Z") == datetime(2026, 3, 2, tzinfo=UTC)
    for wrong in (timedelta(hours=-1), "-1h", "soon"):
        with pytest.raises(InvalidInput):
            clock.advance(wrong)
    with pytest.raises(InvalidInput):
        clock.move_to("2026-03-01T00:00:00Z")
    with pytest.raises(InvalidInput):
        Clock("yesterday")


def test_a_source_tells_what_it_yields_and_a_reducer_reads_what_it_is_given() -> None:
    def letters(text: str) -> Iterator[str]:
        yield from text

    async def joined(ctx: sdk.Context) -> str:
        return "".join([member.result async for member in ctx.members("each")])

    source = run_inline(letters, {"text": "abc"})
    reduced = run_inline(joined, members={"each": ["x", "y"]})
    lost = run_inline(joined)

    assert source.handed_out == ("a", "b", "c")
    assert source.result == {"items": 3}
    assert reduced.result == "xy"
    assert lost.error is not None
    assert "this test has no map 'each'" in lost.error
