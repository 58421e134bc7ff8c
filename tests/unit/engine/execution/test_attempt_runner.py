"""One attempt on its way to an outcome (E2, E12)."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from rota.core.attempt import StopReason
from rota.core.executor import AttemptContext
from rota.core.lease import SESSION_LEASE, LeaseValidity
from rota.core.outcome import Cancelled, HandedBack, Outcome, Succeeded
from rota.core.policy import Policy
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.attempt_runner import run_attempt
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


def an_attempt(executor: Counting) -> Attempt:
    run = ClaimedRun(
        UUID(int=1), UUID(int=2), 1, 1, 0, 1, 1, 1, 5, NOON, NOON, NOON, NOON, None, None
    )
    # Nothing here asks for an effect.
    return Attempt(run, "count", Policy(), None, executor, None)  # type: ignore[arg-type]


async def test_an_attempt_that_is_cancelled_before_its_time_never_starts() -> None:
    executor = Counting()
    attempt = an_attempt(executor)
    attempt.start_at = asyncio.get_running_loop().time() + AN_HOUR
    performing = asyncio.create_task(run_attempt(attempt))
    await CLOCK.sleep(0)

    attempt.stop_reason = StopReason.CANCEL
    performing.cancel()

    assert (await performing, executor.ran) == (Cancelled(), 0)


async def test_an_attempt_does_not_start_once_its_run_may_be_somebody_elses() -> None:
    executor = Counting()
    trust = LeaseValidity(SESSION_LEASE, start_until=asyncio.get_running_loop().time() - 1)

    assert (await run_attempt(an_attempt(executor), trust), executor.ran) == (
        HandedBack(has_started=False),
        0,
    )


async def test_trust_that_ends_while_an_attempt_waits_for_its_time_keeps_it_from_starting() -> None:
    executor = Counting()
    attempt = an_attempt(executor)
    trust = LeaseValidity(SESSION_LEASE)
    attempt.start_at = asyncio.get_running_loop().time() + 0.01
    performing = asyncio.create_task(run_attempt(attempt, trust))
    await CLOCK.sleep(0)

    trust.start_until = asyncio.get_running_loop().time()

    assert (await performing, executor.ran) == (HandedBack(has_started=False), 0)


async def test_an_attempt_whose_time_has_come_starts_at_once() -> None:
    executor = Counting()
    attempt = an_attempt(executor)
    attempt.start_at = asyncio.get_running_loop().time() - 1

    assert (await run_attempt(attempt), executor.ran) == (Succeeded(), 1)
