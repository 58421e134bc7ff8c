"""One attempt on its way to an outcome (E2, E12)."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from rota.core.executor import AttemptContext
from rota.core.lease import SESSION_LEASE, LeaseValidity
from rota.core.outcome import Cancelled, Failed, HandedBack, NewerVersionNeeded, Outcome, Succeeded
from rota.core.policy import Policy, UnreadablePolicy
from rota.core.settlement import StopReason
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.pipeline import AttemptPipeline, BreakerPass, Breakers
from rota.runtime.clock import SystemClock
from rota.store.live_runs import ClaimedRun

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
AN_HOUR = 3600.0
CLOCK = SystemClock()


class Counting:
    """An executor that counts what it ran."""

    kinds: Sequence[str] = ("count",)

    def __init__(self) -> None:
        self.ran = 0

    def read(self, _kind: str, payload: Any) -> Any:
        return payload

    async def run(self, _spec: Any, _context: AttemptContext) -> Outcome:
        self.ran += 1
        return Succeeded()

    async def open(self) -> None: ...

    async def close(self) -> None: ...


def an_attempt(executor: Counting, deadline_at: datetime | None = None) -> Attempt:
    run = ClaimedRun(
        UUID(int=1), UUID(int=2), 1, 1, 0, 1, 1, 1, 5, NOON, NOON, NOON, NOON, deadline_at, None
    )
    # Nothing here asks for an effect.
    return Attempt(run, "count", Policy(), None, executor, None)  # type: ignore[arg-type]


async def test_an_attempt_that_is_cancelled_before_its_time_never_starts() -> None:
    executor = Counting()
    attempt = an_attempt(executor)
    attempt.start_at = asyncio.get_running_loop().time() + AN_HOUR
    performing = asyncio.create_task(AttemptPipeline().run(attempt))
    await CLOCK.sleep(0)

    attempt.stop_reason = StopReason.CANCEL
    performing.cancel()

    assert (await performing, executor.ran) == (Cancelled(), 0)


async def test_an_attempt_does_not_start_once_its_run_may_be_somebody_elses() -> None:
    executor = Counting()
    trust = LeaseValidity(SESSION_LEASE, start_until=asyncio.get_running_loop().time() - 1)

    outcome = await AttemptPipeline(lease_validity=trust).run(an_attempt(executor))

    assert (outcome, executor.ran) == (HandedBack(has_started=False), 0)


async def test_trust_that_ends_while_an_attempt_waits_for_its_time_keeps_it_from_starting() -> None:
    executor = Counting()
    attempt = an_attempt(executor)
    trust = LeaseValidity(SESSION_LEASE)
    attempt.start_at = asyncio.get_running_loop().time() + 0.01
    performing = asyncio.create_task(AttemptPipeline(lease_validity=trust).run(attempt))
    await CLOCK.sleep(0)

    trust.start_until = asyncio.get_running_loop().time()

    assert (await performing, executor.ran) == (HandedBack(has_started=False), 0)


async def test_an_attempt_whose_time_has_come_starts_at_once() -> None:
    executor = Counting()
    attempt = an_attempt(executor)
    attempt.start_at = asyncio.get_running_loop().time() - 1

    assert (await AttemptPipeline().run(attempt), executor.ran) == (Succeeded(), 1)


class Recording(Counting):
    """An executor that records the steps around it, and is their span and breaker, too."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[str] = []

    def read(self, _kind: str, payload: Any) -> Any:
        self.steps.append("read payload")
        return payload

    async def run(self, _spec: Any, _context: AttemptContext) -> Outcome:
        self.steps.append("call executor")
        return Succeeded(result=1)

    def check_attempt(self, attempt: Attempt, _spec: Any) -> None:
        self.steps.append("check breaker")
        attempt.breaker_pass = BreakerPass(1, "a:1", 0, is_named=True, only_calls=True)

    def record_ending(self, _pass: BreakerPass, outcome: Outcome) -> None:
        self.steps.append(f"breaker records {type(outcome).__name__}")

    def start_span(self, _run: ClaimedRun, _kind: str, *, ahead: float) -> Any:
        assert ahead == 0.0
        self.steps.append("start span")
        return self

    def end(self, outcome: Outcome) -> None:
        self.steps.append(f"span ends with {type(outcome).__name__}")


async def test_the_steps_of_an_attempt_run_in_the_order_in_which_they_are_listed() -> None:
    worker = Recording()
    attempt = an_attempt(worker)
    pipeline = AttemptPipeline(breakers=cast("Breakers", worker), start_span=worker.start_span)

    assert pipeline.begin(attempt, asyncio.get_running_loop().time()) is None
    ended = pipeline.end(attempt, await pipeline.run(attempt))

    assert worker.steps == [
        "start span",
        "read payload",
        "check breaker",
        "call executor",
        "breaker records Succeeded",
        "span ends with Succeeded",
    ]
    assert (ended.outcome, ended.result, attempt.is_closed) == (Succeeded(result=1), "1", True)


async def test_an_attempt_whose_deadline_has_passed_ends_without_a_task() -> None:
    attempt = an_attempt(Counting(), deadline_at=NOON)

    outcome = AttemptPipeline().begin(attempt, 0.0)

    assert isinstance(outcome, Failed)
    assert outcome.timed_out


async def test_an_attempt_whose_policy_only_newer_code_can_read_is_set_aside() -> None:
    executor = Counting()
    attempt = an_attempt(executor)
    attempt.policy = UnreadablePolicy(reason="guarantee: unknown value")

    outcome = await AttemptPipeline().run(attempt)

    assert isinstance(outcome, NewerVersionNeeded)
    assert (outcome.reason, executor.ran) == ("guarantee: unknown value", 0)
