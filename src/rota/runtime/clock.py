"""Provides the machine's clock: the only place that reads the machine's time or sleeps."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from rota.core.clock import ClockSource


class AlarmClock(ClockSource, Protocol):
    """A clock that can also call back; waiting for an event with a time limit is built on it."""

    def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
        """Call `ring` in the event loop after `seconds`; return a function that cancels it."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock that all other code uses

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)  # noqa: TID251 - as above

    def alarm(self, seconds: float, ring: Callable[[], None], /) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(seconds, ring).cancel
