"""Lists the steps of an attempt and runs them in order, from its claim to its ending.

`AttemptPipeline` has three phases. `begin` runs when the attempt loop accepts the attempt, `run` is
the attempt's task, and `end` runs once the attempt has an outcome, also if it never stopped. Each
phase calls its steps one after the other, and the functions below implement them in that order.

A step that does not apply to an attempt costs one comparison: it starts no task, and `run` awaits
nothing for it. What a step leaves for a later one is a field of `Attempt`.

The rest of the module turns whatever a handler does into an outcome that can be stored, and holds
the circuit breakers of a worker.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from random import Random
from time import monotonic
from typing import Any, Final, NamedTuple, assert_never

import msgspec

from rota.core.breaker import Breaker, BreakerChange, BreakerRule, TargetVerdict, judge_outcome
from rota.core.errors import InvalidInput
from rota.core.executor import Fail, Retry, Snooze, Stream
from rota.core.graphs.graph import GRAPH_KIND
from rota.core.guarantees import ExactlyOnceRequest, build_exactly_once_error
from rota.core.kind_descriptions import supports_exactly_once
from rota.core.lease import SESSION_LEASE, LeaseValidity
from rota.core.log_events import Emit, TargetDown, TargetUp
from rota.core.outcome import (
    Cancelled,
    Failed,
    Failure,
    Guarantee,
    HandedBack,
    NewerVersionNeeded,
    Outcome,
    Snoozed,
    Succeeded,
    TurnedAway,
)
from rota.core.policy import UnreadablePolicy
from rota.core.settlement import EndedAttempt, StopReason
from rota.core.tracebacks import render_traceback
from rota.engine.execution.attempt import Attempt, StartAttemptSpan
from rota.engine.execution.attempt_secrets import inject_secrets
from rota.runtime.tracebacks import locate_error, render_message, trace_error

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
    breakers: "Breakers" = field(default_factory=lambda: DISABLED_BREAKERS)
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


RESULT_BYTES_MAX: Final = 64_000
FAILURE_MESSAGE_MAX: Final = 8_000
ESCAPED_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

_encode = msgspec.json.Encoder().encode


def classify_error(attempt: Attempt, error: BaseException) -> Outcome:
    """Return the outcome of an attempt that raised `error`."""
    match error:
        case asyncio.CancelledError():
            if attempt.stop_reason is None:
                return _fail_with_message(attempt, "CancelledError", "handler cancelled itself")
            return build_stopped_outcome(attempt.stop_reason, started=attempt.is_started)
        case InvalidInput():
            message = _mask_message(attempt, error)
            failure = Failure(type="InvalidInput", message=message, frame=locate_error(error))
            return Failed(failure=failure, final=True)
        case Fail():
            return Failed(failure=_build_failure(error), final=True)
        case Retry():
            return Failed(failure=_build_failure(error), retry_after=error.after)
        case Snooze():
            return Snoozed(delay=error.delay)
        case _:
            return _fail_with_traceback(attempt, error)


def build_stopped_outcome(reason: StopReason, *, started: bool = True) -> Outcome:
    """Return the outcome of an attempt that stopped on request. An attempt whose executor was not
    called had no effects, so even an at-most-once run may start it again.
    """
    match reason:
        case StopReason.TIMEOUT:
            failure = Failure(type="Timeout", message="attempt exceeded its timeout")
            return Failed(failure=failure, timed_out=True)
        case StopReason.CANCEL:
            return Cancelled()
        case StopReason.DRAIN | StopReason.LEASE:
            return HandedBack(has_started=started)
        case _:
            assert_never(reason)


def encode_outcome(outcome: Outcome) -> tuple[Outcome, str | None]:
    """Return the outcome and its result as JSON. A result that cannot be encoded is a final
    failure: the handler would return it again.
    """
    if not isinstance(outcome, Succeeded) or outcome.result is None:
        return outcome, None
    try:
        encoded = _encode(outcome.result)
    except Exception as error:  # noqa: BLE001 — foreign objects may raise anything here
        message = _to_storable(f"result cannot be encoded as JSON: {error}")
        failure = Failure(type=type(error).__name__, message=message)
        return Failed(failure=failure, final=True), None
    if len(encoded) > RESULT_BYTES_MAX:
        start = encoded[: RESULT_BYTES_MAX // 2].decode(errors="replace")
        encoded = _encode({"truncated": True, "bytes": len(encoded), "start": start})
    return outcome, replace_nul(encoded.decode())


def replace_nul(text: str) -> str:
    """Replace NUL, which PostgreSQL's jsonb cannot store. After an escaped backslash the same
    characters are no NUL.
    """
    return ESCAPED_NUL.sub(r"\1\\ufffd", text) if "\\u0000" in text else text


def _fail_with_message(attempt: Attempt, type_: str, message: str) -> Failed:
    attempt.write(Stream.ROTA, f"{message}\n".encode())
    return Failed(failure=Failure(type=type_, message=message))


def _fail_with_traceback(attempt: Attempt, error: BaseException) -> Failed:
    """Return a failure with its traceback, which is also written to the attempt's log. Secrets are
    masked here for the log, which the mask sees only in pieces, and in `close` for the stored
    failure.
    """
    failure = replace(_build_failure(error), traceback=trace_error(error))
    text = render_traceback(failure.traceback, failure.message)
    text = text if attempt.secret_mask is None else attempt.secret_mask.mask_text(text)
    attempt.write(Stream.ERROR, text.encode(errors="replace"))
    return Failed(failure=failure)


def _mask_message(attempt: Attempt, error: InvalidInput) -> str:
    if attempt.secret_mask is not None:
        attempt.secret_mask.mask_error(error)
    return _to_storable(str(error))


def _build_failure(error: BaseException) -> Failure:
    return Failure(
        type=type(error).__name__,
        message=render_message(error, FAILURE_MESSAGE_MAX),
        frame=locate_error(error),
    )


def _to_storable(text: str) -> str:
    """Return the text in storable length, without characters that PostgreSQL rejects."""
    text = text.replace("\x00", "\ufffd").encode(errors="replace").decode(errors="replace")
    return text if len(text) <= FAILURE_MESSAGE_MAX else f"{text[:FAILURE_MESSAGE_MAX]}…"


# Every run of a job may call a different host; hosts that never respond must not fill the memory.
BREAKERS_MAX: Final = 10_000


class BreakerPass(NamedTuple):
    """An attempt that the breaker let through: its target, the breaker's era, and how to judge its
    ending (core/breaker.py, judge_outcome).
    """

    tenant_id: int
    target: str
    era: int
    is_named: bool
    only_calls: bool


class Breakers:
    """`monotonic` measures pauses. A rule with 0 failures never opens a breaker. Beyond
    `max_breakers` failing targets, the oldest breakers are dropped.
    """

    def __init__(
        self,
        rule: BreakerRule,
        *,
        monotonic: Callable[[], float],
        rng: Random,
        emit: Emit,
        max_breakers: int = BREAKERS_MAX,
    ) -> None:
        self._rule = rule
        self._most = max_breakers
        self._monotonic = monotonic
        self._chance = rng
        self._emit = emit
        self._by_target: dict[tuple[int, str], Breaker] = {}
        self._open = 0

    def __len__(self) -> int:
        return len(self._by_target)

    def check_attempt(self, attempt: Attempt, spec: Any) -> TurnedAway | None:
        """Return why an attempt may not start now; None if it may."""
        if not self._rule.after:
            return None
        named = attempt.policy.target
        target = find_target(attempt, spec) if named is None else named
        if target is None:
            return None
        tenant_id = attempt.run.tenant_id
        breaker, era = self._by_target.get((tenant_id, target)), 0
        if breaker is not None:
            now = self._monotonic()
            if not breaker.try_pass(now):
                wait = breaker.compute_return_delay(
                    now, time_left=seconds_until_deadline(attempt), rng=self._chance
                )
                delay = timedelta(seconds=wait)
                return TurnedAway(delay=delay, target=target, failures=breaker.failures)
            era = breaker.era
        only_calls = getattr(attempt.executor, "only_calls", False)
        attempt.breaker_pass = BreakerPass(tenant_id, target, era, named is not None, only_calls)
        return None

    def record_ending(self, breaker_pass: BreakerPass, outcome: Outcome) -> None:
        """Record the ending of an attempt that was let through."""
        verdict = judge_outcome(
            outcome, is_named=breaker_pass.is_named, only_calls=breaker_pass.only_calls
        )
        breaker = self._by_target.get((breaker_pass.tenant_id, breaker_pass.target))
        if breaker is None:
            if verdict is not TargetVerdict.DOWN:
                return
            breaker = self._add(breaker_pass)
        retry_after = outcome.retry_after if isinstance(outcome, Failed) else None
        change = breaker.record_verdict(
            verdict,
            era=breaker_pass.era,
            now=self._monotonic(),
            rng=self._chance,
            requested_pause=retry_after,
        )
        if change is not None:
            self._report(change, breaker_pass, breaker)
        elif breaker.is_new:
            del self._by_target[breaker_pass.tenant_id, breaker_pass.target]

    def _add(self, passage: BreakerPass) -> Breaker:
        if len(self._by_target) >= self._most:
            forgotten = self._by_target.pop(next(iter(self._by_target)))
            self._open -= forgotten.is_open
        return self._by_target.setdefault((passage.tenant_id, passage.target), Breaker(self._rule))

    def _report(self, change: BreakerChange, passage: BreakerPass, breaker: Breaker) -> None:
        if change is BreakerChange.CLOSED:
            self._open -= 1
            self._emit(
                TargetUp(tenant_id=passage.tenant_id, target=passage.target, down=self._open)
            )
            return
        self._open += change is BreakerChange.OPENED
        self._emit(
            TargetDown(
                tenant_id=passage.tenant_id,
                target=passage.target,
                failures=breaker.failures,
                pause=timedelta(seconds=breaker.pause),
                down=self._open,
            )
        )


# Breakers for attempts outside a worker, which never open.
DISABLED_BREAKERS: "Final[Breakers]" = Breakers(
    BreakerRule(after=0), monotonic=lambda: 0.0, rng=Random(0), emit=lambda _: None
)


def find_target(attempt: Attempt, spec: Any) -> str | None:
    """Return the target that the executor reports, if any (core/executor.py, TargetedExecutor)."""
    target_of = getattr(attempt.executor, "target_of", None)
    target = None if target_of is None else target_of(spec)
    # The target is shown to users, and a payload may have a secret in its host. Two hosts that
    # differ only in a secret share a breaker, which is better than showing the secret.
    return (
        target
        if target is None or attempt.secret_mask is None
        else attempt.secret_mask.mask_text(target)
    )


def seconds_until_deadline(attempt: Attempt) -> float | None:
    """Return the seconds until the deadline. The attempt was claimed just now."""
    deadline = attempt.run.deadline_at
    return None if deadline is None else (deadline - attempt.run.started_at).total_seconds()
