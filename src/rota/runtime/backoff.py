"""Computes jittered pauses while the database is down.

Arithmetic only: it neither sleeps nor creates random numbers. Retries of runs have their own policy
(core).
"""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

# A restarted PostgreSQL took 2.3 to 5.4 s to respond again when measured. With a longest pause of
# 2 s every process is back within 2 s of that, and the jitter keeps a thousand processes from
# connecting at once.
PAUSE_MIN = timedelta(seconds=0.1)
PAUSE_MAX = timedelta(seconds=2)


@dataclass(slots=True, kw_only=True)
class Backoff:
    """Pauses between `min_pause` and a ceiling that doubles with each failure in a row."""

    rng: Random
    min_pause: timedelta = PAUSE_MIN
    max_pause: timedelta = PAUSE_MAX
    failures: int = 0

    def next_pause(self) -> timedelta:
        """Count one more failure; return how long to wait before the next attempt."""
        self.failures += 1
        # The exponent is capped because an outage may last for days, and a timedelta overflows.
        ceiling = min(self.max_pause, self.min_pause * (1 << min(self.failures, 30)))
        return self.min_pause + (ceiling - self.min_pause) * self.rng.random()

    def reset(self) -> None:
        self.failures = 0
