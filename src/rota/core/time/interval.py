"""Computes ticks by elapsed time: a fixed rate from an anchor, or a fixed delay after each run.

Arithmetic on instants only, so daylight saving has no effect: a day is 24 hours here, and "every
day at nine" needs cron. Ticks of a fixed rate are computed from the anchor, never from the previous
tick, so they do not drift.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

INTERVAL_MIN = timedelta(seconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """Fixed rate, start to start: anchor + n · interval for n = 0, 1, 2 …"""

    interval: timedelta
    anchor: datetime

    def next_at(self, after: datetime) -> datetime:
        """Return the first of these instants after `after`."""
        if after < self.anchor:
            return self.anchor
        return self.anchor + ((after - self.anchor) // self.interval + 1) * self.interval

    def count(self, after: datetime, until: datetime) -> int:
        """Count these instants in (after, until]."""
        if until < self.anchor or until <= after:
            return 0
        upto = (until - self.anchor) // self.interval + 1
        past = (after - self.anchor) // self.interval + 1 if after >= self.anchor else 0
        return upto - past


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryAfterEnd:
    """Fixed delay, end to start: the end of the last run + delay.

    Before the first run, the anchor is used as that end.
    """

    delay: timedelta
    anchor: datetime

    def next_at(self, after: datetime, *, last_end: datetime | None, fired: int) -> datetime | None:
        """Return the next instant; None while the last run has not ended.

        A tick that did not run (paused, blacked out) counts as ended when it was decided. So there
        is always a next tick: an enabled schedule must fire again.
        """
        if last_end is None and fired:
            return None
        at = (self.anchor if last_end is None else last_end) + self.delay
        if at > after:
            return at
        passed = after + self.delay - self.anchor
        return self.anchor - (-passed // INTERVAL_MIN) * INTERVAL_MIN  # up to a whole second
