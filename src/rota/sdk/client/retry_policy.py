"""Decides whether and when a call is retried; the client does the waiting.

A call is retried when the server did not answer, or when the response says that the error is
temporary (429 and 503 with Retry-After; 502 and 504 of a proxy; the same request still in
progress). It is not retried if it may have been carried out and the server could not recognise the
repetition.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from types import NoneType
from typing import Any, Final

from rota.runtime.backoff import Backoff
from rota.sdk.client.errors import ApiError, Unreachable
from rota.sdk.client.requests import ApiRequest

DEFAULT_RETRIES: Final = 4
# Seconds. If the server asks for a longer wait, the caller gets the error instead.
RETRY_AFTER_MAX_S: Final = 30.0
TEMPORARY_STATUSES: Final = frozenset({502, 503, 504})
IN_PROGRESS_CODE: Final = "idempotency_in_progress"
NOT_FOUND_STATUS: Final = 404


@dataclass(slots=True, kw_only=True)
class CallRetries:
    """The retry state of one call."""

    retries: int = DEFAULT_RETRIES
    rng: Random
    # An earlier try may have been carried out.
    is_in_doubt: bool = False
    _backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self._backoff = Backoff(rng=self.rng, max_pause=timedelta(seconds=5))

    def next_pause(self, request: ApiRequest[Any], error: ApiError | Unreachable) -> float | None:
        """The seconds to wait before the next try; None if the call is not retried."""
        if not may_repeat(request, error):
            return None
        self.is_in_doubt = self.is_in_doubt or is_outcome_unknown(error)
        pause = self._backoff.next_pause().total_seconds()
        if self._backoff.failures > self.retries:
            return None
        retry_after = error.retry_after if isinstance(error, ApiError) else None
        if retry_after is None:
            return pause
        # Clients with the same Retry-After come back spread over a part of a second.
        return None if retry_after > RETRY_AFTER_MAX_S else retry_after + pause / 4

    def is_already_deleted(self, request: ApiRequest[Any], error: ApiError) -> bool:
        """Whether a deletion got "not found" because an earlier try has succeeded."""
        is_deletion = request.method == "DELETE" and request.response_type is NoneType
        return self.is_in_doubt and is_deletion and error.status == NOT_FOUND_STATUS

    def reset(self) -> None:
        """Start counting failures from zero, because data arrived."""
        self._backoff.reset()


def may_repeat(request: ApiRequest[Any], error: ApiError | Unreachable) -> bool:
    if not is_temporary(error):
        return False
    if not is_outcome_unknown(error):
        return True
    if request.if_match is not None:
        # The first try may have created the next version: the second would conflict with it.
        return False
    return request.repeat != "never"


def is_temporary(error: ApiError | Unreachable) -> bool:
    """Whether the error is temporary."""
    if isinstance(error, Unreachable):
        return True
    if error.status == 429:
        return error.retry_after is not None
    return error.status in TEMPORARY_STATUSES or error.code == IN_PROGRESS_CODE


def is_outcome_unknown(error: ApiError | Unreachable) -> bool:
    """Whether the request may have been carried out despite the error."""
    if isinstance(error, Unreachable):
        return error.may_have_happened
    return error.status in TEMPORARY_STATUSES
