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
from functools import partial
from typing import Final, NamedTuple

from rota.config.settings import SchedulerSettings, Settings
from rota.core.ids import build_id
from rota.core.lease import Lease
from rota.engine.dispatch.run_claimer import HintListener, HintSender
from rota.engine.observability.process_metrics import read_version
from rota.engine.observability.tracing import TraceWriter
from rota.engine.scheduling.agenda import Agenda
from rota.engine.scheduling.schedule_cache import CalendarRefresher, ScheduleCache
from rota.engine.scheduling.shard_leaser import HeldShards, ShardLeaser, ShardLeaserService
from rota.engine.scheduling.tick_firer import TickFirer, TickTracer
from rota.engine.scheduling.tick_reader import TickReader
from rota.processes.alert_channels import check_alert_channels
from rota.processes.event_sources import check_sources, open_sources
from rota.processes.maintenance import build_maintenance_duties
from rota.processes.outbound import open_outbound
from rota.processes.process import ProcessContext, Write, open_clock_monitor, run_process
from rota.processes.sinks import check_sinks
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.process_health import CheckResult
from rota.runtime.service import Duty, Pulse, ServiceContext, Tier
from rota.store import hints
from rota.store.pool import DatabaseAccess, DedicatedConnection, open_pool
from rota.store.roles import DatabaseRole

STOP_GRACE: Final = timedelta(seconds=5)
# Connections for the maintenance duties.
MAINTENANCE_CONNECTIONS: Final = 2


class SchedulerConnections(NamedTuple):
    """Dedicated connections, one per duty. Two duties fire, each for half of the shards."""

    leases: DedicatedConnection
    reads: DedicatedConnection
    even_fires: DedicatedConnection
    odd_fires: DedicatedConnection
    hints: DedicatedConnection
    hint_listener: DedicatedConnection
    calendars: DedicatedConnection


@dataclass(frozen=True, slots=True)
class SchedulerParts:
    """What the duties of a scheduler share."""

    connections: SchedulerConnections
    held_shards: HeldShards
    offset: ClockOffset
    agendas: tuple[Agenda, ...]
    pulses: tuple[Pulse, ...]
    wake_worker: Callable[[], object] | None
    trace_ticks: TickTracer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSignals:
    """Wakes the services of a scheduler: each method names what happened and wakes who must know.

    `wake_worker` wakes the worker of the same process, if it has one.
    """

    reader: TickReader
    calendars: Pulse
    hint_sender: HintSender
    wake_worker: Callable[[], object] | None

    def on_ticks_fired(self, _queue_ids: frozenset[int]) -> None:
        """Tell the workers that runs are waiting, first the one in this process."""
        if self.wake_worker is not None:
            self.wake_worker()
        self.hint_sender.send_hint(hints.RUNS_CHANNEL)

    def on_jobs_changed(self) -> None:
        """Read ticks and calendars again."""
        self.reader.reread_soon()
        self.calendars.wake()


async def run_scheduler(settings: Settings, *, ready: Callable[[str], object], write: Write) -> int:
    """Run a process that is only a scheduler. `ready` is called once it runs."""
    check_sources(settings)
    check_alert_channels(settings)
    check_sinks(settings)

    @asynccontextmanager
    async def open_tiers(process: ProcessContext) -> AsyncIterator[list[Tier]]:
        access, context = process.database.access, process.context
        async with (
            open_clock_monitor(access, context) as clocks,
            open_pool(access, size=MAINTENANCE_CONNECTIONS) as pool,
            open_scheduler(settings, access, context, traces=process.traces) as opened,
            open_sources(settings, access, context) as sources,
            open_outbound(settings, access, context) as outbound,
        ):
            # Workers find rescued runs by polling.
            duties = build_maintenance_duties(
                settings.retention, pool, context, on_runs_ready=lambda: None
            )
            ready("scheduler ready")
            yield [
                *sources,
                *outbound,
                *opened,
                Tier(duties, grace=STOP_GRACE),
                clocks.tier,
            ]

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
    context: ServiceContext,
    *,
    wake_worker: Callable[[], object] | None = None,
    traces: TraceWriter | None = None,
) -> AsyncIterator[list[Tier]]:
    """Yield the tiers of a scheduler.

    In a process that also has a worker, `wake_worker` wakes it before other processes get the hint.
    """
    async with AsyncExitStack() as stack:
        connections = SchedulerConnections(
            leases=DedicatedConnection(access),
            reads=DedicatedConnection(access, hot=True),
            even_fires=DedicatedConnection(access, hot=True),
            odd_fires=DedicatedConnection(access, hot=True),
            hints=DedicatedConnection(access),
            hint_listener=DedicatedConnection(access),
            calendars=DedicatedConnection(access),
        )
        for connection in connections:
            stack.callback(connection.close)
        pulses = (Pulse(), Pulse())
        schedule_cache = ScheduleCache()
        parts = SchedulerParts(
            connections=connections,
            held_shards=HeldShards(lease=build_lease(settings.scheduler)),
            offset=context.database_clock.offset,
            agendas=tuple(
                Agenda(schedule_cache=schedule_cache, wake=pulse.wake) for pulse in pulses
            ),
            pulses=pulses,
            wake_worker=wake_worker,
            trace_ticks=None if traces is None else traces.record_ticks,
        )
        context.health.add_check("shard_leases", partial(check_leases, parts.held_shards, context))
        yield build_tiers(settings.scheduler, context, parts)


def build_tiers(
    settings: SchedulerSettings, context: ServiceContext, parts: SchedulerParts
) -> list[Tier]:
    """Build the tiers of a scheduler, in the order in which they stop."""
    connections = parts.connections
    reader_pulse, hint_pulse, calendars_pulse = Pulse(), Pulse(), Pulse()
    hint_sender = HintSender(line=connections.hints, pulse=hint_pulse)
    reader = TickReader(
        source=connections.reads,
        held_shards=parts.held_shards,
        offset=parts.offset,
        agendas=parts.agendas,
        look_ahead=settings.look_ahead,
        clock=context.clock,
        pulse=reader_pulse,
        emit=context.emit,
    )
    # Both agendas share one schedule cache.
    calendar_refresher = CalendarRefresher(
        source=connections.calendars, schedule_cache=parts.agendas[0].schedule_cache
    )
    signals = SchedulerSignals(
        reader=reader,
        calendars=calendars_pulse,
        hint_sender=hint_sender,
        wake_worker=parts.wake_worker,
    )
    hint_listener = HintListener(
        line=connections.hint_listener, callbacks={hints.JOBS_CHANNEL: signals.on_jobs_changed}
    )
    return [
        Tier(
            [
                *build_firing_duties(settings, context, parts, signals),
                Duty("reading", reader.tick, reader_pulse, context),
                Duty("listening", hint_listener.tick, Pulse(), context),
                Duty("refreshing calendars", calendar_refresher.tick, calendars_pulse, context),
            ],
            grace=STOP_GRACE,
        ),
        Tier([Duty("hinting", hint_sender.tick, hint_pulse, context)], grace=STOP_GRACE),
        Tier([build_leasing_duty(context, parts, reader_pulse)], grace=STOP_GRACE),
    ]


def build_firing_duties(
    settings: SchedulerSettings,
    context: ServiceContext,
    parts: SchedulerParts,
    signals: SchedulerSignals,
) -> list[Duty]:
    connections = (parts.connections.even_fires, parts.connections.odd_fires)
    duties = []
    for name, connection, agenda, pulse in zip(
        ("even", "odd"), connections, parts.agendas, parts.pulses, strict=True
    ):
        firer = TickFirer(
            source=connection,
            held_shards=parts.held_shards,
            offset=parts.offset,
            agenda=agenda,
            batch_max=settings.batch,
            clock=context.clock,
            notify_queues=signals.on_ticks_fired,
            emit=context.emit,
            trace_ticks=parts.trace_ticks,
        )
        duties.append(Duty(f"firing {name} shards", firer.tick, pulse, context))
    return duties


def build_leasing_duty(
    context: ServiceContext, parts: SchedulerParts, reader_pulse: Pulse
) -> ShardLeaserService:
    duty = ShardLeaser(
        source=parts.connections.leases,
        held_shards=parts.held_shards,
        offset=parts.offset,
        clock=context.clock,
        name=f"{socket.gethostname()}:{os.getpid()}",
        new_id=lambda: build_id(context.database_clock.now(), context.rng.randbytes(10)),
        emit=context.emit,
        on_shards_taken=reader_pulse.wake,
        observe_url=context.health.observe_url,
        version=read_version(),
    )
    return ShardLeaserService(duty=Duty("leasing", duty.tick, Pulse(), context), leaser=duty)


def check_leases(held: HeldShards, context: ServiceContext) -> CheckResult:
    """Check that the leases were renewed in time to act on them. Holding no shard is fine: other
    schedulers may hold them all.
    """
    age_s = context.clock.monotonic() - held.renewal_sent_at
    if age_s == float("inf"):
        return CheckResult("the scheduler has not leased its shards yet")
    if age_s <= held.lease.stop_after.total_seconds():
        return CheckResult(age_s=age_s)
    return CheckResult(f"the shard leases were last renewed {age_s:.0f} s ago", age_s)


def build_lease(settings: SchedulerSettings) -> Lease:
    return Lease(
        ttl=settings.lease, renew_every=settings.renew_every, stop_after=settings.stop_after
    )
