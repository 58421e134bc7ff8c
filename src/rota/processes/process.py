"""Runs a process: log, signals, watchdog, database and clock around its tiers."""

import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final, NamedTuple

from rota.config.database import DatabaseSettings
from rota.config.settings import LogSettings, Settings
from rota.core.clock import ClockSource
from rota.core.log_events import EngineEvent
from rota.engine.observability.clock_monitor import ClockMonitor
from rota.engine.observability.event_log import EventLog
from rota.engine.observability.log_lines import LogLevel
from rota.engine.observability.meter import Meter
from rota.engine.observability.tracing import TraceWriter
from rota.processes.database import OpenDatabase, open_database
from rota.processes.observe import (
    build_collector,
    build_heartbeat_tier,
    build_metrics_endpoint,
    publish_observe_url,
    serve_observability,
)
from rota.processes.startup import DatabaseWait, StoppedAtStart
from rota.processes.traces import open_traces
from rota.runtime.clock import SystemClock
from rota.runtime.database_clock import DatabaseClock
from rota.runtime.events import ProcessDraining, RuntimeEvent, WaitingForDatabase
from rota.runtime.garbage_collection import relax_collector
from rota.runtime.observe_listener import ProbeEndpoint, build_probes
from rota.runtime.process_health import ProcessHealth
from rota.runtime.service import Duty, Pulse, ServiceContext, Stop, Tier, run_tiers
from rota.runtime.service_manager import READY, STOPPING, ServiceManager
from rota.runtime.signals import stop_on_signals
from rota.runtime.watchdog import STALL_LIMIT, Watchdog
from rota.store.driver import Connection
from rota.store.pool import SILENCE_MARGIN, DatabaseAccess, DedicatedConnection, read_database_time
from rota.store.roles import DatabaseRole
from rota.store.statement import observe_statements

Write = Callable[[str], object]
# A pass waits for a connection and for a response, each late by up to SILENCE_MARGIN, and the rest
# of the pass takes time too.
WAIT_MARGIN: Final = 3 * SILENCE_MARGIN
CLOCK_GRACE: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessContext:
    """What the services of a process share: settings, database, context, metrics and traces."""

    settings: Settings
    database: OpenDatabase
    context: ServiceContext
    stop: Stop
    meter: Meter
    wait: DatabaseWait
    # What the observability listener answers, by path; a part of the process may add to it.
    endpoints: dict[str, ProbeEndpoint]
    service_manager: ServiceManager
    traces: TraceWriter | None = None


OpenTiers = Callable[[ProcessContext], AbstractAsyncContextManager[list[Tier]]]


async def run_process(
    settings: Settings,
    *,
    name: str,
    open_tiers: OpenTiers,
    write: Write,
    roles: Sequence[DatabaseRole] = (),
) -> int:
    """Open the database, run the tiers until stopped, and return the exit code.

    The login must be a member of `roles` or own the schema.
    """
    try:
        async with (
            open_process_context(settings, name=name, write=write, roles=roles) as process,
            AsyncExitStack() as stack,
        ):
            tiers = await process.wait.enter_context(stack, lambda: open_tiers(process))
            health = process.context.health
            # Again, because the start may have created the folder.
            stack.enter_context(
                publish_observe_url(settings.database.data, name_role(name), health.observe_url)
            )
            health.mark_started()
            process.service_manager.notify(READY)
            tiers = [*tiers, build_heartbeat_tier(process.context)]
            ending = await run_tiers(tiers, process.stop, process.context)
    except StoppedAtStart:
        return 0
    return ending.exit_code


@asynccontextmanager
async def open_process_context(
    settings: Settings, *, name: str, write: Write, roles: Sequence[DatabaseRole] = ()
) -> AsyncIterator[ProcessContext]:
    relax_collector()
    # Log records of handlers go to the logs of their attempts; Python's default level drops most.
    logging.getLogger().setLevel(logging.INFO)
    clock = SystemClock()
    log = build_log(settings.log, clock, write)
    stop, meter, database_clock = Stop(), Meter(now=clock.now), DatabaseClock(clock)
    manager = ServiceManager.from_environment(os.environ)
    health = ProcessHealth(
        monotonic=clock.monotonic,
        is_stopping=stop.drain.is_set,
        database_seen_at=lambda: database_clock.offset.answered_at,
    )
    health.heartbeat.on_beat = manager.send_heartbeat
    role = name_role(name)
    meter.add_collector(build_collector(role, health))
    endpoints = build_probes(health) | {"/metrics": build_metrics_endpoint(meter)}

    def emit(event: RuntimeEvent | EngineEvent) -> None:
        log(event)
        meter(event)
        if isinstance(event, ProcessDraining):
            manager.notify(STOPPING)
        elif isinstance(event, WaitingForDatabase):
            health.mark_waiting(f"waiting for the database: {event.reason}")

    limit = compute_watchdog_limit(settings.database)
    with (
        stop_on_signals(stop),
        Watchdog(limit=limit) as watchdog,
        observe_statements(meter.observe_statement),
        serve_observability(settings.observe, endpoints) as health.observe_url,
        publish_observe_url(settings.database.data, role, health.observe_url),
    ):
        health.watchdog_silence = lambda: watchdog.silent_s
        context = ServiceContext(
            clock=clock,
            emit=emit,
            rng=Random(),
            watchdog=watchdog,
            database_clock=database_clock,
            health=health,
        )
        wait = DatabaseWait.from_settings(
            settings.database, clock=clock, emit=emit, rng=context.rng, stop=stop.drain
        )
        async with open_traces(settings, context) as traces, AsyncExitStack() as stack:
            database = await wait.enter_context(
                stack, lambda: open_database(settings.database, name=name, emit=emit, roles=roles)
            )
            yield ProcessContext(
                settings=settings,
                database=database,
                context=context,
                stop=stop,
                meter=meter,
                wait=wait,
                endpoints=endpoints,
                traces=traces,
                service_manager=manager,
            )


def name_role(name: str) -> str:
    """Return the role of a process in metrics: `rota worker` is `worker`."""
    return name.removeprefix("rota ")


def build_log(settings: LogSettings, clock: ClockSource, write: Write) -> EventLog:
    level = LogLevel[settings.level.upper()]
    return EventLog(level=level, as_json=settings.format == "json", now=clock.now, write=write)


def compute_watchdog_limit(settings: DatabaseSettings) -> timedelta:
    """Return how long a duty may be blocked: longer than it waits for a silent database."""
    return max(STALL_LIMIT, settings.connect_timeout + settings.statement_timeout + WAIT_MARGIN)


class OpenClockMonitor(NamedTuple):
    """The monitor of the database's clock, its duty, and the pulse that triggers a measurement at
    once.
    """

    monitor: ClockMonitor
    duty: Duty
    pulse: Pulse

    @property
    def tier(self) -> Tier:
        return Tier([self.duty], grace=CLOCK_GRACE)


@asynccontextmanager
async def open_clock_monitor(
    access: DatabaseAccess, context: ServiceContext
) -> AsyncIterator[OpenClockMonitor]:
    """Measure once before anything is served, then every second, on a separate connection."""
    line, pulse = DedicatedConnection(access), Pulse()
    monitor = ClockMonitor(
        source=line,
        clock=context.clock,
        database_clock=context.database_clock,
        emit=context.emit,
    )
    try:
        async with line.acquire() as conn:
            await monitor.measure(conn)
        yield OpenClockMonitor(monitor, Duty("clock", monitor.tick, pulse, context), pulse)
    finally:
        line.close()


async def measure_clock(conn: Connection, context: ServiceContext) -> datetime:
    """Read the database's time and update the offset of this process."""
    sent = context.clock.monotonic()
    now = await read_database_time(conn)
    context.database_clock.offset.record_response(
        now, sent=sent, received=context.clock.monotonic()
    )
    return now
