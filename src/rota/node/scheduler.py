"""Runs a scheduler: it holds shards and fires their due ticks.

The tiers stop in this order: first reading and firing, then the last hints, and finally the shard
leases, so that another scheduler takes over at once.
"""

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from rota.config.settings import SchedulerSettings, Settings
from rota.core.ids import build_id
from rota.core.lease import Lease
from rota.engine.dispatch.hints import HintListener, HintSender
from rota.engine.observability.tracing import TraceWriter
from rota.engine.scheduling.agenda import Agenda
from rota.engine.scheduling.calendar_refresher import CalendarRefresher
from rota.engine.scheduling.held_shards import HeldShards
from rota.engine.scheduling.schedule_cache import ScheduleCache
from rota.engine.scheduling.shard_leaser import ShardLeaser, ShardLeaserService
from rota.engine.scheduling.tick_firer import NotifyQueues, TickFirer, TickTracer
from rota.engine.scheduling.tick_reader import TickReader
from rota.node.clock import open_clock_monitor
from rota.node.process import Place, Write, run_process
from rota.node.sources import check_sources, open_sources
from rota.node.upkeep import upkeep
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, ServiceContext
from rota.runtime.tiers import Tier
from rota.store import hints
from rota.store.pool import DatabaseAccess, DedicatedConnection, open_pool
from rota.store.roles import DatabaseRole

SOON: Final = timedelta(seconds=5)
# Connections for the maintenance duties.
UPKEEP: Final = 2


class Lines(NamedTuple):
    """Dedicated connections, one per duty. Two duties fire, each for half of the shards."""

    leases: DedicatedConnection
    reads: DedicatedConnection
    even_fires: DedicatedConnection
    odd_fires: DedicatedConnection
    hints: DedicatedConnection
    ears: DedicatedConnection
    calendars: DedicatedConnection


@dataclass(frozen=True, slots=True)
class Parts:
    """What the duties of a scheduler share."""

    lines: Lines
    tenure: HeldShards
    offset: ClockOffset
    agendas: tuple[Agenda, ...]
    wakes: tuple[Pulse, ...]
    fired: NotifyQueues | None
    traced: TickTracer | None


async def run_scheduler(settings: Settings, *, ready: Callable[[str], object], write: Write) -> int:
    """Run a process that is only a scheduler. `ready` is called once it runs."""
    check_sources(settings)

    @asynccontextmanager
    async def open_tiers(process: Place) -> AsyncIterator[list[Tier]]:
        access, context = process.database.access, process.ground
        async with (
            open_clock_monitor(access, context) as clocks,
            open_pool(access, size=UPKEEP) as pool,
            open_scheduler(settings, access, context, traces=process.traces) as opened,
            open_sources(settings, access, context) as sources,
        ):
            # Workers find rescued runs by polling.
            duties = upkeep(settings.retention, pool, context, freed=lambda: None)
            ready("scheduler ready")
            yield [*sources, *opened, Tier(duties, grace=SOON), clocks.tier]

    return await run_process(
        settings,
        name="rota scheduler",
        open_tiers=open_tiers,
        write=write,
        roles=(DatabaseRole.SERVICE,),
    )


@asynccontextmanager
async def open_scheduler(
    settings: Settings,
    access: DatabaseAccess,
    ground: ServiceContext,
    *,
    fired: NotifyQueues | None = None,
    traces: TraceWriter | None = None,
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers of a scheduler.

    In a process that also has a worker, `fired` wakes it before other processes get the hint.
    """
    async with AsyncExitStack() as stack:
        connections = Lines(
            leases=DedicatedConnection(access),
            reads=DedicatedConnection(access, hot=True),
            even_fires=DedicatedConnection(access, hot=True),
            odd_fires=DedicatedConnection(access, hot=True),
            hints=DedicatedConnection(access),
            ears=DedicatedConnection(access),
            calendars=DedicatedConnection(access),
        )
        for connection in connections:
            stack.callback(connection.close)
        pulses = (Pulse(), Pulse())
        schedule_cache = ScheduleCache()
        parts = Parts(
            lines=connections,
            tenure=HeldShards(lease=lease_of(settings.scheduler)),
            offset=ground.database_clock.offset,
            agendas=tuple(
                Agenda(schedule_cache=schedule_cache, wake=pulse.wake) for pulse in pulses
            ),
            wakes=pulses,
            fired=fired,
            traced=None if traces is None else traces.record_ticks,
        )
        yield scheduler_tiers(settings.scheduler, ground, parts)


def scheduler_tiers(
    settings: SchedulerSettings, ground: ServiceContext, parts: Parts
) -> list[Tier]:
    """Build the tiers of a scheduler, in the order in which they stop."""
    connections = parts.lines
    reader_pulse, hint_pulse, calendars_pulse = Pulse(), Pulse(), Pulse()
    hint_sender = HintSender(line=connections.hints, pulse=hint_pulse)

    def announce_fired(queue_ids: frozenset[int]) -> None:
        if parts.fired is not None:
            parts.fired(queue_ids)
        hint_sender.send_hint(hints.RUNS_CHANNEL)

    reader = TickReader(
        source=connections.reads,
        held_shards=parts.tenure,
        offset=parts.offset,
        agendas=parts.agendas,
        look_ahead=settings.look_ahead,
        clock=ground.clock,
        pulse=reader_pulse,
        emit=ground.emit,
    )
    # Both agendas share one schedule cache.
    calendar_refresher = CalendarRefresher(
        source=connections.calendars, schedule_cache=parts.agendas[0].schedule_cache
    )

    def refresh_jobs() -> None:
        reader.reread_soon()
        calendars_pulse.wake()

    hint_listener = HintListener(
        line=connections.ears, callbacks={hints.JOBS_CHANNEL: refresh_jobs}
    )
    return [
        Tier(
            [
                *firing(settings, ground, parts, announce_fired),
                Duty("reading", reader.tick, reader_pulse, ground),
                Duty("listening", hint_listener.tick, Pulse(), ground),
                Duty("refreshing calendars", calendar_refresher.tick, calendars_pulse, ground),
            ],
            grace=SOON,
        ),
        Tier([Duty("hinting", hint_sender.tick, hint_pulse, ground)], grace=SOON),
        Tier([leasing(ground, parts, reader_pulse)], grace=SOON),
    ]


def firing(
    settings: SchedulerSettings, ground: ServiceContext, parts: Parts, fired: NotifyQueues
) -> list[Duty]:
    connections = (parts.lines.even_fires, parts.lines.odd_fires)
    duties = []
    for name, connection, agenda, pulse in zip(
        ("even", "odd"), connections, parts.agendas, parts.wakes, strict=True
    ):
        firer = TickFirer(
            source=connection,
            held_shards=parts.tenure,
            offset=parts.offset,
            agenda=agenda,
            batch_max=settings.batch,
            clock=ground.clock,
            notify_queues=fired,
            emit=ground.emit,
            trace_ticks=parts.traced,
        )
        duties.append(Duty(f"firing {name} shards", firer.tick, pulse, ground))
    return duties


def leasing(ground: ServiceContext, parts: Parts, reading_pulse: Pulse) -> ShardLeaserService:
    duty = ShardLeaser(
        source=parts.lines.leases,
        held_shards=parts.tenure,
        offset=parts.offset,
        clock=ground.clock,
        name=f"{socket.gethostname()}:{os.getpid()}",
        new_id=lambda: build_id(ground.database_clock.now(), ground.rng.randbytes(10)),
        emit=ground.emit,
        on_shards_taken=reading_pulse.wake,
    )
    return ShardLeaserService(duty=Duty("leasing", duty.tick, Pulse(), ground), leaser=duty)


def lease_of(settings: SchedulerSettings) -> Lease:
    return Lease(
        ttl=settings.lease, renew_every=settings.renew_every, stop_after=settings.stop_after
    )
