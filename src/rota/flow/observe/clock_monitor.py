"""Measures the database's clock, and warns if this machine's is wrong. Room: flow/observe.

A duty that every process has. Each pass asks the database for its time. The answer keeps the
process's `DatabaseClock` right, and it tells how far this machine's own clock is off. Nothing in
Rota depends on that clock, but other programs on the machine may: the log warns above two seconds
when it begins, when it exceeds the limit, and every five minutes while it lasts.

The same question tells whether the database answers at all. A server that accepts a question and
stays silent counts as away after a few seconds; the API refuses requests at once from then on
(api/guarded_pool.py).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from rota.core.clock import CLOCK_OFFSET_LIMIT, CLOCK_OFFSET_WARNING, Clock, clock_offset
from rota.core.errors import StoreUnavailable
from rota.core.events import ClockApart, ClockCorrected, ClockMeasured, Emit
from rota.runtime.database_clock import DatabaseClock
from rota.store.driver import Connection, Source
from rota.store.fitness import database_time

MEASURE_INTERVAL_S: Final = 1.0
WARNING_INTERVAL_S: Final = 300.0
# How long an answer may take. In slices, so that a stall of this process's own event loop counts as
# one of them and does not pass for a silent server.
SILENCE_SLICE_S: Final = 0.5
SILENCE_SLICES_MAX: Final = 6


def ignore_outage(_error: StoreUnavailable) -> None:
    """What a process does that has nobody to tell."""


@dataclass(slots=True, kw_only=True)
class ClockMonitor:
    """`answered` is called after each answer, `lost` when there is none."""

    source: Source
    clock: Clock
    database_clock: DatabaseClock
    emit: Emit
    answered: Callable[[], object] = lambda: None
    lost: Callable[[StoreUnavailable], object] = ignore_outage
    # How far the database's clock is ahead of this machine's; None before the first measurement.
    offset: timedelta | None = None
    _warned_at: float = field(default=float("-inf"), init=False)

    @property
    def is_beyond_limit(self) -> bool:
        """Whether this machine's clock is too wrong to be trusted with anything."""
        return self.offset is not None and abs(self.offset) > CLOCK_OFFSET_LIMIT

    async def tick(self) -> float:
        """Measure once; raise `StoreUnavailable` if the database does not answer in time."""
        try:
            await self._measure_in_time()
        except StoreUnavailable as error:
            self.lost(error)
            raise
        self.answered()
        return MEASURE_INTERVAL_S

    async def measure(self, conn: Connection) -> None:
        """Ask the database for its time on this connection."""
        asked, sent = self.clock.now(), self.clock.monotonic()
        now = await database_time(conn)
        received, answered = self.clock.monotonic(), self.clock.now()
        self.database_clock.offset.note(now, sent=sent, received=received)
        self._judge(clock_offset(now, asked=asked, answered=answered), now)

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
        raise StoreUnavailable(reason=f"the database did not answer within {waited:g} s")

    async def _measure(self) -> None:
        async with self.source.acquire() as conn:
            await self.measure(conn)

    def _judge(self, offset: timedelta, now: datetime) -> None:
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
            self.emit(ClockApart(by=offset, at=now))
