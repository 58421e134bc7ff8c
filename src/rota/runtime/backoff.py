"""Jittered waiting while the database is away. Room: runtime.

Arithmetic only: it neither sleeps nor draws its own luck. Retrying a run is another matter, with
another policy (core).
"""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

# A restarted PostgreSQL took 2.3 to 5.4 s to answer again when it was measured; with 2 s as the
# longest pause every node is back within 2 s of that, and the spread keeps a thousand of them from
# knocking at once.
SHORTEST = timedelta(seconds=0.1)
LONGEST = timedelta(seconds=2)


@dataclass(slots=True, kw_only=True)
class Backoff:
    """Pauses between `shortest` and a ceiling that doubles with each failure in a row."""

    chance: Random
    shortest: timedelta = SHORTEST
    longest: timedelta = LONGEST
    failures: int = 0

    def pause(self) -> timedelta:
        """Count one more failure; return how long to wait before the next try."""
        self.failures += 1
        # The exponent is capped because an outage may last for days, and a timedelta overflows.
        ceiling = min(self.longest, self.shortest * (1 << min(self.failures, 30)))
        return self.shortest + (ceiling - self.shortest) * self.chance.random()

    def reset(self) -> None:
        self.failures = 0
