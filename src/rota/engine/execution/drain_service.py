"""Lets running attempts finish when the worker drains.

When stopped, it waits for the running attempts. Attempts that still run after `drain` are asked to
stop and handed back to the queue: this costs no retry, and another worker starts them again.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.core.attempt import StopReason
from rota.engine.execution.attempt_pool import AttemptPool
from rota.runtime.clock import AlarmClock
from rota.runtime.pulse import Pulse
from rota.runtime.stop import Halt

DRAIN_CHECK_INTERVAL_S: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainService:
    pool: AttemptPool
    clock: AlarmClock
    drain: timedelta
    name: str = "draining"

    async def run(self, stop: Halt, /) -> None:
        await stop.wait()
        await self._wait(self.drain.total_seconds())
        if self.pool.busy_slots:
            self.pool.stop_all(StopReason.DRAIN)
            # The attempt loop gives up on each attempt when its grace period is over.
            await self._wait(float("inf"))

    async def _wait(self, seconds: float) -> None:
        end = self.clock.monotonic() + seconds
        pulse = Pulse()
        while self.pool.busy_slots and self.clock.monotonic() < end:
            await pulse.wait(self.clock, DRAIN_CHECK_INTERVAL_S)
