"""Defines the values that pass from executing attempts to recording their results."""

from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple
from uuid import UUID

from rota.core.outcome import Outcome
from rota.core.policy import Policy


class StopReason(Enum):
    """Why a running attempt is asked to stop."""

    TIMEOUT = auto()
    CANCEL = auto()
    DRAIN = auto()
    # The worker's lease may have expired, and the attempt must not run beside its successor.
    LEASE = auto()


class EndedAttempt(NamedTuple):
    """A finished attempt. `result` is JSON; `is_recorded` is true if the attempt completed its run
    in its own transaction; `lasted` is in seconds.
    """

    run_id: UUID
    attempt: int
    failures: int
    kind: str
    policy: Policy
    deadline_at: datetime | None
    outcome: Outcome
    result: str | None
    is_recorded: bool
    duration_s: float
