"""The schedule of faults: what is done to whom and when, decided by a seed before anything starts.

Knows how to hurt; what is hurt is given to it. It says when it began and ended each fault, so that
a violation can be read beside what was going on.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from random import Random

from rota.runtime.clock import SystemClock
from tests.support.cluster import Cluster, Member


class Fault(StrEnum):
    KILL = "kill -9"
    FREEZE = "freeze"
    ROLL = "rolling restart"
    KILL_DATABASE = "kill -9 of the postmaster"
    CUT = "cut connections"


# How often each happens in relation to the others. A rolling restart and a dead database touch
# everybody; they come less often, so that the others have something to break.
WEIGHTS = {
    Fault.KILL: 10,
    Fault.FREEZE: 8,
    Fault.CUT: 6,
    Fault.ROLL: 3,
    Fault.KILL_DATABASE: 2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One fault: `after` seconds of peace, then against `target`, for `seconds` if it lasts."""

    after: float
    fault: Fault
    target: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    fault: Fault
    names: tuple[str, ...]
    began: datetime
    ended: datetime


def strikes_of(chance: Random, *, seconds: float, every: float, lease: float) -> list[Strike]:
    """Strikes for so long. The first ones are one of each, so that a short run has them all."""
    faults = list(Fault)
    chance.shuffle(faults)
    strikes: list[Strike] = []
    at = 0.0
    while True:
        after = chance.uniform(0.3, 1.7) * every
        at += after
        if at >= seconds:
            return strikes
        drawn = chance.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
        strikes.append(
            Strike(
                after=after,
                fault=faults.pop() if faults else drawn,
                target=chance.randrange(1000),
                # From a hiccup that must do no harm to far beyond the lease.
                seconds=lease * chance.uniform(0.3, 2.5),
            )
        )


@dataclass(kw_only=True)
class Nemesis:
    """`kill_database` and `cut` are done by whoever has the database."""

    cluster: Cluster
    kill_database: Callable[[], Awaitable[None]]
    cut: Callable[[int], Awaitable[int]]
    clock: SystemClock = field(default_factory=SystemClock)
    struck: list[Struck] = field(default_factory=list)

    async def run(self, strikes: list[Strike]) -> None:
        """Begin each in its turn; those that last overlap with those that follow."""
        async with asyncio.TaskGroup() as group:
            for strike in strikes:
                await self.clock.sleep(strike.after)
                group.create_task(self._strike(strike))

    async def _strike(self, strike: Strike) -> None:
        began = self.clock.now()
        names = await self._hurt(strike)
        self.struck.append(
            Struck(fault=strike.fault, names=names, began=began, ended=self.clock.now())
        )

    async def _hurt(self, strike: Strike) -> tuple[str, ...]:
        member = self.cluster.members[strike.target % len(self.cluster.members)]
        match strike.fault:
            case Fault.KILL:
                member.signal(signal.SIGKILL)
            case Fault.FREEZE:
                await self._freeze(member, strike.seconds)
            case Fault.ROLL:
                return await self._roll(strike)
            case Fault.KILL_DATABASE:
                await self.kill_database()
                return ("postgres",)
            case Fault.CUT:
                return (f"{await self.cut(strike.target)} connections",)
        return (member.name,)

    async def _freeze(self, member: Member, seconds: float) -> None:
        member.signal(signal.SIGSTOP)
        await self.clock.sleep(seconds)
        member.signal(signal.SIGCONT)

    async def _roll(self, strike: Strike) -> tuple[str, ...]:
        """Every member in turn is told to leave, as a deployment does."""
        for member in self.cluster.members:
            member.signal(signal.SIGTERM)
            await self.clock.sleep(strike.seconds / len(self.cluster.members))
        return tuple(member.name for member in self.cluster.members)
