"""Detects that the attempt loop is blocked.

A duty of the engine: each pass pings the attempt loop. If the loop has not responded for `limit`, a
handler blocks it, and the attempt pool continues with a new loop.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.core.clock import ClockSource
from rota.core.errors import LeaseLost
from rota.engine.execution.attempt_loop import AttemptLoop
from rota.engine.execution.attempt_pool import STUCK_ATTEMPTS_MAX, AttemptPool

PING_INTERVAL_S: Final = 0.5


@dataclass(slots=True, kw_only=True)
class StallMonitor:
    pool: AttemptPool
    clock: ClockSource
    limit: timedelta
    _ping: int = 0
    _since: float = 0.0
    _stage: AttemptLoop | None = field(default=None)

    async def tick(self) -> float:
        now, stage = self.clock.monotonic(), self.pool.loop
        if stage is not self._stage or stage.last_ping == self._ping:
            self._stage, self._since = stage, now
            self._ping += 1
            stage.ping(self._ping)
        elif now - self._since > self.limit.total_seconds():
            self.pool.replace_loop(now - self._since)
        if self.pool.stuck_attempts >= STUCK_ATTEMPTS_MAX:
            raise LeaseLost(
                thing="worker", id=f"{self.pool.stuck_attempts} attempts that never stopped"
            )
        return PING_INTERVAL_S
