"""Runs one attempt of a claimed run and turns whatever its handler does into an outcome.

This is the second of the two places that may catch any exception (the other is runtime/tiers.py):
an exception of a handler is an outcome. core/settlement.py decides what happens to the run then.
"""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import Final, assert_never

import msgspec

from rota.core.attempt import StopReason
from rota.core.errors import InvalidInput
from rota.core.executor import Fail, Retry, Snooze, Stream
from rota.core.lease import SESSION_LEASE, LeaseValidity
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
)
from rota.core.policy import UnreadablePolicy
from rota.core.tracebacks import render_traceback
from rota.engine.execution import exactly_once, secret_injection
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.breakers import DISABLED_BREAKERS, Breakers
from rota.runtime.tracebacks import locate_error, render_message, trace_error

# When a run whose policy only newer code can read is offered to the workers again.
NEWER_POLICY_DELAY: Final = timedelta(seconds=30)
RESULT_BYTES_MAX: Final = 64_000
FAILURE_MESSAGE_MAX: Final = 8_000
ESCAPED_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

_encode = msgspec.json.Encoder().encode


UNLIMITED_LEASE: Final = LeaseValidity(lease=SESSION_LEASE)


async def run_attempt(
    attempt: Attempt,
    lease_validity: LeaseValidity = UNLIMITED_LEASE,
    breakers: Breakers = DISABLED_BREAKERS,
) -> Outcome:
    """Run the executor. Never raises, except for a cancellation that Rota did not request.

    A process may be frozen between claim and start. If it was frozen for so long that another
    worker may hold the run, the attempt must not start after a newer one (I9). An attempt whose
    target is known to be down does not start either.
    """
    try:
        if attempt.start_at is not None:
            await wait_until(attempt.start_at)
        if monotonic() >= lease_validity.start_until:
            return HandedBack(has_started=False)
        return await _execute(attempt, breakers)
    except asyncio.CancelledError:
        if attempt.stop_reason is None:
            return _fail_with_message(attempt, "CancelledError", "handler cancelled itself")
        return build_stopped_outcome(attempt.stop_reason, started=attempt.is_started)
    except InvalidInput as error:
        message = _mask_message(attempt, error)
        failure = Failure(type="InvalidInput", message=message, frame=locate_error(error))
        return Failed(failure=failure, final=True)
    except Fail as error:
        return Failed(failure=_build_failure(error), final=True)
    except Retry as error:
        return Failed(failure=_build_failure(error), retry_after=error.after)
    except Snooze as error:
        return Snoozed(delay=error.delay)
    except BaseException as error:  # noqa: BLE001 — a handler may raise anything, SystemExit too
        return _fail_with_traceback(attempt, error)


async def _execute(attempt: Attempt, breakers: Breakers) -> Outcome:
    is_exactly_once = attempt.policy.guarantee is Guarantee.EXACTLY_ONCE
    if is_exactly_once:
        exactly_once.refuse_start(attempt)
    spec = (
        await secret_injection.read_with_secrets(attempt)
        if attempt.names_secrets
        else attempt.read_spec()
    )
    outcome = breakers.check_attempt(attempt, spec) or await _run_executor(attempt, spec)
    return exactly_once.require_transaction(attempt, outcome) if is_exactly_once else outcome


async def _run_executor(attempt: Attempt, spec: object) -> Outcome:
    attempt.is_started = True
    return await attempt.executor.run(spec, attempt)


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


def defer_newer_policy(attempt: Attempt) -> NewerVersionNeeded | None:
    """Return the outcome of an attempt whose policy only newer code can read, else None."""
    if isinstance(attempt.policy, UnreadablePolicy):
        return NewerVersionNeeded(delay=NEWER_POLICY_DELAY, reason=attempt.policy.reason)
    return None


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
