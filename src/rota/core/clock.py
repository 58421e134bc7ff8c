"""What a clock is. Room: core.

Only the shape: core itself never asks what time it is, it is told. The real clock and the one that
tests move are in runtime/clock.py. Due times and leases are decided by the database's clock; a
node's own clock only measures how long it waits and how long it may still trust a lease.
"""

from collections.abc import Awaitable
from datetime import datetime, timedelta
from typing import Final, Protocol

# From here on a process warns that its machine's clock and the database's differ.
CLOCK_OFFSET_WARNING: Final = timedelta(seconds=2)
# From here on the machine is broken in ways that cannot be known: an API process reports that it is
# not ready, and a scheduler holds no shards.
CLOCK_OFFSET_LIMIT: Final = timedelta(seconds=30)


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, aware, in UTC. It may jump; never subtract it to get a waiting time."""

    def monotonic(self) -> float:
        """Seconds since some start; only differences mean something. It never goes back."""

    def sleep(self, seconds: float, /) -> Awaitable[None]:
        """Let `seconds` pass on the monotonic clock; nought lets the other tasks have a turn."""


def clock_offset(told: datetime, *, asked: datetime, answered: datetime) -> timedelta:
    """Compute how far the database's clock is ahead of this machine's, at least.

    `asked` and `answered` are this machine's times around the question. A time between them proves
    no difference. Negative if the database's clock is behind.
    """
    return told - min(max(told, asked), max(asked, answered))
