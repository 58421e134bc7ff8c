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

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"
UNAVAILABLE: Final = 503
# A process notices within two seconds that the database is back.
OUTAGE_RETRY_AFTER_S: Final = 2
_INDEX: Final = re.compile(r"\[(\d+)\]")


class ProblemKind(NamedTuple):
    status: int
    title: str


PROBLEM_KINDS: Final = {
    "malformed_request": ProblemKind(400, "Malformed request"),
    "unauthenticated": ProblemKind(401, "A valid API key is required"),
    "not_allowed": ProblemKind(403, "The API key's role does not permit this"),
    "foreign_request": ProblemKind(403, "The request does not come from the dashboard"),
    "not_found": ProblemKind(404, "Not found"),
    "method_not_allowed": ProblemKind(405, "Method not allowed"),
    "not_acceptable": ProblemKind(406, "The requested media type is not available"),
    "request_timeout": ProblemKind(408, "The request did not arrive in time"),
    "conflict": ProblemKind(409, "Conflict with the current state"),
    "illegal_move": ProblemKind(409, "The current state does not allow this"),
    "already_finished": ProblemKind(409, "Already finished"),
    "idempotency_in_progress": ProblemKind(409, "The same request is still in progress"),
    "secret_shown_once": ProblemKind(409, "The secret was shown once and cannot be shown again"),
    "version_changed": ProblemKind(412, "Changed since the version you read"),
    "too_large": ProblemKind(413, "The request is too large"),
    "unsupported_media_type": ProblemKind(415, "The body must be JSON"),
    "unknown_host": ProblemKind(421, "Host name not allowed"),
    "invalid_input": ProblemKind(422, "Invalid input"),
    "invalid_schedule": ProblemKind(422, "Invalid schedule"),
    "idempotency_key_reused": ProblemKind(
        422, "The idempotency key was used for a different request"
    ),
    "too_many_requests": ProblemKind(429, "Too many requests"),
    "quota_exceeded": ProblemKind(429, "Tenant quota exceeded"),
    "header_too_large": ProblemKind(431, "The URL or the headers are too large"),
    "internal": ProblemKind(500, "Unexpected internal error"),
    "unavailable": ProblemKind(503, "Service temporarily unavailable"),
}


ERROR_CODES: Final[tuple[tuple[type[RotaError], str], ...]] = (
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


class ProblemField(Struct, frozen=True, kw_only=True):
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
    errors: list[ProblemField] | UnsetType = UNSET


class ProblemError(Exception):
    """An error that exists only in HTTP: a header, a size, a method."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        headers: dict[str, str] | None = None,
        errors: list[ProblemField] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.headers = headers or {}
        self.errors = errors


def translate_error(error: RotaError) -> ProblemError:
    """Translate an error with the first matching line of `ERROR_CODES`."""
    for kind, code in ERROR_CODES:
        if isinstance(error, kind):
            return _translate(error, code)
    return ProblemError("internal", "unexpected error; search the server's log for the request id")


def _translate(error: RotaError, code: str) -> ProblemError:
    match error:
        case InvalidInput() if code != "idempotency_key_reused":
            field_error = ProblemField(
                pointer=build_pointer(error.field), code=code, detail=error.wanted
            )
            return ProblemError(code, str(error), errors=[field_error])
        case Unauthenticated():
            return ProblemError(code, str(error), headers={"WWW-Authenticate": "Bearer"})
        case RateLimitExceeded() | Overloaded():
            return ProblemError(code, str(error), headers=build_retry_after(error.retry_after))
        case QuotaExceeded(retry_after=float()):
            return ProblemError(code, str(error), headers=build_retry_after(error.retry_after))
        case SecretsUnavailable():
            return ProblemError(code, str(error), headers=build_retry_after(60))
        case Conflict(retry_after=float()):
            busy = "idempotency_in_progress" if error.thing == idempotency.KEY_FIELD else code
            return ProblemError(busy, str(error), headers=build_retry_after(error.retry_after))
        case StoreUnavailable():
            # The reason may name hosts and users, so it is not shown.
            detail = "the database is unavailable; an unacknowledged change may not have happened"
            return ProblemError(code, detail, headers=build_retry_after(OUTAGE_RETRY_AFTER_S))
        case _:
            return ProblemError(code, str(error))


def build_retry_after(seconds: float | None) -> dict[str, str]:
    """Build Retry-After in whole seconds, at least 1."""
    return {"Retry-After": str(max(1, math.ceil(seconds or 1)))}


def build_headers(refusal: ProblemError) -> dict[str, str]:
    """Return the headers of a problem; every 503 has Retry-After."""
    if PROBLEM_KINDS[refusal.code].status != UNAVAILABLE:
        return refusal.headers
    return build_retry_after(OUTAGE_RETRY_AFTER_S) | refusal.headers


def build_problem(refusal: ProblemError, *, request_id: str, instance: str) -> Problem:
    kind = PROBLEM_KINDS[refusal.code]
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


def build_pointer(path: str) -> str:
    """Convert `jobs[0].schedule.cron` to `/jobs/0/schedule/cron`; `$` is the whole document."""
    parts = _INDEX.sub(r".\1", path).removeprefix("$").split(".")
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts if part)


def describe_status(status: int) -> str:
    return HTTPStatus(status).phrase
