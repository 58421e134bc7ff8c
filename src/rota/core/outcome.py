"""Defines the outcomes of an attempt as a closed set of values.

Expected outcomes are values, not exceptions. settle.py decides the next state of the run; nothing
here knows about rows or workers.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from rota.core.tracebacks import TracedError


class Guarantee(StrEnum):
    """How often the effects of a run may happen if a worker is lost."""

    AT_LEAST_ONCE = "at_least_once"
    AT_MOST_ONCE = "at_most_once"
    EXACTLY_ONCE = "exactly_once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure as the executor reports it; `type` groups equal failures. `traceback` begins with
    the raised error; it is empty if no exception of a handler was the cause. `frame` is the
    innermost call of user code, `module:function`; None without user code. It has no line number,
    so that an edit elsewhere in the file does not split a group of equal failures.
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
    """The attempt failed. `final` forbids a retry; `retry_after` is the minimum delay that the
    target asked for. `reached` is whether the target answered, for its circuit breaker
    (core/breaker.py); None if unknown.
    """

    failure: Failure
    final: bool = False
    retry_after: timedelta | None = None
    timed_out: bool = False
    reached: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snoozed:
    """The handler asked to run again later; uses no retry."""

    delay: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedAway:
    """The target of the attempt is down, so the handler was not called; uses no retry.

    `failures` is the number of attempts in a row, of any run, that found the target down.
    """

    delay: timedelta
    target: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerVersionNeeded:
    """Only newer code can read the documents of the run, so the handler was not called; uses no
    retry. A worker of any version may claim the run again after `delay`.
    """

    delay: timedelta
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedBack:
    """The worker stops before the attempt could end; uses no retry.

    `started` is true if the handler may have had effects, which at-most-once must not repeat.
    """

    has_started: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost:
    """The session that held the attempt expired, or no longer knows the attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The handler stopped because the run was cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphExpanded:
    """A graph run was claimed and expanded into its steps."""


Outcome = (
    Succeeded
    | Failed
    | Snoozed
    | TurnedAway
    | NewerVersionNeeded
    | HandedBack
    | WorkerLost
    | Cancelled
    | GraphExpanded
)
