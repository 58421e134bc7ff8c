"""What the database's clock shows, as far as round trips can tell. Room: runtime.

A node knows when it must act by the database's clock, and asks that clock only now and then. Each
answer bounds it from below: when the answer had come back, the database's clock showed at least
what the answer says. The estimate is the tightest of the last few bounds, carried on by the
monotonic clock. So it is late by one way back at most, and never early: whoever acts on it is not
refused for being early. The moment of asking bounds it from above: an answer below the estimate
means that the database's clock was set back, or that another server answers now, and the older
bounds are dropped. Without that moment, it is believed again after a few answers.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
# With an answer every quarter of a second the oldest is two seconds old: in that time the clocks of
# two machines drift apart by less than a round trip takes.
ANSWERS: Final = 8


class Offset:
    """The distance between the database's clock and this process's monotonic one.

    One thread notes answers; any thread may ask.
    """

    __slots__ = ("_bounds", "_largest")

    def __init__(self) -> None:
        self._bounds: tuple[int, ...] = ()
        # The largest of them. Replaced and never changed: a thread of handlers may be reading it.
        self._largest: int | None = None

    def note(self, told: datetime, *, received: float, sent: float | None = None) -> None:
        """Take note that an answer received at `received` (monotonic) told this time; it was asked
        for at `sent`.
        """
        shown = (told - EPOCH) // MICROSECOND
        kept = self._bounds[1 - ANSWERS :]
        if sent is not None and kept and max(kept) > shown - microseconds(sent):
            kept = ()
        self._bounds = (*kept, shown - microseconds(received))
        self._largest = max(self._bounds)

    def at(self, monotonic: float) -> datetime | None:
        """The database's time at that moment, or a little less; None before the first answer."""
        largest = self._largest
        if largest is None:
            return None
        return EPOCH + timedelta(microseconds=largest + microseconds(monotonic))

    def reached(self, time: datetime) -> float | None:
        """When, by the monotonic clock, the database's certainly shows that time."""
        largest = self._largest
        if largest is None:
            return None
        return ((time - EPOCH) // MICROSECOND - largest) / 1_000_000


def microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)
