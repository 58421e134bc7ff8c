"""Reads the ticks of the next seconds into the agendas.

A duty with three ways of reading. *Read ahead* reads, for each shard, what lies between its horizon
and `look_ahead` from now, so that every tick is read once; a shard that was just taken has no
horizon and is read from its beginning. The *poll* reads what is due now or within moments, known or
not; it finds jobs that were created or edited after their time had been read ahead, and anything
that was lost. *Hurry* reads the whole window again when a hint asks for it.

Each pass also reads when the next submission of each shard is due (agenda.py).

Schedules are parsed and their following ticks computed here, ahead of the moment of firing. Long
searches run in a thread, a few in each pass.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rota.core.clock import ClockSource
from rota.core.log_events import Emit
from rota.core.time.budget import NEXT_TICK_STEPS_MAX, SearchBudget
from rota.core.time.schedule import MICROSECOND
from rota.engine.scheduling.agenda import (
    Agenda,
    TickEntry,
    build_entry,
    quarantine_jobs,
    report_newer_documents,
)
from rota.engine.scheduling.schedule_cache import (
    SCHEDULE_FAULTS,
    ScheduleCache,
    refresh_calendars,
)
from rota.engine.scheduling.shard_leaser import HeldShards
from rota.runtime.clock_offset import ClockOffset
from rota.runtime.service import Pulse
from rota.store import cursors, interning, submissions
from rota.store.cursors import BEFORE_ALL_TICKS, DueTick
from rota.store.driver import Connection, ConnectionSource
from rota.store.pool import read_database_time
from rota.store.submissions import DueShard

READ_BATCH_MAX: Final = 20_000
READ_POLL_INTERVAL_S: Final = 0.25
# How far beyond now a poll looks: a tick written at least this long before its time is never late.
POLL_REACH: Final = timedelta(seconds=2 * READ_POLL_INTERVAL_S)
# With more rows than this within reach, nearly all of them known, polls look only for overdue ticks
# for a while.
CROWD_ROWS: Final = 1000
CROWD_DURATION_S: Final = 5.0
CROWD_OVERDUE_AFTER: Final = timedelta(seconds=READ_POLL_INTERVAL_S)
# The window is read ahead in this many parts. Many rows are read in smaller parts, because decoding
# them blocks the event loop and so delays firing.
WINDOW_PARTS: Final = 8
WINDOW_SMALL_PARTS: Final = 40
MANY_ROWS: Final = 500
# Search steps (core/time/budget.py) in threads per pass: about 0.2 s. The rest waits.
PASS_STEPS_MAX: Final = 20_000
# Yield to other tasks after this many rows: about 0.5 ms.
YIELD_AFTER_ROWS: Final = 64
# Shortest interval between full rereads. A reread or poll takes at most a tenth of the time.
REREAD_INTERVAL_S: Final = 0.05
PAUSE_FACTOR: Final = 10


@dataclass(slots=True, kw_only=True)
class TickReader:
    """Assigns shards to agendas by shard number."""

    source: ConnectionSource
    held_shards: HeldShards
    offset: ClockOffset
    agendas: Sequence[Agenda]
    look_ahead: timedelta
    clock: ClockSource
    pulse: Pulse
    emit: Emit
    _hurried: bool = False
    _next_hurry: float = float("-inf")
    _next_poll: float = float("-inf")
    _crowded_until: float = float("-inf")
    _parts: int = WINDOW_PARTS

    def reread_soon(self) -> None:
        """Read the whole window again soon, because jobs were created or edited."""
        self._hurried = True
        self.pulse.wake()

    async def tick(self) -> float:
        shards = list(self.held_shards.epochs)
        self._drop_other_horizons(shards)
        if not shards:
            return READ_POLL_INTERVAL_S
        async with self.source.acquire() as conn:
            now = await read_database_time(conn)
            self.offset.record_response(now, received=self.clock.monotonic())
            started = self.clock.monotonic()
            hurried = self._hurried and started >= self._next_hurry
            if hurried:
                self._hurried = False
                self._drop_other_horizons([])
            for agenda in self.agendas:
                agenda.start_reading()
            await self._read_ahead(conn, shards, now)
            if started >= self._next_poll:
                await self._poll(conn, shards, now)
            await self._read_submissions(conn, shards)
            await self._search_off_loop()
            for agenda in self.agendas:
                await quarantine_jobs(conn, agenda.take_faults(), emit=self.emit)
                report_newer_documents(agenda, emit=self.emit)
        ended = self.clock.monotonic()
        if hurried:
            self._next_hurry = ended + max(REREAD_INTERVAL_S, PAUSE_FACTOR * (ended - started))
        part = self.look_ahead.total_seconds() / self._parts
        following = min(self._next_poll, ended + min(READ_POLL_INTERVAL_S, part))
        if self._hurried:
            following = min(following, self._next_hurry)
        if any(agenda.has_long_searches for agenda in self.agendas):
            following = ended
        return max(0.0, following - ended)

    async def _search_off_loop(self) -> None:
        """Search for slow next ticks in a thread, with a budget per pass: one tenant's schedules
        must not delay those of others.
        """
        steps = 0
        for agenda in self.agendas:
            for due in agenda.take_long_searches():
                if steps > PASS_STEPS_MAX:
                    agenda.defer_search(due)
                    continue
                budget = SearchBudget(NEXT_TICK_STEPS_MAX)
                found = await asyncio.to_thread(
                    _prepare_or_fault, due, agenda.schedule_cache, budget
                )
                agenda.add_search_result(due, found)
                steps += budget.spent

    def _drop_other_horizons(self, shards: Sequence[int]) -> None:
        """Drop the horizons of shards that this scheduler no longer holds. A shard that comes back
        is read from its beginning.
        """
        kept = set(shards)
        for agenda in self.agendas:
            for shard in agenda.horizons.keys() - kept:
                del agenda.horizons[shard]

    @property
    def _schedule_cache(self) -> ScheduleCache:
        """Return the schedule cache, which all agendas share."""
        return self.agendas[0].schedule_cache

    def _agenda_of(self, shard: int) -> Agenda:
        return self.agendas[shard % len(self.agendas)]

    def _set_horizons(self, horizons: Mapping[int, datetime]) -> None:
        for shard, horizon in horizons.items():
            self._agenda_of(shard).horizons[shard] = horizon

    async def _read_ahead(self, conn: Connection, shards: Sequence[int], now: datetime) -> None:
        until = now + self.look_ahead
        enough = until - self.look_ahead / self._parts
        known = {
            shard: self._agenda_of(shard).horizons.get(shard, BEFORE_ALL_TICKS) for shard in shards
        }
        old = {shard: horizon for shard, horizon in known.items() if horizon <= enough}
        if not old:
            return
        # Set before the read: a tick that fires during the read and whose next tick lies in the
        # window is invisible to this read, so the firer must add that next tick to the agenda.
        self._set_horizons(dict.fromkeys(old, until))
        try:
            rows = await cursors.read_due(
                conn,
                shards=list(old),
                afters=list(old.values()),
                before=until,
                limit=READ_BATCH_MAX,
            )
        except BaseException:
            self._set_horizons(old)
            raise
        self._set_horizons(compute_horizons(rows, old, limit=READ_BATCH_MAX))
        self._parts = (
            WINDOW_SMALL_PARTS
            if len(rows) > MANY_ROWS // (WINDOW_SMALL_PARTS // self._parts)
            else WINDOW_PARTS
        )
        await self._take_in(conn, rows)

    async def _poll(self, conn: Connection, shards: Sequence[int], now: datetime) -> None:
        sent = self.clock.monotonic()
        before = now - CROWD_OVERDUE_AFTER if sent < self._crowded_until else now + POLL_REACH
        rows = await cursors.read_due(conn, shards=shards, before=before, limit=READ_BATCH_MAX)
        await self._take_in(conn, rows)
        ended = self.clock.monotonic()
        if len(rows) > CROWD_ROWS:
            self._crowded_until = ended + CROWD_DURATION_S
        self._next_poll = sent + max(READ_POLL_INTERVAL_S, PAUSE_FACTOR * (ended - sent))

    async def _read_submissions(self, conn: Connection, shards: Sequence[int]) -> None:
        """Read when the next submission of each shard is due: one row per shard."""
        found: dict[int, list[DueShard]] = {}
        for row in await submissions.read_next_due(conn, shards=shards):
            found.setdefault(row.shard % len(self.agendas), []).append(row)
        for index, rows in found.items():
            self.agendas[index].note_due_submissions(rows)

    async def _take_in(self, conn: Connection, rows: Sequence[DueTick]) -> None:
        news = [row for row in rows if self._agenda_of(row.shard).is_new(row)]
        missing = self._schedule_cache.find_missing_schedules(news)
        if missing:
            self._schedule_cache.add_schedules(await interning.read_schedules(conn, list(missing)))
        calendar_names = self._schedule_cache.find_calendars(news)
        if calendar_names:
            await refresh_calendars(conn, self._schedule_cache, calendar_names)
        for start in range(0, len(news), YIELD_AFTER_ROWS):
            for row in news[start : start + YIELD_AFTER_ROWS]:
                self._agenda_of(row.shard).add_cursor(row)
            await self.clock.sleep(0)


def _prepare_or_fault(
    due: DueTick, schedule_cache: ScheduleCache, budget: SearchBudget
) -> TickEntry | Exception:
    try:
        return build_entry(due, schedule_cache, budget)
    except SCHEDULE_FAULTS as error:
        return error


def compute_horizons(
    rows: Sequence[DueTick], shards: Mapping[int, datetime], *, limit: int
) -> dict[int, datetime]:
    """Return the true horizons of shards whose rows the limit may have cut off.

    Rows that are due at the very last time shown may be incomplete, so the horizon lies before it.
    They are read again, or the poll finds them once the ticks before them have fired.
    """
    if not rows:
        return {}
    share = cursors.rows_per_shard(limit, len(shards))
    horizons = {}
    last = {row.shard: row.fire_at for row in rows}
    for shard, count in Counter(row.shard for row in rows).items():
        if count >= share:
            horizons[shard] = last[shard] - MICROSECOND
    if len(rows) >= limit:
        end = rows[-1].fire_at - MICROSECOND
        horizons = {shard: min(end, horizons.get(shard, end)) for shard in shards}
    return horizons
