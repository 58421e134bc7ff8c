"""The loop around every background step, written once. Room: runtime.

A duty is a `tick`: one bounded pass that returns how many seconds to rest. This module rests,
wakes, survives an absent database and reports progress to the watchdog. It does not know what a
tick does, and it does not decide when the node stops (tiers.py).

Any other exception leaves `run`, on purpose: leases make it safe to restart a node, and a node that
limps on with one duty missing is what hurts.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Protocol

from rota.core.errors import StoreUnavailable
from rota.runtime.backoff import Backoff
from rota.runtime.clock import AlarmClock
from rota.runtime.database_clock import DatabaseClock
from rota.runtime.events import Emit, StoreAway, StoreBack
from rota.runtime.pulse import Pulse
from rota.runtime.stop import Halt
from rota.runtime.watchdog import Watch, Watchdog

# No wait in a loop is longer than this before the duty looks around again. The watchdog can then
# tell a long rest from a standstill, and a wait that was computed wrongly does little harm.
LONGEST_WAIT = 1.0


class Service(Protocol):
    """Something that runs until it is told to stop, and returns soon after."""

    @property
    def name(self) -> str: ...

    def run(self, stop: Halt, /) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What all services of a node stand on.

    `clock` is the machine's: it measures waiting. `database_clock` tells the time that is stored
    and compared.
    """

    clock: AlarmClock
    emit: Emit
    chance: Random
    watchdog: Watchdog
    database_clock: DatabaseClock = field(default_factory=DatabaseClock)


@dataclass(frozen=True, slots=True)
class Rest:
    """How long until the next pass, and whether a wake-up may shorten it."""

    seconds: float
    may_wake: bool = True


class Duty:
    """Runs `tick` again and again: as often as it asks, and whenever `pulse` wakes it.

    `limit` is the longest a pass may take before the watchdog ends the process.
    """

    def __init__(
        self,
        name: str,
        tick: Callable[[], Awaitable[float]],
        pulse: Pulse,
        ground: Ground,
        *,
        limit: timedelta | None = None,
    ) -> None:
        self.name = name
        self._tick = tick
        self._pulse = pulse
        self._ground = ground
        self._limit = limit
        self._backoff = Backoff(chance=ground.chance)

    async def run(self, stop: Halt, /) -> None:
        watching = self._ground.watchdog.watch(self.name, limit=self._limit)
        with watching as watch, stop.ringing(self._pulse):
            while not stop.is_set():
                watch.progress()
                self._pulse.answer()
                rest = await self._pass()
                await self._rest(rest, stop, watch)

    async def _pass(self) -> Rest:
        away: ExceptionGroup[StoreUnavailable] | None = None
        try:
            seconds = await self._tick()
        except* StoreUnavailable as group:  # starred: a tick may use several connections at once
            away = group
        if away is not None:
            return self._back_off(away)
        if self._backoff.failures:
            self._ground.emit(StoreBack(duty=self.name, failures=self._backoff.failures))
            self._backoff.reset()
        return Rest(seconds)

    def _back_off(self, away: ExceptionGroup[StoreUnavailable]) -> Rest:
        pause = self._backoff.pause()
        self._ground.emit(
            StoreAway(
                duty=self.name,
                reason=first_of(away).reason,
                failures=self._backoff.failures,
                pause=pause,
            )
        )
        # Not to be woken: when the database comes back, notifications come in floods, and every
        # node would knock at the same instant. The wake-up is kept for the pass that follows.
        return Rest(pause.total_seconds(), may_wake=False)

    async def _rest(self, rest: Rest, stop: Halt, watch: Watch) -> None:
        clock = self._ground.clock
        end = clock.monotonic() + rest.seconds
        # A duty that never rests must still let the others have their turn.
        await clock.sleep(0)
        while not stop.is_set() and not (rest.may_wake and self._pulse.pending):
            left = end - clock.monotonic()
            if left <= 0:
                return
            watch.progress()
            await self._pulse.wait(clock, min(left, LONGEST_WAIT))


def first_of(group: ExceptionGroup[StoreUnavailable]) -> StoreUnavailable:
    """The first error in a group, however deeply its groups are nested."""
    first = group.exceptions[0]
    return first_of(first) if isinstance(first, ExceptionGroup) else first
