"""Defines the events of a process's services, as values.

Emitted through one injected callable; engine/observability turns each into a log line and a metric.
Nothing here formats text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from rota.core.log_events import EngineEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseLost:
    """A duty could not reach the database and retries after `pause`."""

    duty: str
    reason: str
    failures: int
    pause: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseRecovered:
    """A duty reached the database again after `failures` failed passes."""

    duty: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingForDatabase:
    """A starting process failed to reach the database `failures` times, and keeps trying.

    Emitted after the first failure, then at intervals.
    """

    reason: str
    failures: int
    waited: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseReached:
    """A process that waited for the database has reached it, and continues to start."""

    failures: int
    waited: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessDraining:
    """The process was asked to stop or a service failed; its tiers now drain in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFailed:
    """A service raised `error`, or ended without being stopped if `error` is None."""

    service: str
    error: Exception | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCancelled:
    """A service was still busy when its grace period ended or the operator cancelled."""

    service: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailed:
    """A request failed with an unexpected error; the response carries only this id."""

    request_id: str
    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class SpansLost:
    """Spans did not reach the collector. Nothing else is affected."""

    count: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminKeyExpires:
    """The bootstrap admin key expires soon; `rota keys renew-admin` creates another."""

    key_id: str
    expires_at: datetime


RuntimeEvent = (
    DatabaseLost
    | DatabaseRecovered
    | WaitingForDatabase
    | DatabaseReached
    | ProcessDraining
    | ServiceFailed
    | ServiceCancelled
    | RequestFailed
    | SpansLost
    | AdminKeyExpires
)

Emit = Callable[[RuntimeEvent | EngineEvent], None]
