"""Runs the loop around every background step.

A duty is a `tick`: one bounded pass that returns how many seconds to rest. This module rests,
wakes, survives a database outage and reports progress to the watchdog. It does not know what a tick
does, and it does not decide when the process stops (tiers.py).

Any other exception leaves `run` on purpose: leases make it safe to restart a process, and a process
that continues with one duty missing does more harm.
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
from rota.runtime.events import DatabaseLost, DatabaseRecovered, Emit
from rota.runtime.pulse import Pulse
from rota.runtime.stop import Halt
from rota.runtime.watchdog import Watch, Watchdog

# No wait in a loop is longer than this before the duty checks again. So the watchdog can tell a
# long rest from a stall, and a wrongly computed wait does little harm.
WAIT_MAX_S = 1.0


class Service(Protocol):
    """Runs until it is stopped, and returns soon after."""

    @property
    def name(self) -> str: ...

    def run(self, stop: Halt, /) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceContext:
    """The shared dependencies of all services of a process.

    `clock` is the machine's clock and measures waiting. `database_clock` gives the time that is
    stored and compared.
    """

    clock: AlarmClock
    emit: Emit
    rng: Random
    watchdog: Watchdog
    database_clock: DatabaseClock = field(default_factory=DatabaseClock)


@dataclass(frozen=True, slots=True)
class DutyRest:
    """How long until the next pass, and whether a wake-up may shorten it."""

    seconds: float
    may_wake: bool = True


class Duty:
    """Runs `tick` repeatedly: as often as it requests, and whenever `pulse` wakes it.

    `limit` is the longest a pass may take before the watchdog ends the process.
    """

    def __init__(
        self,
        name: str,
        tick: Callable[[], Awaitable[float]],
        pulse: Pulse,
        context: ServiceContext,
        *,
        limit: timedelta | None = None,
    ) -> None:
        self.name = name
        self._tick = tick
        self._pulse = pulse
        self._ground = context
        self._limit = limit
        self._backoff = Backoff(rng=context.rng)

    async def run(self, stop: Halt, /) -> None:
        watching = self._ground.watchdog.watch(self.name, limit=self._limit)
        with watching as watch, stop.ring_on_set(self._pulse):
            while not stop.is_set():
                watch.progress()
                self._pulse.begin_pass()
                rest = await self._pass()
                await self._rest(rest, stop, watch)

    async def _pass(self) -> DutyRest:
        away: ExceptionGroup[StoreUnavailable] | None = None
        try:
            seconds = await self._tick()
        except* StoreUnavailable as group:  # starred: a tick may use several connections at once
            away = group
        if away is not None:
            return self._back_off(away)
        if self._backoff.failures:
            self._ground.emit(DatabaseRecovered(duty=self.name, failures=self._backoff.failures))
            self._backoff.reset()
        return DutyRest(seconds)

    def _back_off(self, away: ExceptionGroup[StoreUnavailable]) -> DutyRest:
        pause = self._backoff.next_pause()
        self._ground.emit(
            DatabaseLost(
                duty=self.name,
                reason=find_first_error(away).reason,
                failures=self._backoff.failures,
                pause=pause,
            )
        )
        # Ignores wake-ups: when the database comes back, notifications arrive in floods, and every
        # process would connect at the same instant. The next pass handles the wake-up.
        return DutyRest(pause.total_seconds(), may_wake=False)

    async def _rest(self, rest: DutyRest, stop: Halt, watch: Watch) -> None:
        clock = self._ground.clock
        end = clock.monotonic() + rest.seconds
        # A duty that never rests must still yield to the others.
        await clock.sleep(0)
        while not stop.is_set() and not (rest.may_wake and self._pulse.is_pending):
            left = end - clock.monotonic()
            if left <= 0:
                return
            watch.progress()
            await self._pulse.wait(clock, min(left, WAIT_MAX_S))


def find_first_error(group: ExceptionGroup[StoreUnavailable]) -> StoreUnavailable:
    """Return the first error in a group, however deeply nested."""
    first = group.exceptions[0]
    return find_first_error(first) if isinstance(first, ExceptionGroup) else first
