"""How an attempt ended, as a closed set of values. Room: core.

Expected endings are values, not exceptions. What becomes of the run after an ending is decided in
settle.py; nothing here knows about rows or workers.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from rota.core.tracebacks import TracedError


class Guarantee(StrEnum):
    """What a job promises about its effects when a worker is lost."""

    AT_LEAST_ONCE = "at_least_once"
    AT_MOST_ONCE = "at_most_once"
    EXACTLY_ONCE = "exactly_once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong, in the words of the executor; `type` groups equal failures. `traceback` is
    where, the error that was raised first; empty if no exception of a handler was the reason.
    `frame` is the innermost call of the user's code, `module:function`; None if there is none. It
    has no line, so that an edit elsewhere in the file does not tell equal failures apart.
    """

    type: str
    message: str
    traceback: tuple[TracedError, ...] = ()
    frame: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    result: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """`final` forbids a retry; `retry_after` is the least wait the target asked for. `reached` says
    whether the target answered, for its circuit breaker (core/breaker.py); None if nobody knows.
    """

    failure: Failure
    final: bool = False
    retry_after: timedelta | None = None
    timed_out: bool = False
    reached: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snoozed:
    """The handler asked to be called again later; costs no retry."""

    delay: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedAway:
    """The target of the attempt does not answer, so the handler was not called; costs no retry.

    `failures` is how many attempts in a row, of whatever run, found the target down.
    """

    delay: timedelta
    target: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """Only newer code knows the documents of the run, so the handler was not called; costs no
    retry. A worker of any version may claim it again after `delay`.
    """

    delay: timedelta
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedBack:
    """The worker is leaving before the attempt could end; costs no retry.

    `started` when the handler may have done something already, which at-most-once cannot repeat.
    """

    started: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost:
    """The session that held the attempt is dead, or no longer knows of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The handler stopped because it was asked to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfolded:
    """A graph run was claimed: from here on its steps are its work."""


Outcome = (
    Succeeded
    | Failed
    | Snoozed
    | TurnedAway
    | SetAside
    | HandedBack
    | WorkerLost
    | Cancelled
    | Unfolded
)
