"""Starts everything a process runs, and lets it go in order. Room: runtime.

A node is a list of tiers. They start together and drain one after the other, so the order of the
list is the order of letting go: first what takes new work, then what does it, then what records it,
last what vouches for it. Which services those are is not known here (the room node says it).

This is one of the two places that may catch any exception: a service that fails, or ends before it
was told to, drains the whole node and makes it exit non-zero. Only a lost lease is not drained for;
others may own the work already, so everything is cancelled at once.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from rota.core.errors import LeaseLost
from rota.runtime.events import NodeDraining, ServiceCancelled, ServiceFailed
from rota.runtime.pulse import Pulse
from rota.runtime.service import Ground, Service
from rota.runtime.stop import Halt, Stop

# For what the graces do not cover: cancelled services that clean up, and the loop's own delays.
DRAIN_MARGIN = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Tier:
    """Services that are told to stop together, and how long they then may take."""

    services: Sequence[Service]
    grace: timedelta = field(kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a node ended. `cancelled` names the services that outlived their grace."""

    failures: tuple[ServiceFailed, ...]
    cancelled: tuple[str, ...]
    forced: bool

    @property
    def exit_code(self) -> int:
        """Nought after a drain, even one that had to cancel: the supervisor asked for it."""
        return 1 if self.failures or self.forced else 0


@dataclass(frozen=True, slots=True)
class StartedTier:
    told: Halt
    tasks: list[asyncio.Task[None]]
    grace: timedelta


class NodeRun:
    """One run of a node: what has failed so far, and the bell that rings when anything changed."""

    def __init__(self, stop: Stop, ground: Ground) -> None:
        self._stop = stop
        self._ground = ground
        self._changed = Pulse()
        self._failures: list[ServiceFailed] = []
        self._cancelled: list[str] = []

    def ending(self) -> Ending:
        return Ending(
            failures=tuple(self._failures),
            cancelled=tuple(self._cancelled),
            forced=self._stop.cancel.is_set(),
        )

    def start(self, tier: Tier, group: asyncio.TaskGroup) -> StartedTier:
        told = Halt()
        tasks = [
            group.create_task(self._attend(service, told), name=service.name)
            for service in tier.services
        ]
        for task in tasks:
            task.add_done_callback(lambda _: self._changed.ring())
        return StartedTier(told, tasks, tier.grace)

    async def _attend(self, service: Service, told: Halt) -> None:
        error: Exception | None = None
        try:
            await service.run(told)
        except Exception as caught:  # noqa: BLE001 - the node answers for whatever a service raises
            error = caught
        finally:
            # Also when it was cancelled: by somebody else than us, if it was not told to stop.
            if error is not None or not told.is_set():
                self._fail(ServiceFailed(service=service.name, error=error))

    def _fail(self, failure: ServiceFailed) -> None:
        self._failures.append(failure)
        self._ground.emit(failure)
        if means_lost_lease(failure.error):
            self._stop.force()
        else:
            self._stop.drain.set()

    async def drain(self, tier: StartedTier) -> None:
        """Tell the tier to stop; cancel what has not ended when its grace is over."""
        tier.told.set()
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
        with self._stop.cancel.ringing(self._changed):
            while not (self._stop.cancel.is_set() or all(task.done() for task in tier.tasks)):
                left = end - clock.monotonic()
                if left <= 0:
                    return
                await self._changed.wait(clock, left)


async def run_node(tiers: Sequence[Tier], stop: Stop, ground: Ground) -> Ending:
    """Run all tiers until `stop` is requested or a service fails; drain them; say how it ended.

    If the caller is cancelled, so is every service at once, and the cancellation goes on upwards.
    A service that does not even end when it is cancelled meets the watchdog.
    """
    node = NodeRun(stop, ground)
    drain_limit = sum((tier.grace for tier in tiers), DRAIN_MARGIN)
    with ground.watchdog.watch_loop():
        async with asyncio.TaskGroup() as group:
            started = [node.start(tier, group) for tier in tiers]
            await stop.drain.wait()
            ground.emit(NodeDraining())
            with ground.watchdog.watch("drain", limit=drain_limit):
                for tier in started:
                    await node.drain(tier)
    return node.ending()


def means_lost_lease(error: Exception | None) -> bool:
    if isinstance(error, ExceptionGroup):
        return error.subgroup(LeaseLost) is not None
    return isinstance(error, LeaseLost)
