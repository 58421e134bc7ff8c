"""What the storm saw: marks, grants, accepted changes, answers. Becomes a history at the end.

All roles of a storm live in one process, so one monotonic clock orders what they sent and got.
"""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from rota.runtime.clock import SystemClock
from rota.store.live_runs import ClaimedRun
from tests.chaos.history import Grant, Operation, Plan, Use
from tests.support.sink import Mark

NANO = 1_000_000_000


@dataclass(slots=True)
class Lease:
    """A grant whose end moves with every renewal."""

    thing: str
    token: int
    at: int
    until: int


@dataclass(kw_only=True)
class Ledger:
    chance: Random
    clock: SystemClock = field(default_factory=SystemClock)
    marks: list[Mark] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    plans: dict[UUID, Plan] = field(default_factory=dict)
    # What a storm does not expect: refusals by the state guard or by a constraint.
    surprises: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def now(self) -> int:
        return time.monotonic_ns()

    def wall(self) -> datetime:
        return self.clock.now()

    def count(self, what: str, by: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + by

    def mark(self, event: str, run: ClaimedRun) -> None:
        self.marks.append(
            Mark(
                at=self.now(),
                wall=self.wall(),
                event=event,
                run_id=run.id,
                job_id=run.job_id,
                attempt=run.attempt,
                scheduled_at=run.scheduled_at,
                kind="storm",
                pid=0,
            )
        )

    def grant(self, thing: str, token: int, *, sent: int, ttl: timedelta) -> Lease:
        """Something was granted by a request that left at `sent`: entitled from then on for ttl."""
        lease = Lease(thing, token, self.now(), sent + nanoseconds(ttl))
        self.leases.append(lease)
        return lease

    def used(self, thing: str, token: int, *, sent: int) -> None:
        self.uses.append(Use(thing, token, sent))

    def answered(self, verb: str, thing: UUID, asked: tuple[int, datetime], **more: Any) -> None:
        self.operations.append(
            Operation(
                verb=verb,
                thing=thing,
                invoked=asked[0],
                returned=self.now(),
                invoked_wall=asked[1],
                returned_wall=self.wall(),
                outcome=more.get("outcome", "ok"),
                answer=more.get("answer", ""),
            )
        )

    def asking(self) -> tuple[int, datetime]:
        return self.now(), self.wall()

    def grants(self) -> list[Grant]:
        return [Grant(each.thing, each.token, each.at, each.until) for each in self.leases]

    async def pause(self, longest: float) -> None:
        await self.clock.sleep(self.chance.random() * longest)

    def happens(self, part: float) -> bool:
        return self.chance.random() < part


def nanoseconds(time_: timedelta) -> int:
    return round(time_.total_seconds() * NANO)
