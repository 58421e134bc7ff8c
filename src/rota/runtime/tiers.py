"""Starts all services of a process, and stops them in order.

A process is a list of tiers. They start together and drain one after the other, so the order of the
list is the order of stopping: first the services that take new work, then those that do it, then
those that record it, last the heartbeat. The package processes decides which services those are.

This is one of the two places that may catch any exception: a service that fails, or ends without
being stopped, drains the whole process and makes it exit non-zero. A lost lease is not drained for:
others may hold the work already, so everything is cancelled at once.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from rota.core.errors import LeaseLost
from rota.runtime.events import ProcessDraining, ServiceCancelled, ServiceFailed
from rota.runtime.pulse import Pulse
from rota.runtime.service import Service, ServiceContext
from rota.runtime.stop import Halt, Stop

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
