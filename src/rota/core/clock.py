"""What a clock is. Room: core.

Only the shape: core itself never asks what time it is, it is told. The real clock and the one that
tests move are in runtime/clock.py. Due times and leases are decided by the database's clock; a
node's own clock only measures how long it waits and how long it may still trust a lease.
"""

from collections.abc import Awaitable
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, aware, in UTC. It may jump; never subtract it to get a waiting time."""

    def monotonic(self) -> float:
        """Seconds since some start; only differences mean something. It never goes back."""

    def sleep(self, seconds: float, /) -> Awaitable[None]:
        """Let `seconds` pass on the monotonic clock; nought lets the other tasks have a turn."""
