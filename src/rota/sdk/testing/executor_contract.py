"""The tests that every executor must pass. Room: sdk/testing; needs pytest and pytest-asyncio.

Subclass it in a file of tests, name the class `Test…` and say what to run:

    class TestMine(ExecutorContract):
        good_payload = {"say": "hello"}
        bad_payloads = ({}, {"say": 1}, "hello")
        failing_payload = {"fail": True}
        slow_payload = {"sleep": "60s"}

        def make_executor(self) -> Executor:
            return MyExecutor()

        def speaking_payload(self, word: str) -> object:
            return {"say": word}

The payloads may as well be set by a fixture (`self.good_payload = …`), for example when they hold
the address of a server. A payload that an executor has no use for stays None: an executor that
never says anything has no `loud_payload`. What is tested is what rota.core.executor promises to
workers; docs/howto/write-an-executor.md explains it.
"""

# ruff: noqa: S101, PT017 - these are tests, though they are shipped

import asyncio
import contextlib
import copy
import json
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any, ClassVar, get_args

import pytest

from rota.core.errors import InvalidInput
from rota.core.executor import Executor, Fail, Retry, Snooze
from rota.core.outcome import Failed, Outcome, Succeeded
from rota.sdk.testing import orphans
from rota.sdk.testing.context import RecordingContext

# Stopping has its grace; what a worker adds before it calls an executor stuck.
ALLOWANCE = 2.0
LONGEST_RESULT = 64 * 1024
LONGEST_MESSAGE = 8 * 1024
MOST_MEMORY = 16 * 1024 * 1024
AT_ONCE = 8
UNSPOKEN = object()


@pytest.mark.asyncio
class ExecutorContract:
    """See the module. All names in capitals are yours to override, too."""

    good_payload: Any = UNSPOKEN
    bad_payloads: Sequence[Any] = ()
    failing_payload: Any = UNSPOKEN
    # Takes a minute at least, unless it is stopped.
    slow_payload: Any = UNSPOKEN
    # Says more than anybody would keep in memory; None for an executor that does not stream.
    loud_payload: Any = None

    GRACE: ClassVar[timedelta] = timedelta(seconds=2)
    # How long the slow payload is left alone before it is stopped.
    HEAD_START: ClassVar[float] = 0.5

    def make_executor(self) -> Executor:
        raise NotImplementedError("return the executor to test")

    def speaking_payload(self, word: str) -> Any:
        """A payload whose log or result holds `word`; None if there can be none."""
        del word
        return None

    # --- what a worker asks before it runs anything

    async def test_it_is_an_executor(self) -> None:
        assert isinstance(self.make_executor(), Executor)

    async def test_its_kinds_are_names_and_stay_the_same(self) -> None:
        executor = self.make_executor()

        kinds = list(executor.kinds)

        assert kinds
        assert all(kind == str(kind).strip() != "" for kind in kinds)
        assert len(set(kinds)) == len(kinds)
        async with opened(executor):
            assert list(executor.kinds) == kinds

    async def test_a_good_payload_is_read_and_left_as_it_was(self) -> None:
        executor = self.make_executor()
        payload = copy.deepcopy(self._given("good_payload"))

        executor.read(executor.kinds[0], payload)
        executor.read(executor.kinds[0], payload)

        assert payload == self.good_payload

    async def test_every_bad_payload_is_refused_with_field_and_wish(self) -> None:
        executor = self.make_executor()
        assert self.bad_payloads, "say at least one payload that is wrong"

        for payload in self.bad_payloads:
            with pytest.raises(InvalidInput) as refusal:
                executor.read(executor.kinds[0], copy.deepcopy(payload))

            assert refusal.value.field, payload
            assert refusal.value.wanted, payload

    # --- what becomes of an attempt

    async def test_a_good_run_succeeds_with_a_result_that_can_be_stored(self) -> None:
        executor = self.make_executor()
        async with opened(executor):
            outcome = await perform(executor, self._given("good_payload"))

        assert isinstance(outcome, Succeeded)
        stored = json.dumps(outcome.result, allow_nan=False, ensure_ascii=False).encode()
        assert len(stored) <= LONGEST_RESULT + 4096
        assert b"\\u0000" not in stored, "PostgreSQL stores no NUL in JSON"

    async def test_a_failing_run_says_what_failed(self) -> None:
        executor = self.make_executor()
        async with opened(executor):
            try:
                outcome = await perform(executor, self._given("failing_payload"))
            except (Fail, Retry, Snooze) as said:
                assert str(said)
                return

        assert isinstance(outcome, Failed)
        assert outcome.failure.type
        assert outcome.failure.type == outcome.failure.type.strip()
        assert 0 < len(outcome.failure.message.encode()) <= LONGEST_MESSAGE

    async def test_the_same_executor_runs_again_and_again(self) -> None:
        executor = self.make_executor()
        async with opened(executor):
            outcomes = [await perform(executor, self._given("good_payload")) for _ in range(3)]

        assert all(isinstance(outcome, Succeeded) for outcome in outcomes)

    async def test_attempts_at_the_same_time_do_not_mix(self) -> None:
        words = [f"word-{number}-of-this-attempt" for number in range(AT_ONCE)]
        payloads = [self.speaking_payload(word) for word in words]
        contexts = [RecordingContext(grace=self.GRACE) for _ in words]
        if payloads[0] is None:
            payloads = [self._given("good_payload")] * AT_ONCE
        executor = self.make_executor()

        async with opened(executor):
            running = map(perform, [executor] * AT_ONCE, payloads, contexts)
            outcomes = await asyncio.gather(*running)

        assert all(isinstance(outcome, get_args(Outcome)) for outcome in outcomes)
        if self.speaking_payload(words[0]) is not None:
            for word, context, outcome in zip(words, contexts, outcomes, strict=True):
                everything = context.everything + repr(outcome)
                assert [other for other in words if other in everything] == [word]

    async def test_a_running_attempt_leaves_the_loop_to_others(self) -> None:
        executor, loop = self.make_executor(), asyncio.get_running_loop()
        async with opened(executor):
            began = loop.time()
            slow = asyncio.create_task(self._slow(executor))
            await asyncio.wait([slow], timeout=self.HEAD_START)
            took = loop.time() - began
            slow.cancel()
            await asyncio.wait([slow])

        assert took < self.HEAD_START + ALLOWANCE, "what blocks belongs in a thread or a process"

    # --- how it stops

    async def test_a_cancelled_run_stops_within_its_grace_and_leaves_no_process(self) -> None:
        executor = self.make_executor()
        with orphans.adopting():
            async with opened(executor):
                before = orphans.living()
                slow = asyncio.create_task(self._slow(executor))
                ended, _ = await asyncio.wait([slow], timeout=self.HEAD_START)
                assert not ended, f"the slow payload ended by itself: {slow}"

                slow.cancel()
                limit = self.GRACE.total_seconds() + ALLOWANCE
                ended, _ = await asyncio.wait([slow], timeout=limit)
                left = orphans.living() - before

        assert ended, f"it was not stopped within {limit} seconds"
        assert slow.cancelled(), "CancelledError must pass"
        assert not left, "processes were left behind"

    async def test_a_run_that_is_cancelled_twice_leaves_no_process_either(self) -> None:
        executor = self.make_executor()
        with orphans.adopting():
            async with opened(executor):
                before = orphans.living()
                slow = asyncio.create_task(self._slow(executor))
                await asyncio.wait([slow], timeout=self.HEAD_START)

                slow.cancel()
                await asyncio.wait([slow], timeout=0.05)
                slow.cancel()
                ended, _ = await asyncio.wait([slow], timeout=ALLOWANCE)
                left = orphans.living() - before

        assert ended
        assert slow.cancelled()
        assert not left

    async def test_after_a_cancelled_run_the_next_one_succeeds(self) -> None:
        executor = self.make_executor()
        async with opened(executor):
            slow = asyncio.create_task(self._slow(executor))
            await asyncio.wait([slow], timeout=self.HEAD_START)
            slow.cancel()
            await asyncio.wait([slow])

            outcome = await perform(executor, self._given("good_payload"))

        assert isinstance(outcome, Succeeded)

    async def test_it_closes_without_having_run_and_with_no_task_left(self) -> None:
        before = asyncio.all_tasks()
        executor = self.make_executor()

        await executor.open()
        await executor.close()

        assert asyncio.all_tasks() <= before

    # --- how it deals with a lot

    async def test_a_lot_of_output_needs_little_memory(self) -> None:
        executor, context = self.make_executor(), RecordingContext(grace=self.GRACE)
        loud = self._given("good_payload") if self.loud_payload is None else self.loud_payload
        async with opened(executor):
            tracemalloc.start()
            try:
                outcome = await perform(executor, loud, context)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()

        assert isinstance(outcome, get_args(Outcome))
        assert peak < MOST_MEMORY

    async def _slow(self, executor: Executor) -> Outcome:
        context = RecordingContext(grace=self.GRACE)
        return await perform(executor, self._given("slow_payload"), context)

    def _given(self, name: str) -> Any:
        value = getattr(self, name)
        assert value is not UNSPOKEN, f"set {name}"
        return value


@contextlib.asynccontextmanager
async def opened(executor: Executor) -> AsyncIterator[None]:
    """As a worker does it: open before the first run, close after the last."""
    await executor.open()
    try:
        yield
    finally:
        await executor.close()


async def perform(
    executor: Executor, payload: Any, context: RecordingContext | None = None
) -> Outcome:
    """Read a payload and run it."""
    kind = executor.kinds[0]
    context = context or RecordingContext(kind=kind)
    return await executor.run(executor.read(kind, copy.deepcopy(payload)), context)
