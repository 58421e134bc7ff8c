"""Notices that the loop of the attempts stands still. Room: flow/execute.

A duty of the engine: it asks the stage for an answer at each pass. A stage that has not answered
for `limit` is blocked by some handler; the crew then goes on with a new one.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.core.clock import Clock
from rota.core.errors import LeaseLost
from rota.flow.execute.crew import MOST_STUCK, Crew
from rota.flow.execute.stage import Stage

EVERY: Final = 0.5


@dataclass(slots=True, kw_only=True)
class Overseeing:
    crew: Crew
    clock: Clock
    limit: timedelta
    _asked: int = 0
    _since: float = 0.0
    _stage: Stage | None = field(default=None)

    async def tick(self) -> float:
        now, stage = self.clock.monotonic(), self.crew.stage
        if stage is not self._stage or stage.answered == self._asked:
            self._stage, self._since = stage, now
            self._asked += 1
            stage.ask(self._asked)
        elif now - self._since > self.limit.total_seconds():
            self.crew.replace_stage(now - self._since)
        if self.crew.stuck >= MOST_STUCK:
            raise LeaseLost(thing="worker", id=f"{self.crew.stuck} attempts that never stopped")
        return EVERY
