"""Detects that the attempt loop is blocked.

A duty of the engine: each pass pings the attempt loop. If the loop has not responded for `limit`, a
handler blocks it, and the attempt pool continues with a new loop.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.core.clock import ClockSource
from rota.core.errors import LeaseLost
from rota.flow.execute.crew import MOST_STUCK, Crew
from rota.flow.execute.stage import Stage

EVERY: Final = 0.5


@dataclass(slots=True, kw_only=True)
class Overseeing:
    crew: Crew
    clock: ClockSource
    limit: timedelta
    _ping: int = 0
    _since: float = 0.0
    _stage: Stage | None = field(default=None)

    async def tick(self) -> float:
        now, stage = self.clock.monotonic(), self.crew.stage
        if stage is not self._stage or stage.answered == self._ping:
            self._stage, self._since = stage, now
            self._ping += 1
            stage.ask(self._ping)
        elif now - self._since > self.limit.total_seconds():
            self.crew.replace_stage(now - self._since)
        if self.crew.stuck >= MOST_STUCK:
            raise LeaseLost(thing="worker", id=f"{self.crew.stuck} attempts that never stopped")
        return EVERY
