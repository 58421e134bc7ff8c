"""Lets running attempts finish when the worker drains.

When stopped, it waits for the running attempts. Attempts that still run after `drain` are asked to
stop and handed back to the queue: this costs no retry, and another worker starts them again.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.core.attempt import StopReason
from rota.flow.execute.crew import Crew
from rota.runtime.clock import AlarmClock
from rota.runtime.pulse import Pulse
from rota.runtime.stop import Halt

LOOK_EVERY: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Executing:
    crew: Crew
    clock: AlarmClock
    drain: timedelta
    name: str = "draining"

    async def run(self, stop: Halt, /) -> None:
        await stop.wait()
        await self._wait(self.drain.total_seconds())
        if self.crew.busy:
            self.crew.stop_all(StopReason.DRAIN)
            # The attempt loop gives up on each attempt when its grace period is over.
            await self._wait(float("inf"))

    async def _wait(self, seconds: float) -> None:
        end = self.clock.monotonic() + seconds
        pulse = Pulse()
        while self.crew.busy and self.clock.monotonic() < end:
            await pulse.wait(self.clock, LOOK_EVERY)
