"""What a schedule says about its limits and about ticks that cannot run as planned.

Room: core/time. Values with their defaults; what they lead to is decided in planning.py and
misfire.py. Read from documents in contract/schedule.py.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

# Below this an ordinary failover would drop ticks (Kubernetes needs more than 10 s and says so).
DEADLINE_MIN: Final = timedelta(seconds=30)
CATCHUP_MAX: Final = 1000


class OnBlackout(StrEnum):
    """What becomes of a tick inside a blackout."""

    SKIP = "skip"
    DEFER = "defer"
    ADVANCE = "advance"


class CatchUp(StrEnum):
    """Which of the ticks that were not run in time are run after all."""

    ONCE = "once"
    ALL = "all"
    SKIP = "skip"


class Cause(StrEnum):
    """Why ticks were not run in time."""

    OUTAGE = "outage"
    RESUME = "resume"
    EDIT = "edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Validity: start <= tick < end, and a cap on the number of runs."""

    start: datetime | None = None
    end: datetime | None = None
    max_runs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """At most `count` caught-up runs in each `per`."""

    count: int
    per: timedelta

    @property
    def distance(self) -> timedelta:
        return self.per / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfire:
    """`start_deadline`: a tick later than this is missed, whatever else is said. `late_after`: how
    long after its time a tick still counts as on time; a failover must fit into it.
    """

    on_outage: CatchUp = CatchUp.ONCE
    on_resume: CatchUp = CatchUp.SKIP
    on_edit: CatchUp = CatchUp.SKIP
    start_deadline: timedelta | None = None
    max_catchup: int = 100
    pace: Pace | None = None
    late_after: timedelta = timedelta(seconds=60)

    def choice(self, cause: Cause) -> CatchUp:
        """What this policy says about ticks that were missed for that cause."""
        choices = {
            Cause.OUTAGE: self.on_outage,
            Cause.RESUME: self.on_resume,
            Cause.EDIT: self.on_edit,
        }
        return choices[cause]
