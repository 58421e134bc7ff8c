"""The real clock, and one that only moves when it is told to. Room: runtime.

The only place that reads the machine's time or sleeps. `MovedClock` is for tests and simulations,
ours and our users'; it lives beside the real one so that the two stay interchangeable.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from rota.core.clock import Clock

# How many turns of the event loop a woken task gets before moved time goes on: enough for a pass
# that hands values through several channels. It costs some 0.2 ms a wake-up.
SETTLING_TURNS = 40

INSTANT = timedelta(microseconds=1)


class AlarmClock(Clock, Protocol):
    """A clock that can also call back; waiting for "this, or that much time" is built on it."""

    def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
        """Call `ring` in the event loop after `seconds`; the result, called, prevents it."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock that all others ask

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)  # noqa: TID251 - as above

    def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(seconds, ring).cancel


class MovedClock:
    """A clock that stands still until a test moves it.

    Sleepers wake in the order of their time and, at the same time, in the order in which they went
    to sleep. Each runs until it waits again before the next one wakes, so a whole afternoon plays
    the same way each time, in milliseconds.
    """

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock needs an aware datetime, for example one with tzinfo=UTC")
        self._wall = start.astimezone(UTC)
        self._elapsed = timedelta()
        # Exact microseconds rather than float seconds: sums of floats would make order a matter of
        # rounding. The number breaks ties and finds the callback; a silenced alarm has none.
        self._alarms: list[tuple[timedelta, int]] = []
        self._numbers = count()
        self._rings: dict[int, Callable[[], None]] = {}

    def now(self) -> datetime:
        return self._wall

    def monotonic(self) -> float:
        return self._elapsed.total_seconds()

    async def sleep(self, seconds: float, /) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)  # noqa: TID251 - a turn for the others, no time
            return
        woken = asyncio.Event()
        silence = self.alarm(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            silence()

    def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
        # Never at this very instant: a wait for the rest of a rounding error would ring for ever
        # without time moving on.
        due = self._elapsed + max(INSTANT, timedelta(seconds=seconds))
        number = next(self._numbers)
        heappush(self._alarms, (due, number))
        self._rings[number] = ring

        def silence() -> None:
            self._rings.pop(number, None)

        return silence

    async def advance(self, by: timedelta) -> None:
        """Let time pass, stopping at every alarm on the way."""
        if by < timedelta():
            raise ValueError("time does not go back; `step` moves the wall clock alone")
        await self._settle()
        end = self._elapsed + by
        while self._alarms and self._alarms[0][0] <= end:
            due, number = heappop(self._alarms)
            if ring := self._rings.pop(number, None):
                self._move_to(due)
                ring()
                await self._settle()
        self._move_to(end)

    def step(self, by: timedelta) -> None:
        """Set the wall clock forward or back, as an operator or NTP does; no time passes."""
        self._wall += by

    def _move_to(self, elapsed: timedelta) -> None:
        self._wall += elapsed - self._elapsed
        self._elapsed = elapsed

    async def _settle(self) -> None:
        for _ in range(SETTLING_TURNS):
            await asyncio.sleep(0)  # noqa: TID251 - turns of the loop, no time
