"""What the step that executes hands to the step that records. Room: core."""

from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple
from uuid import UUID

from rota.core.outcome import Outcome
from rota.core.policy import Policy


class Stopping(Enum):
    """Why an attempt is asked to stop before it ended."""

    TIMEOUT = auto()
    CANCEL = auto()
    DRAIN = auto()
    # Its worker can no longer trust its lease, and it must not run beside its successor.
    LEASE = auto()


class Ended(NamedTuple):
    """One attempt that ended. `result` is JSON; `is_recorded` when the attempt completed its run in
    a transaction of its own; `lasted` is in seconds.
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
    lasted: float
