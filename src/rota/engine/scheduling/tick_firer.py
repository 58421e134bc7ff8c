"""Fires ticks at their instant, in batches.

A duty with its own agenda and database connection. Two firers share the shards, so that two
connections never lock one shard row at once (a shared lock becomes a MultiXact, F44). Most ticks
need one statement that was prepared long before. The few that need more go to the misfire handler
for a few milliseconds at a time, so that they delay no other tick (misfire_handler.py).

Ticks are decided a few milliseconds ahead: as long as deciding them and waking a worker take. Their
runs become ready at their instants, so nothing starts early (docs/adr/0012-firing.md).

Submissions with a later start time are moved into the hot table the same way, on the same
connection.

If the statement does not return a tick, another scheduler has decided it or an edit has moved it;
the agenda drops it and reads it again if it is still due. The statement compares the database's
clock, the epoch of the shard and the position of the cursor: the state in memory decides nothing.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.errors import IllegalMove, StoreFailed
from rota.core.log_events import Emit, TicksFired, TicksRejected
from rota.core.time.tick import FIRE_AHEAD
from rota.engine.scheduling.agenda import (
    Agenda,
    ScheduleFault,
    TickEntry,
    find_next_due,
    quarantine_jobs,
    report_newer_documents,
)
from rota.engine.scheduling.misfire_handler import MisfireHandler
from rota.engine.scheduling.shard_leaser import HeldShards
from rota.runtime.clock_offset import ClockOffset
from rota.store import cursors, submissions
from rota.store.cursors import DecidedTick, ShardOwnership, TickFiring
from rota.store.driver import Connection, ConnectionSource

# Called with the queues in which runs are now waiting.
NotifyQueues = Callable[[frozenset[int]], object]
# Ticks due within `FIRE_AHEAD` are decided together, `WAKE_AHEAD` before the first of them is due.
WAKE_AHEAD: Final = timedelta(milliseconds=8)

NO_DELAY: Final = timedelta(0)
IDLE_REST_S: Final = 0.25
# Rest while this scheduler may not act on its shards.
NOT_HELD_REST_S: Final = 0.05
# Overlap policies that the quick statement handles.
QUICK_OVERLAPS: Final = frozenset({"skip", "allow"})


class FireStatement(Protocol):
    """A statement that decides ticks."""

    def __call__(
        self,
        conn: Connection,
        ownership: ShardOwnership,
        firings: Sequence[TickFiring],
        *,
        ahead: timedelta,
    ) -> Awaitable[list[DecidedTick]]: ...


class TickTracer(Protocol):
    """Records that ticks became runs."""

    def __call__(self, run_ids: Sequence[UUID], *, duration: float, late_by: timedelta) -> None: ...


@dataclass(slots=True, kw_only=True)
class TickFirer:
    """`trace_ticks` receives every batch if tracing is on."""

    source: ConnectionSource
    held_shards: HeldShards
    offset: ClockOffset
    agenda: Agenda
    batch_max: int
    clock: ClockSource
    notify_queues: NotifyQueues
    emit: Emit
    trace_ticks: TickTracer | None = None
    _late: deque[TickEntry] = field(default_factory=deque)
    _is_warm: bool = False

    async def tick(self) -> float:
        monotonic = self.clock.monotonic()
        now = self.offset.database_time_at(monotonic)
        if now is None or not self.held_shards.may_act(monotonic):
            return NOT_HELD_REST_S
        soon = now + FIRE_AHEAD
        entries = self.agenda.take_due(soon, self.batch_max)
        late = self._next_late()
        shards = self.agenda.submissions.take_due_shards(soon, self.held_shards.epochs)
        if not entries and not late and not shards:
            await self._warm_up()
            return self._rest(now)
        try:
            async with self.source.acquire() as conn:
                if entries or late:
                    await self._decide(conn, entries, late, now)
                if shards:
                    await self._move_submissions(conn, shards, now)
        except BaseException:
            # The next read shows what was committed.
            self.agenda.forget_jobs((*entries, *late))
            raise
        return 0.0 if self._late else self._rest(now)

    def _rest(self, now: datetime) -> float:
        ticks = self.agenda.seconds_until_due(now + WAKE_AHEAD, max_seconds=IDLE_REST_S)
        return self.agenda.submissions.seconds_until_due(now + WAKE_AHEAD, max_seconds=ticks)

    async def _move_submissions(
        self, conn: Connection, shards: Sequence[int], now: datetime
    ) -> None:
        began, per_shard = self.clock.monotonic(), self.batch_max // len(shards) + 1
        moved = await submissions.move_due(
            conn, self.held_shards.ownership, shards, per_shard=per_shard, ahead=FIRE_AHEAD
        )
        self.agenda.submissions.note_due(find_next_due(moved, per_shard=per_shard, now=now))
        if moved.ids and moved.first_due_at is not None:
            self.notify_queues(frozenset(moved.queue_ids or ()))
            self._report(moved.ids, moved.first_due_at, began, count=len(moved.ids))

    async def _warm_up(self) -> None:
        """Prepare the statements before the first tick is due; this takes up to 0.1 s."""
        if not self._is_warm:
            async with self.source.acquire() as conn:
                for fire in (cursors.fire_ticks, cursors.fire_overlapping):
                    await fire(conn, self.held_shards.ownership, [], ahead=FIRE_AHEAD)
                await submissions.move_due(
                    conn, self.held_shards.ownership, [], per_shard=0, ahead=FIRE_AHEAD
                )
            self._is_warm = True

    @property
    def _misfire_handler(self) -> MisfireHandler:
        return MisfireHandler(
            held_shards=self.held_shards, agenda=self.agenda, clock=self.clock, emit=self.emit
        )

    def _next_late(self) -> list[TickEntry]:
        agenda = self.agenda
        late = [self._late.popleft() for _ in range(min(self.batch_max, len(self._late)))]
        # If the cache has dropped a schedule since, it is read again together with its tick.
        agenda.forget_jobs(
            [
                entry
                for entry in late
                if not agenda.schedule_cache.has_schedule(entry.firing.due.schedule_id)
            ]
        )
        return [entry for entry in late if agenda.is_current(entry)]

    async def _decide(
        self,
        conn: Connection,
        entries: Sequence[TickEntry],
        late: Sequence[TickEntry],
        now: datetime,
    ) -> None:
        on_time = []
        for entry in entries:
            if entry.firing.due.shard not in self.held_shards.epochs:
                self.agenda.forget(entry)
            elif now > entry.late_at:
                self._late.append(entry)
            else:
                on_time.append(entry)
        await self._fire_all(conn, on_time)
        if late:
            handled = await self._misfire_handler.handle_entries(conn, late, now, ahead=FIRE_AHEAD)
            self._late.extendleft(reversed(handled.unhandled))
            await self._fire_all(conn, handled.ready)
        if self.agenda.faults:
            await quarantine_jobs(conn, self.agenda.take_faults(), emit=self.emit)
        report_newer_documents(self.agenda, emit=self.emit)

    async def _fire_all(self, conn: Connection, entries: Sequence[TickEntry]) -> None:
        quick = [entry for entry in entries if entry.firing.due.overlap in QUICK_OVERLAPS]
        if quick:
            await self._fire(conn, cursors.fire_ticks, quick)
        if len(quick) < len(entries):
            over = [entry for entry in entries if entry.firing.due.overlap not in QUICK_OVERLAPS]
            await self._fire(conn, cursors.fire_overlapping, over)

    async def _fire(
        self, conn: Connection, fire: FireStatement, entries: Sequence[TickEntry]
    ) -> None:
        firings = [entry.firing for entry in entries]
        began = self.clock.monotonic()
        try:
            decided = await fire(conn, self.held_shards.ownership, firings, ahead=FIRE_AHEAD)
        except (StoreFailed, IllegalMove) as error:
            await self._isolate(conn, fire, entries, error)
            return
        if decided:
            self.notify_queues(frozenset([firing.due.queue_id for firing in firings]))
            is_traced = self.trace_ticks is not None
            run_ids = [row.run_id for row in decided if is_traced and not row.is_skipped]
            self._report(run_ids, firings[0].due.fire_at, began, count=len(decided))
        if len(decided) < len(entries):
            entries = self._without_refused(entries, decided)
        for entry in entries:
            self._advance(entry)

    def _report(
        self, run_ids: Sequence[UUID], first: datetime, began: float, *, count: int
    ) -> None:
        monotonic = self.clock.monotonic()
        now = self.offset.database_time_at(monotonic)
        if now is None:
            return
        late_by = max(now - first, NO_DELAY)
        self.emit(TicksFired(count=count, late_by=late_by))
        if self.trace_ticks is not None:
            self.trace_ticks(run_ids, duration=monotonic - began, late_by=late_by)

    async def _isolate(
        self, conn: Connection, fire: FireStatement, entries: Sequence[TickEntry], error: Exception
    ) -> None:
        """Find the one row that makes the statement fail, by halving the batch."""
        if len(entries) > 1:
            middle = len(entries) // 2
            await self._fire(conn, fire, entries[:middle])
            await self._fire(conn, fire, entries[middle:])
            return
        (entry,) = entries
        self.agenda.forget(entry)
        self.agenda.faults.append(ScheduleFault.from_error(entry.firing.due, error))

    def _without_refused(
        self, entries: Sequence[TickEntry], decided: Sequence[DecidedTick]
    ) -> list[TickEntry]:
        decided_ids = {row.run_id for row in decided}
        kept = []
        for entry in entries:
            if entry.firing.run_id in decided_ids:
                kept.append(entry)
            else:
                self.agenda.forget(entry)
        self.emit(TicksRejected(count=len(entries) - len(kept)))
        return kept

    def _advance(self, entry: TickEntry) -> None:
        due, _, tick_at, fire_at = entry.firing
        if tick_at is None or fire_at is None:
            self.agenda.mark_decided(entry, None)
            return
        fired = None if due.fired is None else due.fired + 1
        self.agenda.advance_cursor(entry, due.at_tick(tick_at, fire_at, fired), entry.remaining[1:])
