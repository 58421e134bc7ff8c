"""Defines a schedule's policies: its window, blackout handling and misfire handling.

Values with defaults, and the rules of lateness. planning.py and misfire.py apply them;
contract/schedule.py reads them from documents.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

# Below this an ordinary failover would drop ticks (Kubernetes documents a minimum of 10 s).
START_DEADLINE_MIN: Final = timedelta(seconds=30)
CATCHUP_RUNS_MAX: Final = 1000


class OnBlackout(StrEnum):
    """What happens to a tick inside a blackout."""

    SKIP = "skip"
    DEFER = "defer"
    ADVANCE = "advance"


class CatchUp(StrEnum):
    """Which overdue ticks still run."""

    ONCE = "once"
    ALL = "all"
    SKIP = "skip"


class MisfireCause(StrEnum):
    """Why ticks did not run in time."""

    OUTAGE = "outage"
    RESUME = "resume"
    EDIT = "edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The validity of a schedule: start <= tick < end, and a cap on the number of runs."""

    start: datetime | None = None
    end: datetime | None = None
    max_runs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpPace:
    """At most `count` caught-up runs per `per`."""

    count: int
    per: timedelta

    @property
    def distance(self) -> timedelta:
        return self.per / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class MisfirePolicy:
    """The misfire policy of a schedule.

    `start_deadline`: a tick later than this is missed under every other setting. Default: none.
    `late_after`: how long after its time a tick still counts as on time; a failover must fit into
    it. Default: 60 s.
    """

    on_outage: CatchUp = CatchUp.ONCE
    on_resume: CatchUp = CatchUp.SKIP
    on_edit: CatchUp = CatchUp.SKIP
    start_deadline: timedelta | None = None
    max_catchup: int = 100
    pace: CatchUpPace | None = None
    late_after: timedelta = timedelta(seconds=60)

    @property
    def tolerance(self) -> timedelta:
        """How late a tick may be and still run without a decision about the ticks before it."""
        if self.start_deadline is None:
            return self.late_after
        return min(self.late_after, self.start_deadline)

    def compute_late_at(self, tick_at: datetime, due_at: datetime) -> datetime:
        """Return the time after which a tick must be decided as a misfire. Paced catch-up postpones
        each tick in turn, so with a pace the lateness counts from the tick's own time.
        """
        return (due_at if self.pace is None else tick_at) + self.tolerance

    def is_late(self, due_at: datetime, now: datetime) -> bool:
        """Return whether a tick no longer counts as on time."""
        return now - due_at > self.late_after

    def is_too_late(self, due_at: datetime, now: datetime) -> bool:
        """Return whether a tick has passed its start deadline, so that it never runs."""
        return self.start_deadline is not None and now - due_at > self.start_deadline

    def choice_for(self, cause: MisfireCause) -> CatchUp:
        """Return the choice for ticks that were missed for this cause."""
        choices = {
            MisfireCause.OUTAGE: self.on_outage,
            MisfireCause.RESUME: self.on_resume,
            MisfireCause.EDIT: self.on_edit,
        }
        return choices[cause]
