"""What the database's clock shows, as far as round trips can tell. Room: runtime.

A node knows when it must act by the database's clock, and asks that clock only now and then. Each
answer bounds it from below: when the answer had come back, the database's clock showed at least
what the answer says. The estimate is the tightest of the last few bounds, carried on by the
monotonic clock. So it is late by one way back at most, and never early: whoever acts on it is not
refused for being early. A database whose clock is set back is believed again after a few answers.
"""

from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
# With an answer every quarter of a second the oldest is two seconds old: in that time the clocks of
# two machines drift apart by less than a round trip takes.
ANSWERS: Final = 8


class Offset:
    """The distance between the database's clock and this process's monotonic one."""

    __slots__ = ("_bounds",)

    def __init__(self) -> None:
        self._bounds: deque[int] = deque(maxlen=ANSWERS)

    def note(self, told: datetime, *, received: float) -> None:
        """Take note that an answer received at `received` (monotonic) told this time."""
        self._bounds.append((told - EPOCH) // MICROSECOND - microseconds(received))

    def at(self, monotonic: float) -> datetime | None:
        """The database's time at that moment, or a little less; None before the first answer."""
        if not self._bounds:
            return None
        return EPOCH + (max(self._bounds) + microseconds(monotonic)) * MICROSECOND

    def reached(self, time: datetime) -> float | None:
        """When, by the monotonic clock, the database's certainly shows that time."""
        if not self._bounds:
            return None
        return ((time - EPOCH) // MICROSECOND - max(self._bounds)) / 1_000_000


def microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)
