"""From a claimed run to an outcome: one attempt, whatever its handler does. Room: flow/execute.

This is the second of the two places that may catch any exception (the other is runtime/tiers.py):
what a handler raises is an outcome. What becomes of the run then is core/settle.py.
"""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import Final, assert_never

import msgspec

from rota.core.attempt import Stopping
from rota.core.errors import InvalidInput
from rota.core.executor import Fail, Retry, Snooze, Stream
from rota.core.lease import SESSION_LEASE, LeaseTrust
from rota.core.outcome import (
    Cancelled,
    Failed,
    Failure,
    Guarantee,
    HandedBack,
    Outcome,
    SetAside,
    Snoozed,
    Succeeded,
)
from rota.core.policy import NewerPolicy
from rota.core.tracebacks import render_text
from rota.flow.execute import exactly_once, unlocking
from rota.flow.execute.attempt import Attempt
from rota.flow.execute.breakers import OFF, Breakers
from rota.runtime.tracebacks import locate_error, message_of, trace_error

# Until a run whose policy only newer code knows is offered to the workers again.
SET_ASIDE_FOR: Final = timedelta(seconds=30)
MOST_RESULT: Final = 64_000
MOST_MESSAGE: Final = 8_000
NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

_encode = msgspec.json.Encoder().encode


ALWAYS: Final = LeaseTrust(lease=SESSION_LEASE)


async def perform(
    attempt: Attempt, trust: LeaseTrust = ALWAYS, breakers: Breakers = OFF
) -> Outcome:
    """Run the executor; never raises but for a cancellation that nobody asked us for.

    A process may be frozen between a claim and the start. If it was for so long that the run may be
    somebody else's by now, an older attempt must not start after a newer one (I9). Nor does one
    start whose target is known to be down.
    """
    try:
        if attempt.start_at is not None:
            await reach(attempt.start_at)
        if monotonic() >= trust.start_until:
            return HandedBack(started=False)
        return await _carry_out(attempt, breakers)
    except asyncio.CancelledError:
        if attempt.stopping is None:
            return _failed(attempt, "CancelledError", "the handler cancelled itself")
        return stopped(attempt.stopping, started=attempt.is_started)
    except InvalidInput as error:
        said = _sentence(attempt, error)
        failure = Failure(type="InvalidInput", message=said, frame=locate_error(error))
        return Failed(failure=failure, final=True)
    except Fail as error:
        return Failed(failure=_failure(error), final=True)
    except Retry as error:
        return Failed(failure=_failure(error), retry_after=error.after)
    except Snooze as error:
        return Snoozed(delay=error.delay)
    except BaseException as error:  # noqa: BLE001 — a handler may raise anything, SystemExit too
        return _raised(attempt, error)


async def _carry_out(attempt: Attempt, breakers: Breakers) -> Outcome:
    is_exactly_once = attempt.policy.guarantee is Guarantee.EXACTLY_ONCE
    if is_exactly_once:
        exactly_once.refuse_start(attempt)
    spec = await unlocking.read(attempt) if attempt.names_secrets else attempt.read()
    outcome = breakers.turn_away(attempt, spec) or await _start(attempt, spec)
    return exactly_once.require_transaction(attempt, outcome) if is_exactly_once else outcome


async def _start(attempt: Attempt, spec: object) -> Outcome:
    attempt.is_started = True
    return await attempt.executor.run(spec, attempt)


async def reach(time: float) -> None:
    """Wait for a moment of the loop's clock, which is the monotonic one."""
    loop = asyncio.get_running_loop()
    if time > loop.time():
        come = loop.create_future()
        timer = loop.call_at(time, come.set_result, None)
        try:
            await come
        finally:
            timer.cancel()


def stopped(why: Stopping, *, started: bool = True) -> Outcome:
    """How an attempt ends that stopped because it was asked to. One whose executor was not called
    yet has done nothing, which at-most-once may repeat.
    """
    match why:
        case Stopping.TIMEOUT:
            failure = Failure(type="Timeout", message="it took longer than its timeout")
            return Failed(failure=failure, timed_out=True)
        case Stopping.CANCEL:
            return Cancelled()
        case Stopping.DRAIN | Stopping.LEASE:
            return HandedBack(started=started)
        case _:
            assert_never(why)


def set_aside(attempt: Attempt) -> SetAside | None:
    """How an attempt ends whose policy only newer code knows: before its executor is called."""
    if isinstance(attempt.policy, NewerPolicy):
        return SetAside(delay=SET_ASIDE_FOR, reason=attempt.policy.reason)
    return None


def result_of(outcome: Outcome) -> tuple[Outcome, str | None]:
    """The result as JSON. One that JSON does not know makes the attempt a failure, finally: the
    handler would return it again.
    """
    if not isinstance(outcome, Succeeded) or outcome.result is None:
        return outcome, None
    try:
        encoded = _encode(outcome.result)
    except Exception as error:  # noqa: BLE001 — foreign objects may raise anything here
        message = _cut(f"the result cannot be written as JSON: {error}")
        failure = Failure(type=type(error).__name__, message=message)
        return Failed(failure=failure, final=True), None
    if len(encoded) > MOST_RESULT:
        start = encoded[: MOST_RESULT // 2].decode(errors="replace")
        encoded = _encode({"truncated": True, "bytes": len(encoded), "start": start})
    return outcome, without_nul(encoded.decode())


def without_nul(text: str) -> str:
    """PostgreSQL's jsonb knows no NUL. After an escaped backslash the same letters are none."""
    return NUL.sub(r"\1\\ufffd", text) if "\\u0000" in text else text


def _failed(attempt: Attempt, type_: str, message: str) -> Failed:
    attempt.write(Stream.ROTA, f"{message}\n".encode())
    return Failed(failure=Failure(type=type_, message=message))


def _raised(attempt: Attempt, error: BaseException) -> Failed:
    """A failure with its traceback, which the log of the attempt has as well. Secrets are masked
    here for the log, which the veil sees in pieces only, and in `close` for what is stored.
    """
    failure = replace(_failure(error), traceback=trace_error(error))
    text = render_text(failure.traceback, failure.message)
    text = text if attempt.veil is None else attempt.veil.text(text)
    attempt.write(Stream.ERROR, text.encode(errors="replace"))
    return Failed(failure=failure)


def _sentence(attempt: Attempt, error: InvalidInput) -> str:
    if attempt.veil is not None:
        attempt.veil.over_error(error)
    return _cut(str(error))


def _failure(error: BaseException) -> Failure:
    return Failure(
        type=type(error).__name__,
        message=message_of(error, MOST_MESSAGE),
        frame=locate_error(error),
    )


def _cut(text: str) -> str:
    """No longer than may be stored, and without what PostgreSQL cannot store."""
    text = text.replace("\x00", "\ufffd").encode(errors="replace").decode(errors="replace")
    return text if len(text) <= MOST_MESSAGE else f"{text[:MOST_MESSAGE]}…"
