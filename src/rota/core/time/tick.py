"""Defines a tick (one nominal time of a schedule) and the daylight-saving options."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

# How long before its time a tick may be decided and its run claimed, so that the run starts in
# time. The scheduler and the workers must use the same value.
FIRE_AHEAD: Final = timedelta(milliseconds=12)


class DstGap(StrEnum):
    """What happens to a local time that the clock jumps over."""

    RUN_AFTER = "run_after"
    SKIP = "skip"
    SHIFT = "shift"


class DstOverlap(StrEnum):
    """Which of two equal local times runs when the clock is set back."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One nominal time of a schedule.

    `at` is the scheduled instant (UTC), before jitter. `local` is the nominal wall-clock time in
    the schedule's zone (naive); it identifies the tick. `note` describes the effect of DST or a
    calendar, for example "moved from 02:30, which the clock jumped over".
    """

    at: datetime
    local: datetime
    note: str | None = None
