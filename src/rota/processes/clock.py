"""Measures the database's clock in every process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from rota.engine.observability.clock_monitor import ClockMonitor
from rota.runtime.pulse import Pulse
from rota.runtime.service import Duty, ServiceContext
from rota.runtime.tiers import Tier
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, DedicatedConnection
from rota.store.server_check import read_database_time

CLOCK_GRACE: Final = timedelta(seconds=5)


class OpenClockMonitor(NamedTuple):
    """The monitor, its duty, and the pulse that triggers a measurement at once."""

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
