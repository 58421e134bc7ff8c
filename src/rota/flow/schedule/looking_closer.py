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
from rota.flow.schedule.agenda import Agenda, Entry, Fault, on_course
from rota.flow.schedule.lateness import Moment, Way, records_of, way_after_end, way_of_late
from rota.flow.schedule.rulebook import FAULTS
from rota.flow.schedule.tenure import Tenure
from rota.store import cursors
from rota.store.cursors import CursorStep, DueTick, LastEnd, TickRecord
from rota.store.driver import Connection

# Seconds that one batch may take before other ticks get their turn.
BUDGET: Final = 0.01


class Looked(NamedTuple):
    """Entries to fire now (`ready`), and entries beyond the time budget (`unhandled`)."""

    run: list[Entry]
    unseen: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookingCloser:
    tenure: Tenure
    agenda: Agenda
    clock: ClockSource
    emit: Emit

    async def look(
        self, conn: Connection, entries: Sequence[Entry], now: datetime, *, ahead: timedelta
    ) -> Looked:
        """Move the cursors of ticks that do not run now; return the others, ready to fire.

        Ticks due within `ahead` are decided. Lateness is judged by the actual time.
        """
        ends = await self._last_ends(conn, entries)
        run, moves = [], []
        moment = Moment(now, now + ahead)
        if all(self._is_quick(entry.firing.due) for entry in entries):
            ways = self._plan_entries(entries, ends, moment)
        else:
            # Planning an outage of a schedule with calendars may take longer than a tick may be
            # late.
            ways = await asyncio.to_thread(self._plan_entries, entries, ends, moment)
        for entry, way in zip(entries, ways, strict=False):
            if not self.agenda.holds(entry):
                continue  # the job was edited since
            if not isinstance(way, Way):
                self._add_fault(entry, way)
            elif way.begins_at(entry.firing.due, now + ahead):
                decided = on_course(entry.firing.due, way.course[1:])
                self.agenda.instead(decided)
                run.append(decided)
            else:
                moves.append((entry, way))
        if moves:
            await self._move(conn, moves)
        return Looked(run, entries[len(ways) :])

    def _is_quick(self, due: DueTick) -> bool:
        schedule = self._schedule(due)
        return schedule is None or schedule.is_quick

    def _plan_entries(
        self, entries: Sequence[Entry], ends: Mapping[UUID, LastEnd], moment: Moment
    ) -> list[Way | Exception]:
        """Plan as many entries as the time budget allows, in order; an error stands for a faulty
        one.

        Jobs that share a schedule and are at the same tick share one plan. Changes nothing, so it
        may run in a thread.
        """
        end = self.clock.monotonic() + BUDGET
        shared: dict[object, Way] = {}
        ways: list[Way | Exception] = []
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
            except FAULTS as error:
                ways.append(error)
                continue
            ways.append(way)
            if due.job_id not in ends and self.agenda.rulebook.is_shared(due.schedule_id):
                shared[place] = way
        return ways

    def _add_fault(self, entry: Entry, error: Exception) -> None:
        due = entry.firing.due
        self.agenda.forget(entry)
        if isinstance(error, NewerDocument):
            self.agenda.set_aside(due, error)
        else:
            self.agenda.faults.append(Fault.of(due, error))

    async def _last_ends(self, conn: Connection, entries: Sequence[Entry]) -> dict[UUID, LastEnd]:
        job_ids = [
            entry.firing.due.job_id
            for entry in entries
            if (schedule := self._schedule(entry.firing.due)) and schedule.follows_end
        ]
        return await cursors.read_last_ends(conn, job_ids) if job_ids else {}

    def _schedule(self, due: DueTick) -> Schedule | None:
        if due.schedule_id is None:
            return None
        return self.agenda.rulebook.rule(due.schedule_id, due.job_id).schedule

    def _plan_entry(self, due: DueTick, last: LastEnd | None, moment: Moment) -> Way:
        schedule = self._schedule(due)
        if schedule is None:
            return Way()
        calendars = self.agenda.rulebook.calendars
        if last is not None:
            return way_after_end(due, schedule, moment, calendars=calendars, last=last)
        return way_of_late(due, schedule, moment.now, calendars=calendars)

    async def _move(self, conn: Connection, moves: Sequence[tuple[Entry, Way]]) -> None:
        steps: list[CursorStep] = []
        records: list[TickRecord] = []
        for entry, way in moves:
            due, first = entry.firing.due, way.course[0]
            steps.append(
                CursorStep(due, None, None)
                if first is None
                else CursorStep(due, first.tick.at, first.due_at)
            )
            records += records_of(due, way.recorded)
        try:
            moved = await cursors.move_cursors(conn, self.tenure.ownership, steps, records)
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
        self, conn: Connection, moves: Sequence[tuple[Entry, Way]], error: Exception
    ) -> None:
        """Find the one row that makes the statement fail, by halving the batch."""
        if len(moves) > 1:
            middle = len(moves) // 2
            await self._move(conn, moves[:middle])
            await self._move(conn, moves[middle:])
            return
        ((entry, _),) = moves
        self.agenda.forget(entry)
        self.agenda.faults.append(Fault.of(entry.firing.due, error))

    def _advance(self, entry: Entry, way: Way) -> None:
        due, first = entry.firing.due, way.course[0]
        if way.recorded:
            count = sum(row.count for row in way.recorded)
            ran = len(way.stations)
            self.emit(TicksCaughtUp(job_id=due.job_id, ran=ran, recorded=count))
        if first is None:
            self.agenda.done(entry, None)
        else:
            stands = due.at_tick(first.tick.at, first.due_at, due.fired)
            self.agenda.go_on(entry, stands, way.course[1:])
