"""Measures the database's clock, and warns if this machine's clock is wrong.

Every process runs this duty. Each pass reads the database's time. The result keeps the process's
`DatabaseClock` correct and shows how far this machine's own clock is off. Nothing in Rota depends
on that clock, but other programs on the machine may: above two seconds the log warns at once, again
when the offset exceeds the limit, and every five minutes while it lasts.

The same query shows whether the database responds at all. A server that accepts a query and stays
silent counts as unavailable after a few seconds; the API then rejects requests at once
(api/guarded_pool.py).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from rota.core.clock import (
    CLOCK_OFFSET_LIMIT,
    CLOCK_OFFSET_WARNING,
    ClockSource,
    compute_clock_offset,
)
from rota.core.errors import StoreUnavailable
from rota.core.log_events import ClockCorrected, ClockMeasured, ClockSkewed, Emit
from rota.runtime.database_clock import DatabaseClock
from rota.store.driver import Connection, ConnectionSource
from rota.store.pool import read_database_time

MEASURE_INTERVAL_S: Final = 1.0
WARNING_INTERVAL_S: Final = 300.0
# How long a response may take. In slices, so that a stall of this process's own event loop counts
# as one slice and is not mistaken for a silent server.
SILENCE_SLICE_S: Final = 0.5
SILENCE_SLICES_MAX: Final = 6


def ignore_outage(_error: StoreUnavailable) -> None:
    """Do nothing: the default for processes that need no notice of an outage."""


@dataclass(slots=True, kw_only=True)
class ClockMonitor:
    """Calls `on_response` after each response, `on_outage` without one."""

    source: ConnectionSource
    clock: ClockSource
    database_clock: DatabaseClock
    emit: Emit
    on_response: Callable[[], object] = lambda: None
    on_outage: Callable[[StoreUnavailable], object] = ignore_outage
    # How far the database's clock is ahead of this machine's; None before the first measurement.
    offset: timedelta | None = None
    _warned_at: float = field(default=float("-inf"), init=False)

    @property
    def is_beyond_limit(self) -> bool:
        """Whether this machine's clock is too far off to be trusted."""
        return self.offset is not None and abs(self.offset) > CLOCK_OFFSET_LIMIT

    async def tick(self) -> float:
        """Measure once; raise `StoreUnavailable` if the database does not respond in time."""
        try:
            await self._measure_in_time()
        except StoreUnavailable as error:
            self.on_outage(error)
            raise
        self.on_response()
        return MEASURE_INTERVAL_S

    async def measure(self, conn: Connection) -> None:
        """Read the database's time on this connection."""
        asked, sent = self.clock.now(), self.clock.monotonic()
        now = await read_database_time(conn)
        received, answered = self.clock.monotonic(), self.clock.now()
        self.database_clock.offset.record_response(now, sent=sent, received=received)
        self._report_offset(compute_clock_offset(now, sent_at=asked, received_at=answered), now)

    async def _measure_in_time(self) -> None:
        measuring = asyncio.create_task(self._measure())
        try:
            for _ in range(SILENCE_SLICES_MAX):
                await asyncio.wait({measuring}, timeout=SILENCE_SLICE_S)
                if measuring.done():
                    return await measuring
        finally:
            measuring.cancel()
        waited = SILENCE_SLICES_MAX * SILENCE_SLICE_S
        raise StoreUnavailable(reason=f"the database did not respond within {waited:g} s")

    async def _measure(self) -> None:
        async with self.source.acquire() as conn:
            await self.measure(conn)

    def _report_offset(self, offset: timedelta, now: datetime) -> None:
        before = timedelta(0) if self.offset is None else abs(self.offset)
        self.offset = offset
        self.emit(ClockMeasured(by=offset))
        size, monotonic = abs(offset), self.clock.monotonic()
        if size <= CLOCK_OFFSET_WARNING:
            if before > CLOCK_OFFSET_WARNING:
                self.emit(ClockCorrected(by=offset, at=now))
            return
        is_worse = any(
            before <= limit < size for limit in (CLOCK_OFFSET_WARNING, CLOCK_OFFSET_LIMIT)
        )
        if is_worse or monotonic - self._warned_at >= WARNING_INTERVAL_S:
            self._warned_at = monotonic
            self.emit(ClockSkewed(by=offset, at=now))
