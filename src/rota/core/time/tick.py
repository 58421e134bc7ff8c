"""One nominal time of a schedule, and how wall clocks that jump are read. Room: core/time."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DstGap(StrEnum):
    """What becomes of a local time that the clock jumps over."""

    RUN_AFTER = "run_after"
    SKIP = "skip"
    SHIFT = "shift"


class DstOverlap(StrEnum):
    """Which of two equal local times counts when the clock is set back."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """`at` is the instant (UTC) that the schedule means, before jitter; `local` the nominal wall
    time in the schedule's zone (naive), which is the tick's identity; `note` says what DST or a
    calendar did to it, for example "moved from 02:30, which the clock jumped over".
    """

    at: datetime
    local: datetime
    note: str | None = None
