"""Translates errors to RFC 9457 problems; no other module does.

Every code has a page in docs/problems. A problem says what is wrong, where, and which request id to
look up in the log. It never reveals other tenants, statements or stack frames.
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
    RateLimitExceeded,
    RotaError,
    SecretsUnavailable,
    StoreUnavailable,
    Unauthenticated,
    VersionChanged,
)
from rota.store import idempotency

MEDIA: Final = "application/problem+json"
UNAVAILABLE: Final = 503
# A process notices within two seconds that the database is back.
OUTAGE_RETRY_AFTER_S: Final = 2
_INDEX: Final = re.compile(r"\[(\d+)\]")


class Kind(NamedTuple):
    status: int
    title: str


KINDS: Final = {
    "malformed_request": Kind(400, "Malformed request"),
    "unauthenticated": Kind(401, "A valid API key is required"),
    "not_allowed": Kind(403, "The API key's role does not permit this"),
    "foreign_request": Kind(403, "The request does not come from the dashboard"),
    "not_found": Kind(404, "Not found"),
    "method_not_allowed": Kind(405, "Method not allowed"),
    "not_acceptable": Kind(406, "The requested media type is not available"),
    "request_timeout": Kind(408, "The request did not arrive in time"),
    "conflict": Kind(409, "Conflict with the current state"),
    "illegal_move": Kind(409, "The current state does not allow this"),
    "already_finished": Kind(409, "Already finished"),
    "idempotency_in_progress": Kind(409, "The same request is still in progress"),
    "secret_shown_once": Kind(409, "The secret was shown once and cannot be shown again"),
    "version_changed": Kind(412, "Changed since the version you read"),
    "too_large": Kind(413, "The request is too large"),
    "unsupported_media_type": Kind(415, "The body must be JSON"),
    "unknown_host": Kind(421, "Host name not allowed"),
    "invalid_input": Kind(422, "Invalid input"),
    "invalid_schedule": Kind(422, "Invalid schedule"),
    "idempotency_key_reused": Kind(422, "The idempotency key was used for a different request"),
    "too_many_requests": Kind(429, "Too many requests"),
    "quota_exceeded": Kind(429, "Tenant quota exceeded"),
    "header_too_large": Kind(431, "The URL or the headers are too large"),
    "internal": Kind(500, "Unexpected internal error"),
    "unavailable": Kind(503, "Service temporarily unavailable"),
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
    (RateLimitExceeded, "too_many_requests"),
    (QuotaExceeded, "quota_exceeded"),
    (SecretsUnavailable, "unavailable"),
    (StoreUnavailable, "unavailable"),
    (Overloaded, "unavailable"),
)


class FieldError(Struct, frozen=True, kw_only=True):
    """The error of one field; `pointer` is a JSON pointer into the request."""

    pointer: str
    code: str
    detail: str


class Problem(Struct, frozen=True, kw_only=True):
    """An RFC 9457 problem with a stable code and the invalid fields."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    instance: str
    errors: list[FieldError] | UnsetType = UNSET


class Refusal(Exception):
    """An error that exists only in HTTP: a header, a size, a method."""

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
    """Translate an error with the first matching line of `TOLD`."""
    for kind, code in TOLD:
        if isinstance(error, kind):
            return _translate(error, code)
    return Refusal("internal", "unexpected error; search the server's log for the request id")


def _translate(error: RotaError, code: str) -> Refusal:
    match error:
        case InvalidInput() if code != "idempotency_key_reused":
            field_error = FieldError(pointer=pointer(error.field), code=code, detail=error.wanted)
            return Refusal(code, str(error), errors=[field_error])
        case Unauthenticated():
            return Refusal(code, str(error), headers={"WWW-Authenticate": "Bearer"})
        case RateLimitExceeded() | Overloaded():
            return Refusal(code, str(error), headers=wait(error.retry_after))
        case QuotaExceeded(retry_after=float()):
            return Refusal(code, str(error), headers=wait(error.retry_after))
        case SecretsUnavailable():
            return Refusal(code, str(error), headers=wait(60))
        case Conflict(retry_after=float()):
            busy = "idempotency_in_progress" if error.thing == idempotency.KEY_FIELD else code
            return Refusal(busy, str(error), headers=wait(error.retry_after))
        case StoreUnavailable():
            # The reason may name hosts and users, so it is not shown.
            detail = "the database is unavailable; an unacknowledged change may not have happened"
            return Refusal(code, detail, headers=wait(OUTAGE_RETRY_AFTER_S))
        case _:
            return Refusal(code, str(error))


def wait(seconds: float | None) -> dict[str, str]:
    """Build Retry-After in whole seconds, at least 1."""
    return {"Retry-After": str(max(1, math.ceil(seconds or 1)))}


def headers_of(refusal: Refusal) -> dict[str, str]:
    """Return the headers of a problem; every 503 has Retry-After."""
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
    """Convert `jobs[0].schedule.cron` to `/jobs/0/schedule/cron`; `$` is the whole document."""
    parts = _INDEX.sub(r".\1", path).removeprefix("$").split(".")
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts if part)


def status_name(status: int) -> str:
    return HTTPStatus(status).phrase
