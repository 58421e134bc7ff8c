"""Errors as RFC 9457 problems, translated here and nowhere else. Room: api.

Every code has a page in docs/problems. A problem tells what is wrong, where, and under which
request id the log has more; it never tells of other tenants, statements or stack frames.
"""

import math
import re
from http import HTTPStatus
from typing import Final, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from rota.core.errors import (
    ComputationTooLong,
    Conflict,
    IllegalMove,
    InvalidInput,
    InvalidSchedule,
    KeyReused,
    LeaseLost,
    NameTaken,
    NewerDocument,
    NotAllowed,
    NotFound,
    Overloaded,
    QuotaExceeded,
    RotaError,
    SealingFailed,
    StoreUnavailable,
    TooMany,
    Unauthenticated,
    VersionChanged,
)
from rota.store import idempotency

MEDIA: Final = "application/problem+json"
UNAVAILABLE: Final = 503
# A process finds out within two seconds that the database is back.
OUTAGE_RETRY_AFTER_S: Final = 2
_INDEX: Final = re.compile(r"\[(\d+)\]")


class Kind(NamedTuple):
    status: int
    title: str


KINDS: Final = {
    "malformed_request": Kind(400, "The request cannot be read"),
    "unauthenticated": Kind(401, "A valid API key is needed"),
    "not_allowed": Kind(403, "The API key does not allow this"),
    "foreign_request": Kind(403, "The request does not come from the dashboard"),
    "not_found": Kind(404, "There is no such thing"),
    "method_not_allowed": Kind(405, "This path does not know this method"),
    "not_acceptable": Kind(406, "This cannot be answered in the form that was asked for"),
    "request_timeout": Kind(408, "The request did not arrive in time"),
    "conflict": Kind(409, "This conflicts with something else"),
    "illegal_move": Kind(409, "Its state does not allow this"),
    "already_finished": Kind(409, "It has finished already"),
    "idempotency_in_progress": Kind(409, "The same request is still being carried out"),
    "secret_shown_once": Kind(409, "The secret was shown once and cannot be shown again"),
    "version_changed": Kind(412, "It was changed meanwhile"),
    "too_large": Kind(413, "The request is too large"),
    "unsupported_media_type": Kind(415, "The body must be JSON"),
    "unknown_host": Kind(421, "This server does not answer to this host name"),
    "invalid_input": Kind(422, "Something in the request is not accepted"),
    "invalid_schedule": Kind(422, "The schedule is not accepted"),
    "idempotency_key_reused": Kind(422, "The idempotency key was used for another request"),
    "too_many_requests": Kind(429, "Too many requests"),
    "quota_exceeded": Kind(429, "The tenant's quota is used up"),
    "header_too_large": Kind(431, "The headers are too large"),
    "internal": Kind(500, "Something went wrong on our side"),
    "unavailable": Kind(503, "The service cannot answer at the moment"),
}


TOLD: Final[tuple[tuple[type[RotaError], str], ...]] = (
    (KeyReused, "idempotency_key_reused"),
    (NameTaken, "conflict"),
    (NewerDocument, "conflict"),
    (InvalidSchedule, "invalid_schedule"),
    (InvalidInput, "invalid_input"),
    (ComputationTooLong, "invalid_input"),
    (Unauthenticated, "unauthenticated"),
    (NotAllowed, "not_allowed"),
    (NotFound, "not_found"),
    (IllegalMove, "illegal_move"),
    (VersionChanged, "version_changed"),
    (Conflict, "conflict"),
    (LeaseLost, "conflict"),
    (TooMany, "too_many_requests"),
    (QuotaExceeded, "quota_exceeded"),
    (SealingFailed, "unavailable"),
    (StoreUnavailable, "unavailable"),
    (Overloaded, "unavailable"),
)


class FieldError(Struct, frozen=True, kw_only=True):
    """What is wrong with one field; `pointer` is a JSON pointer into what was sent."""

    pointer: str
    code: str
    detail: str


class Problem(Struct, frozen=True, kw_only=True):
    """RFC 9457, with a stable code and the fields that are wrong."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    instance: str
    errors: list[FieldError] | UnsetType = UNSET


class Refusal(Exception):
    """Something that only HTTP knows: a header, a size, a method."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        headers: dict[str, str] | None = None,
        errors: list[FieldError] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.headers = headers or {}
        self.errors = errors


def refusal_of(error: RotaError) -> Refusal:
    """How one of our errors is told over HTTP: the first line of `TOLD` that fits."""
    for kind, code in TOLD:
        if isinstance(error, kind):
            return _told(error, code)
    return Refusal("internal", "an unexpected error; the log has it under the request id")


def _told(error: RotaError, code: str) -> Refusal:
    match error:
        case InvalidInput() if code != "idempotency_key_reused":
            wrong = FieldError(pointer=pointer(error.field), code=code, detail=error.wanted)
            return Refusal(code, str(error), errors=[wrong])
        case Unauthenticated():
            return Refusal(code, str(error), headers={"WWW-Authenticate": "Bearer"})
        case TooMany() | Overloaded():
            return Refusal(code, str(error), headers=wait(error.retry_after))
        case QuotaExceeded(retry_after=float()):
            return Refusal(code, str(error), headers=wait(error.retry_after))
        case SealingFailed():
            return Refusal(code, str(error), headers=wait(60))
        case Conflict(retry_after=float()):
            busy = "idempotency_in_progress" if error.thing == idempotency.THING else code
            return Refusal(busy, str(error), headers=wait(error.retry_after))
        case StoreUnavailable():
            # Not its reason: it may name hosts and users.
            away = "the database is not available; what was not acknowledged may not have happened"
            return Refusal(code, away, headers=wait(OUTAGE_RETRY_AFTER_S))
        case _:
            return Refusal(code, str(error))


def wait(seconds: float | None) -> dict[str, str]:
    """In whole seconds, and never none: a client that comes back at once would come too soon."""
    return {"Retry-After": str(max(1, math.ceil(seconds or 1)))}


def headers_of(refusal: Refusal) -> dict[str, str]:
    """The headers of a problem; every 503 says when to come back."""
    if KINDS[refusal.code].status != UNAVAILABLE:
        return refusal.headers
    return wait(OUTAGE_RETRY_AFTER_S) | refusal.headers


def problem(refusal: Refusal, *, request_id: str, instance: str) -> Problem:
    kind = KINDS[refusal.code]
    return Problem(
        type=f"/problems/{refusal.code}",
        title=kind.title,
        status=kind.status,
        detail=refusal.detail,
        code=refusal.code,
        request_id=request_id,
        instance=instance,
        errors=UNSET if refusal.errors is None else refusal.errors,
    )


def pointer(path: str) -> str:
    """`jobs[0].schedule.cron` as `/jobs/0/schedule/cron`; `$` is the whole."""
    parts = _INDEX.sub(r".\1", path).removeprefix("$").split(".")
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts if part)


def status_name(status: int) -> str:
    return HTTPStatus(status).phrase
