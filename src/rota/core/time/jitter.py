"""A deterministic offset that spreads ticks which would otherwise start at one instant.

Room: core/time. The offset is a hash, not a drawn number: whoever computes it, however often, gets
the same answer, and the preview shows the true time. Does not know calendars or zones; planning.py
says how much room there is.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

LONGEST = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STEP = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jitter:
    """Offsets in [0, window). `stable` keeps one offset for all ticks of a schedule, so that the
    distance between two runs stays what the schedule says.
    """

    window: timedelta
    stable: bool = False

    def offset(self, seed: str, nominal: datetime, *, room: timedelta | None) -> timedelta:
        """The offset of this tick; `room` is the distance to what it must stay in front of."""
        window = self.window if room is None else min(self.window, room)
        steps = window // STEP
        if steps <= 1:
            return timedelta(0)
        what = seed if self.stable else f"{seed}\0{(nominal - EPOCH) // STEP}"
        number = int.from_bytes(blake2b(what.encode(), digest_size=8).digest())
        return number % steps * STEP
