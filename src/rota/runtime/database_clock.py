"""Estimates the database's time without a query for each reading.

Submissions, deadlines and log lines are compared with times that the database wrote, so they must
not depend on the clock of the machine that a process runs on. A process measures the database's
clock every second (engine/observability/clock_monitor.py) and extrapolates with its monotonic
clock. The estimate is never ahead of the database's clock: a job that is due "now" can be claimed
at once.
"""

from collections.abc import Callable
from datetime import datetime

from rota.runtime.clock import AlarmClock, SystemClock
from rota.runtime.clock_offset import ClockOffset


class DatabaseClock:
    """A clock whose wall time is the database's; all else is the machine's."""

    __slots__ = ("_clock", "offset")

    def __init__(self, clock: AlarmClock | None = None) -> None:
        self._clock = SystemClock() if clock is None else clock
        self.offset = ClockOffset()

    def now(self) -> datetime:
        """Estimate the database's time. Requires at least one measurement."""
        estimate = self.offset.database_time_at(self._clock.monotonic())
        if estimate is None:
            raise RuntimeError("the database's clock has not been measured yet")
        return estimate

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep(self, seconds: float, /) -> None:
        await self._clock.sleep(seconds)

    def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
        return self._clock.alarm(seconds, ring)
