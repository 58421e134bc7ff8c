"""Estimates the database's clock from round trips.

A process acts by the database's clock and reads that clock only now and then. Each response gives a
lower bound: when it arrived, the database's clock showed at least the time in the response. The
estimate is the tightest of the last few bounds, extrapolated by the monotonic clock. So it is late
by at most one trip back, and never early: the database never refuses an action for being early. The
time of sending gives an upper bound: a response below the estimate means that the database's clock
was set back, or that another server responds now, and the older bounds are dropped. If the time of
sending is not given, the estimate recovers after a few responses.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
# With a response every quarter of a second the oldest is two seconds old: in that time the clocks
# of two machines drift apart by less than a round trip.
BOUNDS_KEPT: Final = 8


class ClockOffset:
    """The difference between the database's clock and this process's monotonic clock.

    One thread records responses; any thread may read.
    """

    __slots__ = ("_bounds", "_largest", "answered_at")

    def __init__(self) -> None:
        self._bounds: tuple[int, ...] = ()
        # The largest bound. Replaced and never mutated: another thread may be reading it.
        self._largest: int | None = None
        # When the last response was received, by the monotonic clock.
        self.answered_at: float | None = None

    def record_response(
        self, database_time: datetime, *, received: float, sent: float | None = None
    ) -> None:
        """Record a response with the database time `database_time`, received at `received`
        (monotonic) and requested at `sent`.
        """
        shown = (database_time - EPOCH) // MICROSECOND
        kept = self._bounds[1 - BOUNDS_KEPT :]
        if sent is not None and kept and max(kept) > shown - to_microseconds(sent):
            kept = ()
        self._bounds = (*kept, shown - to_microseconds(received))
        self._largest = max(self._bounds)
        self.answered_at = received

    def database_time_at(self, monotonic: float) -> datetime | None:
        """Return the database's time then, or slightly less; None before the first response."""
        largest = self._largest
        if largest is None:
            return None
        return EPOCH + timedelta(microseconds=largest + to_microseconds(monotonic))

    def monotonic_when(self, time: datetime) -> float | None:
        """Return when, by the monotonic clock, the database's clock certainly shows that time."""
        largest = self._largest
        if largest is None:
            return None
        return ((time - EPOCH) // MICROSECOND - largest) / 1_000_000


def to_microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)
