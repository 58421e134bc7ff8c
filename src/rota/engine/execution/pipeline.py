"""Lists the steps of an attempt and runs them in order, from its claim to its ending.

`AttemptPipeline` has three phases. `begin` runs when the attempt loop accepts the attempt, `run` is
the attempt's task, and `end` runs once the attempt has an outcome, also if it never stopped. Each
phase calls its steps one after the other, and the functions below implement them in that order.

A step that does not apply to an attempt costs one comparison: it starts no task, and `run` awaits
nothing for it. What a step leaves for a later one is a field of `Attempt`.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Final

from rota.core.attempt import EndedAttempt, StopReason
from rota.core.graphs.graph import GRAPH_KIND
from rota.core.guarantees import ExactlyOnceRequest, build_exactly_once_error
from rota.core.kind_descriptions import supports_exactly_once
from rota.core.lease import SESSION_LEASE, LeaseValidity
from rota.core.outcome import (
    Failed,
    Failure,
    Guarantee,
    HandedBack,
    NewerVersionNeeded,
    Outcome,
    Succeeded,
)
from rota.core.policy import UnreadablePolicy
from rota.engine.execution.attempt import Attempt, StartAttemptSpan
from rota.engine.execution.attempt_secrets import inject_secrets
from rota.engine.execution.breakers import DISABLED_BREAKERS, Breakers
from rota.engine.execution.outcomes import build_stopped_outcome, classify_error, encode_outcome

NO_TIME: Final = timedelta(0)
# When a run whose policy only newer code can read is offered to the workers again.
NEWER_POLICY_DELAY: Final = timedelta(seconds=30)
NOT_EXACTLY_ONCE: Final = "NotExactlyOnce"
NO_TRANSACTION: Final = (
    "job is exactly_once but its handler returned without using ctx.transaction(); write its "
    "effects inside `ctx.transaction()`, or set the job's guarantee to at_least_once"
)
# Graph runs have no attempt of their own; their steps do.
KINDS_WITHOUT_ATTEMPT: Final = frozenset({GRAPH_KIND})


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPipeline:
    """Holds what the steps of every attempt of a worker share: its lease, its circuit breakers, and
    how to start a span. The defaults are those of an attempt outside a worker. All attempt loops of
    a worker use one pipeline: replacing a loop does not bring a target back.
    """

    lease_validity: LeaseValidity = field(default_factory=partial(LeaseValidity, SESSION_LEASE))
    breakers: Breakers = DISABLED_BREAKERS
    start_span: StartAttemptSpan | None = None

    def begin(self, attempt: Attempt, now: float) -> Outcome | None:
        """Return the outcome of an attempt that has no time left; None if it may run."""
        return start_clock(attempt, now)

    async def run(self, attempt: Attempt) -> Outcome:
        """Run an attempt until it has an outcome. Never raises."""
        if self.start_span is not None:
            start_trace(attempt, self.start_span)
        if isinstance(attempt.policy, UnreadablePolicy):
            return set_aside(attempt.policy)
        try:
            if attempt.start_at is not None:
                await wait_until(attempt.start_at)
            if not is_lease_valid(self.lease_validity):
                return HandedBack(has_started=False)
            is_exactly_once = attempt.policy.guarantee is Guarantee.EXACTLY_ONCE
            if is_exactly_once:
                require_support(attempt)
            spec = await inject_secrets(attempt) if attempt.names_secrets else attempt.read_spec()
            turned_away = self.breakers.check_attempt(attempt, spec)
            if turned_away is not None:
                return turned_away
            attempt.is_started = True
            outcome = await attempt.executor.run(spec, attempt)
            return require_transaction(attempt, outcome) if is_exactly_once else outcome
        except BaseException as error:  # noqa: BLE001 — a handler may raise anything, SystemExit too
            return classify_error(attempt, error)

    def end(self, attempt: Attempt, outcome: Outcome) -> EndedAttempt:
        """Close an attempt and return its ending. Anything it still does is ignored."""
        if attempt.breaker_pass is not None:
            self.breakers.record_ending(attempt.breaker_pass, outcome)
        outcome, result = encode_outcome(outcome)
        outcome, result = attempt.close(outcome, result)  # masks its secrets
        if attempt.span is not None:
            attempt.span.end(outcome)
        return build_ended(attempt, outcome, result, max(0.0, monotonic() - attempt.began_at))


def start_clock(attempt: Attempt, now: float) -> Outcome | None:
    """Set the time limit of an attempt; return its outcome if it has no time left. The attempt loop
    enforces the limit (attempt_loop.py): it cancels the task, and gives up on the attempt if it
    still runs after its grace period.
    """
    attempt.began_at = attempt.start_at or now
    limit = attempt.time_limit()
    if limit is None:
        return None
    attempt.stop_at = now + limit.total_seconds()
    return None if limit > NO_TIME else build_stopped_outcome(StopReason.TIMEOUT)


def start_trace(attempt: Attempt, start_span: StartAttemptSpan) -> None:
    """Start the attempt's span. Context variables that it sets end with the attempt's task."""
    ahead = max(0.0, attempt.began_at - monotonic())
    attempt.span = start_span(attempt.run, attempt.kind, ahead=ahead)


def set_aside(policy: UnreadablePolicy) -> Outcome:
    """Return the outcome of an attempt whose policy only newer code can read."""
    return NewerVersionNeeded(delay=NEWER_POLICY_DELAY, reason=policy.reason)


async def wait_until(time: float) -> None:
    """Wait until a time of the event loop's clock, which is the monotonic clock."""
    loop = asyncio.get_running_loop()
    if time > loop.time():
        reached = loop.create_future()
        timer = loop.call_at(time, reached.set_result, None)
        try:
            await reached
        finally:
            timer.cancel()


def is_lease_valid(lease_validity: LeaseValidity) -> bool:
    """Return whether an attempt may start. A process may be frozen between claim and start. If it
    was frozen for so long that another worker may hold the run, the attempt must not start after a
    newer one (I9).
    """
    return monotonic() < lease_validity.start_until


def require_support(attempt: Attempt) -> None:
    """Raise `InvalidInput` if no attempt of an exactly-once job of this kind can succeed.

    Such a run succeeds in one way: its handler completes it in `ctx.transaction()` (E2). An attempt
    that cannot do that is not started, so that it has no effect. The failure is final: the next
    attempt would end the same way.
    """
    kind = attempt.kind
    if kind not in KINDS_WITHOUT_ATTEMPT and not supports_exactly_once(attempt.executor, kind):
        raise build_exactly_once_error(ExactlyOnceRequest(kind))


def require_transaction(attempt: Attempt, outcome: Outcome) -> Outcome:
    """Return the outcome of an exactly-once job, or a final failure if it is a success outside the
    attempt's transaction: the next attempt would end the same way, after the same effects.
    """
    if not isinstance(outcome, Succeeded) or attempt.is_recorded:
        return outcome
    return Failed(failure=Failure(type=NOT_EXACTLY_ONCE, message=NO_TRANSACTION), final=True)


def build_ended(
    attempt: Attempt, outcome: Outcome, result: str | None, duration_s: float
) -> EndedAttempt:
    run = attempt.run
    return EndedAttempt(
        run.id,
        run.attempt,
        run.failures,
        attempt.kind,
        attempt.policy,
        run.deadline_at,
        outcome,
        result,
        attempt.is_recorded,
        duration_s,
    )
