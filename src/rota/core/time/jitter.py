"""Computes a deterministic offset that spreads ticks which would otherwise start together.

The offset is a hash, not a random number: every computation gives the same result, so the preview
shows the actual time. This module does not know calendars or zones; planning.py passes the room
that is available.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

JITTER_MAX = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
JITTER_RESOLUTION = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TickJitter:
    """Offsets in [0, window). `stable` uses one offset for all ticks of a schedule, so that the
    distance between two runs is unchanged.
    """

    window: timedelta
    stable: bool = False

    def offset(self, seed: str, nominal: datetime, *, room: timedelta | None) -> timedelta:
        """Return the offset of this tick; `room` is an additional upper bound."""
        window = self.window if room is None else min(self.window, room)
        steps = window // JITTER_RESOLUTION
        if steps <= 1:
            return timedelta(0)
        text = seed if self.stable else f"{seed}\0{(nominal - EPOCH) // JITTER_RESOLUTION}"
        number = int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
        return number % steps * JITTER_RESOLUTION
