"""A clock that moves only on request; interchangeable with `rota.runtime.clock.SystemClock`."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count

# Turns of the event loop that a woken task gets before moved time continues: enough for a pass that
# hands values through several channels. Costs about 0.2 ms per wake-up.
SETTLING_TURNS = 40

INSTANT = timedelta(microseconds=1)


class MovedClock:
    """A clock that stands still until a test moves it.

    Sleepers wake in the order of their time and, at the same time, in the order in which they went
    to sleep. Each runs until it waits again before the next one wakes, so a whole afternoon replays
    identically each time, in milliseconds.
    """

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("start must be an aware datetime, for example with tzinfo=UTC")
        self._wall = start.astimezone(UTC)
        self._elapsed = timedelta()
        # Exact microseconds rather than float seconds: sums of floats would make order a matter of
        # rounding. The number breaks ties and finds the callback; a cancelled alarm has none.
        self._alarms: list[tuple[timedelta, int]] = []
        self._numbers = count()
        self._rings: dict[int, Callable[[], None]] = {}

    def now(self) -> datetime:
        return self._wall

    def monotonic(self) -> float:
        return self._elapsed.total_seconds()

    async def sleep(self, seconds: float, /) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)  # noqa: TID251 - yields to other tasks, takes no time
            return
        woken = asyncio.Event()
        cancel_alarm = self.alarm(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            cancel_alarm()

    def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
        # Never at this very instant: waiting for the rest of a rounding error would ring forever
        # without time moving on.
        due = self._elapsed + max(INSTANT, timedelta(seconds=seconds))
        number = next(self._numbers)
        heappush(self._alarms, (due, number))
        self._rings[number] = ring

        def cancel_alarm() -> None:
            self._rings.pop(number, None)

        return cancel_alarm

    async def advance(self, by: timedelta) -> None:
        """Let time pass, stopping at every alarm on the way."""
        if by < timedelta():
            raise ValueError(
                f"cannot advance by {by}: must not be negative; `step` sets the wall clock back"
            )
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
            await asyncio.sleep(0)  # noqa: TID251 - turns of the loop, takes no time
