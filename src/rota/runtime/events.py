"""What can happen to a node's services, as values. Room: runtime.

Emitted through one injected callable; flow/observe turns each into a log line and a metric. Nothing
here formats text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from rota.core.events import EngineEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreAway:
    """A duty could not reach the database and tries again after `pause`."""

    duty: str
    reason: str
    failures: int
    pause: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBack:
    """A duty reached the database again after `failures` vain passes."""

    duty: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingForDatabase:
    """A process that is starting could not reach the database `failures` times, and tries again.

    Emitted after the first failure, then once in a while.
    """

    reason: str
    failures: int
    waited: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseReached:
    """A process that waited for the database has reached it, and goes on starting."""

    failures: int
    waited: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDraining:
    """The node was asked to stop, or one of its services failed; the tiers now let go in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFailed:
    """A service raised `error`; without one, it ended before it was told to."""

    service: str
    error: Exception | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCancelled:
    """A service was still busy when its tier's grace, or the operator's patience, was over."""

    service: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailed:
    """A request met an error that nobody foresaw; its caller was told this id and no more."""

    request_id: str
    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class SpansLost:
    """So many spans of traces did not reach the collector. Nothing else is the worse for it."""

    count: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminKeyExpires:
    """The bootstrap admin key ends soon; `rota keys renew-admin` makes another."""

    key_id: str
    expires_at: datetime


RuntimeEvent = (
    StoreAway
    | StoreBack
    | WaitingForDatabase
    | DatabaseReached
    | NodeDraining
    | ServiceFailed
    | ServiceCancelled
    | RequestFailed
    | SpansLost
    | AdminKeyExpires
)

Emit = Callable[[RuntimeEvent | EngineEvent], None]
