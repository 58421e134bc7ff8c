"""Elapsed time: a fixed rate from an anchor, a fixed delay from the end of the last run.

Room: core/time. Arithmetic on instants only, so daylight saving cannot touch it: a day here is 24
hours, and "every day at nine" is cron. Ticks are computed from the anchor and never from the tick
before, so they do not drift however late somebody looks.
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
        """The first of these instants after `after`."""
        if after < self.anchor:
            return self.anchor
        return self.anchor + ((after - self.anchor) // self.interval + 1) * self.interval

    def count(self, after: datetime, until: datetime) -> int:
        """How many of these instants are in (after, until]."""
        if until < self.anchor or until <= after:
            return 0
        upto = (until - self.anchor) // self.interval + 1
        past = (after - self.anchor) // self.interval + 1 if after >= self.anchor else 0
        return upto - past


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryAfterEnd:
    """Fixed delay, end to start: the terminal time of the last run + delay.

    Before the first run the anchor stands for that end.
    """

    delay: timedelta
    anchor: datetime

    def next_at(self, after: datetime, *, last_end: datetime | None, fired: int) -> datetime | None:
        """The next instant; None while the last run has not ended.

        A tick that was passed over (paused, blacked out) counts as ended when it was decided. So
        there is always a next one: a schedule must not look enabled and never fire again.
        """
        if last_end is None and fired:
            return None
        at = (self.anchor if last_end is None else last_end) + self.delay
        if at > after:
            return at
        passed = after + self.delay - self.anchor
        return self.anchor - (-passed // INTERVAL_MIN) * INTERVAL_MIN  # up to a whole second
