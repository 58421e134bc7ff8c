"""Defines the protocol of a clock.

Core itself never reads a clock: time is an argument. The real clock and the clock for tests are in
runtime/clock.py. The database's clock decides due times and leases; a node's own clock only
measures how long the node waits and how long it may still trust a lease.
"""

from collections.abc import Awaitable
from datetime import datetime, timedelta
from typing import Final, Protocol

# At this difference a process warns that its clock and the database's clock differ.
CLOCK_OFFSET_WARNING: Final = timedelta(seconds=2)
# At this difference the machine's clock is unusable: an API process reports that it is not ready,
# and a scheduler holds no shards.
CLOCK_OFFSET_LIMIT: Final = timedelta(seconds=30)


class ClockSource(Protocol):
    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC. It may jump; never measure waits with it."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start. Never goes back; use differences only."""

    def sleep(self, seconds: float, /) -> Awaitable[None]:
        """Wait for `seconds` on the monotonic clock; 0 lets other tasks run."""


def compute_clock_offset(
    database_time: datetime, *, sent_at: datetime, received_at: datetime
) -> timedelta:
    """Compute the minimum offset of the database's clock from this machine's.

    `database_time` was read between `sent_at` and `received_at`, this machine's times before
    and after the query. A time between them proves no offset. Negative if the database is behind.
    """
    return database_time - min(max(database_time, sent_at), max(sent_at, received_at))
