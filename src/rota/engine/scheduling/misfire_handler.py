"""Handles ticks that cannot be fired directly.

These are late ticks, which the misfire policy may drop, and fixed delays, which count from the end
of the previous run. misfires.py computes where each cursor moves; this module moves the cursors and
records the skipped ticks in one statement. Ticks that still run go back to tick_firer.py.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.errors import IllegalMove, NewerDocument, StoreFailed
from rota.core.log_events import Emit, TicksCaughtUp, TicksRejected
from rota.core.time.schedule import Schedule
from rota.engine.scheduling.agenda import Agenda, ScheduleFault, TickEntry, build_catch_up_entry
from rota.engine.scheduling.held_shards import HeldShards
from rota.engine.scheduling.misfires import (
    CatchUpPlan,
    DecisionWindow,
    build_records,
    plan_after_end,
    plan_late_tick,
)
from rota.engine.scheduling.schedule_cache import SCHEDULE_FAULTS
from rota.store import cursors
from rota.store.cursors import CursorStep, DueTick, LastEnd, TickRecord
from rota.store.driver import Connection

# Seconds that one batch may take before other ticks get their turn.
BATCH_BUDGET_S: Final = 0.01


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
