"""Runs the loop around every background step.

A duty is a `tick`: one bounded pass that returns how many seconds to rest. This module rests,
wakes, survives a database outage and reports progress to the watchdog. It does not know what a tick
does.

Any other exception leaves `run` on purpose: leases make it safe to restart a process, and a process
that continues with one duty missing does more harm.

`Pulse` coalesces wake-ups of a duty, `Stop` asks services to stop, and `run_tiers` starts all
services of a process and stops them in order.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Protocol

from rota.core.errors import LeaseLost, StoreUnavailable
from rota.runtime.backoff import Backoff
from rota.runtime.clock import AlarmClock
from rota.runtime.database_clock import DatabaseClock
from rota.runtime.events import (
    DatabaseLost,
    DatabaseRecovered,
    Emit,
    ProcessDraining,
    ServiceCancelled,
    ServiceFailed,
)
from rota.runtime.process_health import ProcessHealth
from rota.runtime.watchdog import Watch, Watchdog


class Pulse:
    __slots__ = ("_event", "_pending")

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._pending = False

    @property
    def is_pending(self) -> bool:
        """Whether `wake` was called since the last pass began."""
        return self._pending

    def wake(self) -> None:
        """Request another pass, now or right after the current one."""
        self._pending = True
        self._event.set()

    def ring(self) -> None:
        """Make the waiting duty check its conditions, without requesting a pass."""
        self._event.set()

    def begin_pass(self) -> None:
        """Start a pass, which covers all wake-ups so far."""
        self._pending = False

    async def wait(self, clock: AlarmClock, seconds: float) -> None:
        """Wait for the next call or ring, but no longer than `seconds`.

        The caller checks its conditions before and after. No call between its check and this wait
        is lost: there is no `await` in between, so no other task can have run.
        """
        self._event.clear()
        cancel_alarm = clock.alarm(seconds, self._event.set)
        try:
            await self._event.wait()
        finally:
            cancel_alarm()


class Halt:
    """An event that is set once and never cleared, and that rings the pulses of resting duties."""

    __slots__ = ("_event", "_pulses")

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._pulses: list[Pulse] = []

    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()
        for pulse in self._pulses:
            pulse.ring()

    async def wait(self) -> None:
        await self._event.wait()

    @contextmanager
    def ring_on_set(self, pulse: Pulse) -> Iterator[None]:
        """While inside, setting this also rings `pulse`."""
        self._pulses.append(pulse)
        try:
            yield
        finally:
            self._pulses.remove(pulse)


class Stop:
    """The two stages in which a process stops."""

    __slots__ = ("cancel", "drain")

    def __init__(self) -> None:
        self.drain = Halt()
        self.cancel = Halt()

    def request(self) -> None:
        """Drain on the first call, cancel on the second."""
        if self.drain.is_set():
            self.cancel.set()
        self.drain.set()

    def force(self) -> None:
        """Cancel at once, without draining."""
        self.cancel.set()
        self.drain.set()


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
    stored and compared. `health` is what the probes read.
    """

    clock: AlarmClock
    emit: Emit
    rng: Random
    watchdog: Watchdog
    database_clock: DatabaseClock = field(default_factory=DatabaseClock)
    health: ProcessHealth = field(default_factory=ProcessHealth)


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


# Time beyond the grace periods: for cancelled services that clean up, and for delays of the loop.
DRAIN_MARGIN = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Tier:
    """Services that are stopped together, and how long they may take to stop."""

    services: Sequence[Service]
    grace: timedelta = field(kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnding:
    """How the process ended. `cancelled` names the services that exceeded their grace period."""

    failures: tuple[ServiceFailed, ...]
    cancelled: tuple[str, ...]
    is_forced: bool

    @property
    def exit_code(self) -> int:
        """0 after a drain, even one that had to cancel, because the supervisor requested it."""
        return 1 if self.failures or self.is_forced else 0


@dataclass(frozen=True, slots=True)
class StartedTier:
    halt: Halt
    tasks: list[asyncio.Task[None]]
    grace: timedelta


class TierRun:
    """One run of a process: its failures so far, and a pulse that rings when anything changed."""

    def __init__(self, stop: Stop, context: ServiceContext) -> None:
        self._stop = stop
        self._ground = context
        self._changed = Pulse()
        self._failures: list[ServiceFailed] = []
        self._cancelled: list[str] = []

    def build_ending(self) -> ProcessEnding:
        return ProcessEnding(
            failures=tuple(self._failures),
            cancelled=tuple(self._cancelled),
            is_forced=self._stop.cancel.is_set(),
        )

    def start_tier(self, tier: Tier, group: asyncio.TaskGroup) -> StartedTier:
        halt = Halt()
        tasks = [
            group.create_task(self._run_service(service, halt), name=service.name)
            for service in tier.services
        ]
        for task in tasks:
            task.add_done_callback(lambda _: self._changed.ring())
        return StartedTier(halt, tasks, tier.grace)

    async def _run_service(self, service: Service, halt: Halt) -> None:
        error: Exception | None = None
        try:
            await service.run(halt)
        except Exception as caught:  # noqa: BLE001 - a service may raise anything
            error = caught
        finally:
            # Also when it was cancelled: not by this module, if it was not stopped.
            if error is not None or not halt.is_set():
                self._fail(ServiceFailed(service=service.name, error=error))

    def _fail(self, failure: ServiceFailed) -> None:
        self._failures.append(failure)
        self._ground.emit(failure)
        if is_lost_lease(failure.error):
            self._stop.force()
        else:
            self._stop.drain.set()

    async def drain_tier(self, tier: StartedTier) -> None:
        """Stop the tier; cancel what has not ended when its grace period is over."""
        tier.halt.set()
        await self._wait_for(tier)
        late = [task for task in tier.tasks if not task.done()]
        for task in late:
            self._cancelled.append(task.get_name())
            self._ground.emit(ServiceCancelled(service=task.get_name()))
            task.cancel()
        if late:
            await asyncio.wait(late)

    async def _wait_for(self, tier: StartedTier) -> None:
        clock = self._ground.clock
        end = clock.monotonic() + tier.grace.total_seconds()
        with self._stop.cancel.ring_on_set(self._changed):
            while not (self._stop.cancel.is_set() or all(task.done() for task in tier.tasks)):
                left = end - clock.monotonic()
                if left <= 0:
                    return
                await self._changed.wait(clock, left)


async def run_tiers(tiers: Sequence[Tier], stop: Stop, context: ServiceContext) -> ProcessEnding:
    """Run all tiers until `stop` is requested or a service fails; drain them; return how it ended.

    If the caller is cancelled, every service is cancelled at once, and the cancellation propagates.
    The watchdog ends a service that does not even end when it is cancelled.
    """
    node = TierRun(stop, context)
    drain_limit = sum((tier.grace for tier in tiers), DRAIN_MARGIN)
    with context.watchdog.watch_loop():
        async with asyncio.TaskGroup() as group:
            started = [node.start_tier(tier, group) for tier in tiers]
            await stop.drain.wait()
            context.emit(ProcessDraining())
            with context.watchdog.watch("drain", limit=drain_limit):
                for tier in started:
                    await node.drain_tier(tier)
    return node.build_ending()


def is_lost_lease(error: Exception | None) -> bool:
    if isinstance(error, ExceptionGroup):
        return error.subgroup(LeaseLost) is not None
    return isinstance(error, LeaseLost)
