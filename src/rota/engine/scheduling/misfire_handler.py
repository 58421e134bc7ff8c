"""Handles ticks that cannot be fired directly.

These are late ticks, which the misfire policy may drop, and fixed delays, which count from the end
of the previous run. core/time decides what happens to missed ticks (misfire.py) and when a fixed
delay is due (interval.py). This module turns the decision into a catch-up plan for the cursor: the
ticks to record as not run, the ticks that still run, and the next regular tick. It moves the
cursors and records the skipped ticks in one statement. Ticks that still run go back to
tick_firer.py.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.errors import IllegalMove, NewerDocument, StoreFailed
from rota.core.log_events import Emit, TicksCaughtUp, TicksRejected
from rota.core.submissions import encode_canonical
from rota.core.time import planning
from rota.core.time.calendars import Calendar
from rota.core.time.misfire import (
    MisfireRecord,
    ScheduleProgress,
    build_history_row,
    decide_catch_up,
    decide_single_tick,
)
from rota.core.time.planning import PlannedTick
from rota.core.time.policies import MisfireCause
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.core.time.tick import Tick
from rota.engine.scheduling.agenda import Agenda, ScheduleFault, TickEntry, build_catch_up_entry
from rota.engine.scheduling.schedule_cache import SCHEDULE_FAULTS
from rota.engine.scheduling.shard_leaser import HeldShards
from rota.store import cursors
from rota.store.cursors import CursorStep, DueTick, LastEnd, TickRecord
from rota.store.driver import Connection

# Seconds that one batch may take before other ticks get their turn.
BATCH_BUDGET_S: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpPlan:
    """A catch-up plan: `recorded` is written to history, `runs` run one after the other, and
    `next_tick` is the next regular tick, or None if the schedule has ended.
    """

    recorded: tuple[MisfireRecord, ...] = ()
    runs: tuple[PlannedTick, ...] = ()
    next_tick: PlannedTick | None = None

    @property
    def ticks(self) -> tuple[PlannedTick | None, ...]:
        return (*self.runs, self.next_tick)

    def fires_now(self, due: DueTick, now: datetime) -> bool:
        """Return whether the due tick is fired now, with nothing to record first."""
        if self.recorded or not self.runs:
            return False
        return self.runs[0].tick.at == due.tick_at and self.runs[0].due_at <= now


class DecisionWindow(NamedTuple):
    """The current time, and the slightly later time up to which ticks are decided."""

    now: datetime
    until: datetime


class HandledMisfires(NamedTuple):
    """Entries to fire now (`ready`), and entries beyond the time budget (`unhandled`)."""

    ready: list[TickEntry]
    unhandled: Sequence[TickEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class MisfireHandler:
    held_shards: HeldShards
    agenda: Agenda
    clock: ClockSource
    emit: Emit

    async def handle_entries(
        self, conn: Connection, entries: Sequence[TickEntry], now: datetime, *, ahead: timedelta
    ) -> HandledMisfires:
        """Move the cursors of ticks that do not run now; return the others, ready to fire.

        Ticks due within `ahead` are decided. Lateness is judged by the actual time.
        """
        ends = await self._last_ends(conn, entries)
        run, moves = [], []
        moment = DecisionWindow(now, now + ahead)
        if all(self._is_quick(entry.firing.due) for entry in entries):
            ways = self._plan_entries(entries, ends, moment)
        else:
            # Planning an outage of a schedule with calendars may take longer than a tick may be
            # late.
            ways = await asyncio.to_thread(self._plan_entries, entries, ends, moment)
        for entry, way in zip(entries, ways, strict=False):
            if not self.agenda.is_current(entry):
                continue  # the job was edited since
            if not isinstance(way, CatchUpPlan):
                self._add_fault(entry, way)
            elif way.fires_now(entry.firing.due, now + ahead):
                decided = build_catch_up_entry(entry.firing.due, way.ticks[1:])
                self.agenda.replace_entry(decided)
                run.append(decided)
            else:
                moves.append((entry, way))
        if moves:
            await self._move(conn, moves)
        return HandledMisfires(run, entries[len(ways) :])

    def _is_quick(self, due: DueTick) -> bool:
        schedule = self._schedule(due)
        return schedule is None or schedule.is_quick

    def _plan_entries(
        self, entries: Sequence[TickEntry], ends: Mapping[UUID, LastEnd], moment: DecisionWindow
    ) -> list[CatchUpPlan | Exception]:
        """Plan as many entries as the time budget allows, in order; an error stands for a faulty
        one.

        Jobs that share a schedule and are at the same tick share one plan. Changes nothing, so it
        may run in a thread.
        """
        end = self.clock.monotonic() + BATCH_BUDGET_S
        shared: dict[object, CatchUpPlan] = {}
        ways: list[CatchUpPlan | Exception] = []
        for entry in entries:
            if ways and self.clock.monotonic() > end:
                break
            due = entry.firing.due
            place = (due.schedule_id, due.tick_at, due.fire_at, due.fired)
            if place in shared:
                ways.append(shared[place])
                continue
            try:
                way = self._plan_entry(due, ends.get(due.job_id), moment)
            except SCHEDULE_FAULTS as error:
                ways.append(error)
                continue
            ways.append(way)
            if due.job_id not in ends and self.agenda.schedule_cache.is_shared(due.schedule_id):
                shared[place] = way
        return ways

    def _add_fault(self, entry: TickEntry, error: Exception) -> None:
        due = entry.firing.due
        self.agenda.forget(entry)
        if isinstance(error, NewerDocument):
            self.agenda.skip_newer_document(due, error)
        else:
            self.agenda.faults.append(ScheduleFault.from_error(due, error))

    async def _last_ends(
        self, conn: Connection, entries: Sequence[TickEntry]
    ) -> dict[UUID, LastEnd]:
        job_ids = [
            entry.firing.due.job_id
            for entry in entries
            if (schedule := self._schedule(entry.firing.due)) and schedule.follows_end
        ]
        return await cursors.read_last_ends(conn, job_ids) if job_ids else {}

    def _schedule(self, due: DueTick) -> Schedule | None:
        if due.schedule_id is None:
            return None
        return self.agenda.schedule_cache.get_schedule(due.schedule_id, due.job_id).schedule

    def _plan_entry(
        self, due: DueTick, last: LastEnd | None, moment: DecisionWindow
    ) -> CatchUpPlan:
        schedule = self._schedule(due)
        if schedule is None:
            return CatchUpPlan()
        calendars = self.agenda.schedule_cache.calendars
        if last is not None:
            return plan_after_end(due, schedule, moment, calendars=calendars, last=last)
        return plan_late_tick(due, schedule, moment.now, calendars=calendars)

    async def _move(self, conn: Connection, moves: Sequence[tuple[TickEntry, CatchUpPlan]]) -> None:
        steps: list[CursorStep] = []
        records: list[TickRecord] = []
        for entry, way in moves:
            due, first = entry.firing.due, way.ticks[0]
            steps.append(
                CursorStep(due, None, None)
                if first is None
                else CursorStep(due, first.tick.at, first.due_at)
            )
            records += build_records(due, way.recorded)
        try:
            moved = await cursors.move_cursors(conn, self.held_shards.ownership, steps, records)
        except (StoreFailed, IllegalMove) as error:
            await self._isolate(conn, moves, error)
            return
        for entry, way in moves:
            if entry.firing.due.job_id in moved:
                self._advance(entry, way)
            else:
                self.agenda.forget(entry)
        if len(moved) < len(moves):
            self.emit(TicksRejected(count=len(moves) - len(moved)))

    async def _isolate(
        self, conn: Connection, moves: Sequence[tuple[TickEntry, CatchUpPlan]], error: Exception
    ) -> None:
        """Find the one row that makes the statement fail, by halving the batch."""
        if len(moves) > 1:
            middle = len(moves) // 2
            await self._move(conn, moves[:middle])
            await self._move(conn, moves[middle:])
            return
        ((entry, _),) = moves
        self.agenda.forget(entry)
        self.agenda.faults.append(ScheduleFault.from_error(entry.firing.due, error))

    def _advance(self, entry: TickEntry, way: CatchUpPlan) -> None:
        due, first = entry.firing.due, way.ticks[0]
        if way.recorded:
            count = sum(row.count for row in way.recorded)
            ran = len(way.runs)
            self.emit(TicksCaughtUp(job_id=due.job_id, ran=ran, recorded=count))
        if first is None:
            self.agenda.mark_decided(entry, None)
        else:
            stands = due.at_tick(first.tick.at, first.due_at, due.fired)
            self.agenda.advance_cursor(entry, stands, way.ticks[1:])


def plan_late_tick(
    due: DueTick,
    schedule: Schedule,
    now: datetime,
    *,
    calendars: Mapping[str, Calendar],
    last_end: datetime | None = None,
) -> CatchUpPlan:
    """Plan a tick that was not decided in time, and the ticks after it until now."""
    fired = due.fired or 0
    since = due.tick_at - MICROSECOND
    first = planning.plan_next_tick(
        schedule, since, calendars=calendars, last_end=last_end, fired=fired
    )
    if first is None or first.tick.at != due.tick_at:
        # The schedule's rules (a time zone, a calendar) have changed since this tick was planned.
        # The planned tick is still decided; the new rules apply after it.
        return _plan_single_tick(due, schedule, now, calendars=calendars)
    progress = ScheduleProgress(cursor=since, fired=fired, last_end=last_end)
    decision = decide_catch_up(
        schedule, progress, now, cause=MisfireCause.OUTAGE, calendars=calendars
    )
    if not decision.runs and not decision.records:
        return CatchUpPlan(next_tick=first)  # postponed, and not due yet
    beyond = _next_regular_tick(
        schedule, decision.cursor, now, calendars=calendars, fired=fired + len(decision.runs)
    )
    return CatchUpPlan(recorded=decision.records, runs=decision.runs, next_tick=beyond)


def plan_after_end(
    due: DueTick,
    schedule: Schedule,
    window: DecisionWindow,
    *,
    calendars: Mapping[str, Calendar],
    last: LastEnd,
) -> CatchUpPlan:
    """Plan the cursor of a fixed delay (S6). While a run is active its next tick is unknown, so the
    cursor moves one delay ahead and is examined again then. A tick that is due within the time that
    is decided ahead is not postponed.
    """
    now = window.until
    if last.is_alive:
        return CatchUpPlan(
            next_tick=_next_regular_tick(
                schedule, now, now, calendars=calendars, fired=due.fired or 0
            )
        )
    planned: PlannedTick | None = _as_planned(due)
    if last.ended_at is not None:
        planned = planning.plan_next_tick(
            schedule,
            last.ended_at,
            calendars=calendars,
            last_end=last.ended_at,
            fired=due.fired or 0,
        )
    if planned is None or planned.tick.at != due.tick_at or planned.due_at > now:
        return CatchUpPlan(next_tick=planned)
    if schedule.misfire.is_late(planned.due_at, window.now):
        return plan_late_tick(
            due, schedule, window.now, calendars=calendars, last_end=last.ended_at
        )
    beyond = _next_regular_tick(schedule, now, now, calendars=calendars, fired=(due.fired or 0) + 1)
    return CatchUpPlan(runs=(planned,), next_tick=beyond)


def build_records(due: DueTick, recorded: tuple[MisfireRecord, ...]) -> list[TickRecord]:
    """Build the history rows of ticks that do not run, identified by the last tick covered."""
    rows = [build_history_row(due.job_id, record) for record in recorded]
    return [
        TickRecord(
            job_id=due.job_id,
            id=row.id,
            tick_at=row.tick_at,
            state=row.state,
            reason=encode_canonical({"at_least": False} | row.reason),
        )
        for row in rows
    ]


def _next_regular_tick(
    schedule: Schedule,
    after: datetime,
    now: datetime,
    *,
    calendars: Mapping[str, Calendar],
    fired: int,
) -> PlannedTick | None:
    """Return the next regular tick. A fixed delay counts from now until its run has ended."""
    if schedule.follows_end:
        return planning.plan_next_tick(
            schedule, now, calendars=calendars, last_end=now, fired=fired
        )
    return planning.plan_next_tick(schedule, after, calendars=calendars, fired=fired)


def _plan_single_tick(
    due: DueTick, schedule: Schedule, now: datetime, *, calendars: Mapping[str, Calendar]
) -> CatchUpPlan:
    decision = decide_single_tick(schedule, _as_planned(due), now)
    fired = (due.fired or 0) + len(decision.runs)
    beyond = _next_regular_tick(schedule, due.tick_at, now, calendars=calendars, fired=fired)
    return CatchUpPlan(recorded=decision.records, runs=decision.runs, next_tick=beyond)


def _as_planned(due: DueTick) -> PlannedTick:
    local = due.tick_at.astimezone(UTC).replace(tzinfo=None)
    return PlannedTick(tick=Tick(at=due.tick_at, local=local), due_at=due.fire_at)
