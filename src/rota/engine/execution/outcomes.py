"""Turns whatever an attempt's handler does into an outcome that can be stored.

A handler may return anything and raise anything: an exception of a handler is an outcome, not an
error of the worker. core/settlement.py decides what happens to the run then.
"""

import asyncio
import re
from dataclasses import replace
from typing import Final, assert_never

import msgspec

from rota.core.attempt import StopReason
from rota.core.errors import InvalidInput
from rota.core.executor import Fail, Retry, Snooze, Stream
from rota.core.outcome import (
    Cancelled,
    Failed,
    Failure,
    HandedBack,
    Outcome,
    Snoozed,
    Succeeded,
)
from rota.core.tracebacks import render_traceback
from rota.engine.execution.attempt import Attempt
from rota.runtime.tracebacks import locate_error, render_message, trace_error

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
