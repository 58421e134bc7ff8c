"""Whether a call is tried again, and when. Room: sdk/client.

Decides; waiting is up to the client. A call is tried again when nobody answered, or when the answer
says that it is a matter of time (429, 503 and their Retry-After; 502 and 504 of something on the
way; the same request still being carried out). It is not when it may have been carried out already
and nothing would tell the second from the first.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from types import NoneType
from typing import Any, Final

from rota.runtime.backoff import Backoff
from rota.sdk.client.errors import ApiError, Unreachable
from rota.sdk.client.requests import Request

RETRIES: Final = 4
# Who is asked to wait longer than this tells the caller, who may have better things to do.
LONGEST_WAIT: Final = 30.0
PASSING: Final = frozenset({502, 503, 504})
IN_PROGRESS: Final = "idempotency_in_progress"
NOT_FOUND: Final = 404


@dataclass(slots=True, kw_only=True)
class Patience:
    """The tries of one call."""

    retries: int = RETRIES
    chance: Random
    # An earlier try may have been carried out.
    is_in_doubt: bool = False
    _backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self._backoff = Backoff(chance=self.chance, longest=timedelta(seconds=5))

    def rest(self, request: Request[Any], error: ApiError | Unreachable) -> float | None:
        """How many seconds to wait before the next try; None if there is none."""
        if not may_repeat(request, error):
            return None
        self.is_in_doubt = self.is_in_doubt or is_open(error)
        pause = self._backoff.pause().total_seconds()
        if self._backoff.failures > self.retries:
            return None
        told = error.retry_after if isinstance(error, ApiError) else None
        if told is None:
            return pause
        # Everybody who was told the same second comes back spread over a part of the next one.
        return None if told > LONGEST_WAIT else told + pause / 4

    def is_done(self, request: Request[Any], error: ApiError) -> bool:
        """Whether what is not found is so because an earlier try has deleted it."""
        is_deletion = request.method == "DELETE" and request.answer is NoneType
        return self.is_in_doubt and is_deletion and error.status == NOT_FOUND

    def reset(self) -> None:
        """Something came: what fails next is another failure."""
        self._backoff.reset()


def may_repeat(request: Request[Any], error: ApiError | Unreachable) -> bool:
    if not is_passing(error):
        return False
    if not is_open(error):
        return True
    if request.if_match is not None:
        # The first try may have made the next version: the second would be told of a change that
        # was its own.
        return False
    return request.repeat != "never"


def is_passing(error: ApiError | Unreachable) -> bool:
    """Whether it may go well a moment later."""
    if isinstance(error, Unreachable):
        return True
    if error.status == 429:
        return error.retry_after is not None
    return error.status in PASSING or error.code == IN_PROGRESS


def is_open(error: ApiError | Unreachable) -> bool:
    """Whether it may have been carried out all the same."""
    if isinstance(error, Unreachable):
        return error.may_have_happened
    return error.status in PASSING
