"""Provides the tests that every executor must pass. Needs pytest and pytest-asyncio.

Subclass `ExecutorContract` in a test file, name the class `Test…` and set the payloads:

    class TestMine(ExecutorContract):
        good_payload = {"say": "hello"}
        bad_payloads = ({}, {"say": 1}, "hello")
        failing_payload = {"fail": True}
        slow_payload = {"sleep": "60s"}

        def make_executor(self) -> Executor:
            return MyExecutor()

        def speaking_payload(self, word: str) -> object:
            return {"say": word}

A fixture may set the payloads too (`self.good_payload = …`), for example if they contain the
address of a server. `loud_payload` stays None for an executor without output. The tests check the
contract of rota.core.executor; docs/howto/write-an-executor.md explains it.
"""

# ruff: noqa: S101, PT017 - these are tests that are part of the package

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

# Seconds after the grace period until a worker considers an executor stuck.
STOP_MARGIN_S = 2.0
RESULT_BYTES_LIMIT = 64 * 1024
MESSAGE_BYTES_LIMIT = 8 * 1024
MEMORY_BYTES_LIMIT = 16 * 1024 * 1024
CONCURRENT_ATTEMPTS = 8
NOT_SET = object()


@pytest.mark.asyncio
class ExecutorContract:
    """The contract of an executor. Subclasses may override the names in capitals too."""

    good_payload: Any = NOT_SET
    bad_payloads: Sequence[Any] = ()
    failing_payload: Any = NOT_SET
    # Must run for at least a minute.
    slow_payload: Any = NOT_SET
    # Writes more than should be kept in memory; None for an executor that does not stream.
    loud_payload: Any = None

    GRACE: ClassVar[timedelta] = timedelta(seconds=2)
    # Seconds that the slow payload runs before it is stopped.
    HEAD_START: ClassVar[float] = 0.5

    def make_executor(self) -> Executor:
        raise NotImplementedError("return the executor to test")

    def speaking_payload(self, word: str) -> Any:
        """A payload whose log or result contains `word`; None if the executor has no such."""
        del word
        return None

    # --- before an attempt

    async def test_it_is_an_executor(self) -> None:
        assert isinstance(self.make_executor(), Executor)

    async def test_its_kinds_are_names_and_stay_the_same(self) -> None:
        executor = self.make_executor()

        kinds = list(executor.kinds)

        assert kinds
        assert all(kind == str(kind).strip() != "" for kind in kinds)
        assert len(set(kinds)) == len(kinds)
        async with open_executor(executor):
            assert list(executor.kinds) == kinds

    async def test_a_good_payload_is_read_and_left_as_it_was(self) -> None:
        executor = self.make_executor()
        payload = copy.deepcopy(self._require("good_payload"))

        executor.read(executor.kinds[0], payload)
        executor.read(executor.kinds[0], payload)

        assert payload == self.good_payload

    async def test_every_bad_payload_is_refused_with_field_and_wish(self) -> None:
        executor = self.make_executor()
        assert self.bad_payloads, "set bad_payloads to at least one invalid payload"

        for payload in self.bad_payloads:
            with pytest.raises(InvalidInput) as refusal:
                executor.read(executor.kinds[0], copy.deepcopy(payload))

            assert refusal.value.field, payload
            assert refusal.value.wanted, payload

    # --- outcomes of an attempt

    async def test_a_good_run_succeeds_with_a_result_that_can_be_stored(self) -> None:
        executor = self.make_executor()
        async with open_executor(executor):
            outcome = await run_payload(executor, self._require("good_payload"))

        assert isinstance(outcome, Succeeded)
        stored = json.dumps(outcome.result, allow_nan=False, ensure_ascii=False).encode()
        assert len(stored) <= RESULT_BYTES_LIMIT + 4096
        assert b"\\u0000" not in stored, "PostgreSQL cannot store NUL in JSON"

    async def test_a_failing_run_says_what_failed(self) -> None:
        executor = self.make_executor()
        async with open_executor(executor):
            try:
                outcome = await run_payload(executor, self._require("failing_payload"))
            except (Fail, Retry, Snooze) as decision:
                assert str(decision)
                return

        assert isinstance(outcome, Failed)
        assert outcome.failure.type
        assert outcome.failure.type == outcome.failure.type.strip()
        assert 0 < len(outcome.failure.message.encode()) <= MESSAGE_BYTES_LIMIT

    async def test_the_same_executor_runs_again_and_again(self) -> None:
        executor = self.make_executor()
        async with open_executor(executor):
            outcomes = [
                await run_payload(executor, self._require("good_payload")) for _ in range(3)
            ]

        assert all(isinstance(outcome, Succeeded) for outcome in outcomes)

    async def test_attempts_at_the_same_time_do_not_mix(self) -> None:
        words = [f"word-{number}-of-this-attempt" for number in range(CONCURRENT_ATTEMPTS)]
        payloads = [self.speaking_payload(word) for word in words]
        contexts = [RecordingContext(grace=self.GRACE) for _ in words]
        if payloads[0] is None:
            payloads = [self._require("good_payload")] * CONCURRENT_ATTEMPTS
        executor = self.make_executor()

        async with open_executor(executor):
            running = map(run_payload, [executor] * CONCURRENT_ATTEMPTS, payloads, contexts)
            outcomes = await asyncio.gather(*running)

        assert all(isinstance(outcome, get_args(Outcome)) for outcome in outcomes)
        if self.speaking_payload(words[0]) is not None:
            for word, context, outcome in zip(words, contexts, outcomes, strict=True):
                everything = context.all_output + repr(outcome)
                assert [other for other in words if other in everything] == [word]

    async def test_a_running_attempt_leaves_the_loop_to_others(self) -> None:
        executor, loop = self.make_executor(), asyncio.get_running_loop()
        async with open_executor(executor):
            began = loop.time()
            slow = asyncio.create_task(self._slow(executor))
            await asyncio.wait([slow], timeout=self.HEAD_START)
            took = loop.time() - began
            slow.cancel()
            await asyncio.wait([slow])

        limit = self.HEAD_START + STOP_MARGIN_S
        assert took < limit, "the executor blocks the event loop; use a thread or a process"

    # --- stopping

    async def test_a_cancelled_run_stops_within_its_grace_and_leaves_no_process(self) -> None:
        executor = self.make_executor()
        with orphans.adopt_orphans():
            async with open_executor(executor):
                before = orphans.list_living_descendants()
                slow = asyncio.create_task(self._slow(executor))
                ended, _ = await asyncio.wait([slow], timeout=self.HEAD_START)
                assert not ended, f"slow_payload ended before it was stopped: {slow}"

                slow.cancel()
                limit = self.GRACE.total_seconds() + STOP_MARGIN_S
                ended, _ = await asyncio.wait([slow], timeout=limit)
                left = orphans.list_living_descendants() - before

        assert ended, f"the attempt did not stop within {limit} seconds"
        assert slow.cancelled(), "the executor must not swallow CancelledError"
        assert not left, "the executor left processes behind"

    async def test_a_run_that_is_cancelled_twice_leaves_no_process_either(self) -> None:
        executor = self.make_executor()
        with orphans.adopt_orphans():
            async with open_executor(executor):
                before = orphans.list_living_descendants()
                slow = asyncio.create_task(self._slow(executor))
                await asyncio.wait([slow], timeout=self.HEAD_START)

                slow.cancel()
                await asyncio.wait([slow], timeout=0.05)
                slow.cancel()
                ended, _ = await asyncio.wait([slow], timeout=STOP_MARGIN_S)
                left = orphans.list_living_descendants() - before

        assert ended
        assert slow.cancelled()
        assert not left

    async def test_after_a_cancelled_run_the_next_one_succeeds(self) -> None:
        executor = self.make_executor()
        async with open_executor(executor):
            slow = asyncio.create_task(self._slow(executor))
            await asyncio.wait([slow], timeout=self.HEAD_START)
            slow.cancel()
            await asyncio.wait([slow])

            outcome = await run_payload(executor, self._require("good_payload"))

        assert isinstance(outcome, Succeeded)

    async def test_it_closes_without_having_run_and_with_no_task_left(self) -> None:
        before = asyncio.all_tasks()
        executor = self.make_executor()

        await executor.open()
        await executor.close()

        assert asyncio.all_tasks() <= before

    # --- large output

    async def test_a_lot_of_output_needs_little_memory(self) -> None:
        executor, context = self.make_executor(), RecordingContext(grace=self.GRACE)
        loud = self._require("good_payload") if self.loud_payload is None else self.loud_payload
        async with open_executor(executor):
            tracemalloc.start()
            try:
                outcome = await run_payload(executor, loud, context)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()

        assert isinstance(outcome, get_args(Outcome))
        assert peak < MEMORY_BYTES_LIMIT

    async def _slow(self, executor: Executor) -> Outcome:
        context = RecordingContext(grace=self.GRACE)
        return await run_payload(executor, self._require("slow_payload"), context)

    def _require(self, name: str) -> Any:
        value = getattr(self, name)
        assert value is not NOT_SET, f"set {name} in the subclass"
        return value


@contextlib.asynccontextmanager
async def open_executor(executor: Executor) -> AsyncIterator[None]:
    """Open and close an executor as a worker does: before the first run and after the last."""
    await executor.open()
    try:
        yield
    finally:
        await executor.close()


async def run_payload(
    executor: Executor, payload: Any, context: RecordingContext | None = None
) -> Outcome:
    """Read a payload and run one attempt with it."""
    kind = executor.kinds[0]
    context = context or RecordingContext(kind=kind)
    return await executor.run(executor.read(kind, copy.deepcopy(payload)), context)
