"""Runs a process: log, signals, watchdog, database and clock around its tiers."""

import logging
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
from rota.processes.startup import DatabaseWait, StoppedAtStart
from rota.processes.traces import open_traces
from rota.runtime.clock import SystemClock
from rota.runtime.database_clock import DatabaseClock
from rota.runtime.events import RuntimeEvent
from rota.runtime.garbage_collection import relax_collector
from rota.runtime.service import Duty, Pulse, ServiceContext, Stop, Tier, run_tiers
from rota.runtime.signals import stop_on_signals
from rota.runtime.watchdog import STALL_LIMIT, Watchdog
from rota.store.driver import Connection
from rota.store.pool import SILENCE_MARGIN, DatabaseAccess, DedicatedConnection, read_database_time
from rota.store.roles import DatabaseRole

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
    stop, meter = Stop(), Meter()

    def emit(event: RuntimeEvent | EngineEvent) -> None:
        log(event)
        meter(event)

    limit = compute_watchdog_limit(settings.database)
    with stop_on_signals(stop), Watchdog(limit=limit) as watchdog:
        context = ServiceContext(
            clock=clock,
            emit=emit,
            rng=Random(),
            watchdog=watchdog,
            database_clock=DatabaseClock(clock),
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
                traces=traces,
            )


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
