"""Looks closer at ticks that cannot simply be fired. Room: flow/schedule.

Late ticks, whose policy may say that they do not run, and fixed delays, which count from the end of
the run before. Lateness.py says where each cursor goes; here the cursors are moved there, together
with the records of what was passed over. What is to be fired after all goes back to firing.py.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.clock import Clock
from rota.core.errors import IllegalMove, NewerDocument, StoreFailed
from rota.core.events import Emit, FiresRefused, TicksCaughtUp
from rota.core.time.schedule import Schedule
from rota.flow.schedule.agenda import Agenda, Entry, Fault, on_course
from rota.flow.schedule.lateness import Moment, Way, records_of, way_after_end, way_of_late
from rota.flow.schedule.rulebook import FAULTS
from rota.flow.schedule.tenure import Tenure
from rota.store import cursors
from rota.store.cursors import Due, LastEnd, Record, Step
from rota.store.driver import Connection

# How long one look at many may take before others get their turn.
BUDGET: Final = 0.01


class Looked(NamedTuple):
    """`run` is to be fired now; `unseen` there was no time for."""

    run: list[Entry]
    unseen: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookingCloser:
    tenure: Tenure
    agenda: Agenda
    clock: Clock
    emit: Emit

    async def look(
        self, conn: Connection, entries: Sequence[Entry], now: datetime, *, ahead: timedelta
    ) -> Looked:
        """Move the cursors of those that do not run now; return the others, ready to be fired.

        What is due within `ahead` is decided; how late a tick is, is judged by the time it is.
        """
        ends = await self._last_ends(conn, entries)
        run, moves = [], []
        moment = Moment(now, now + ahead)
        if all(self._is_quick(entry.firing.due) for entry in entries):
            ways = self._ways(entries, ends, moment)
        else:
            # An outage of a schedule with calendars may take longer than a tick may be late.
            ways = await asyncio.to_thread(self._ways, entries, ends, moment)
        for entry, way in zip(entries, ways, strict=False):
            if not self.agenda.holds(entry):
                continue  # it was edited meanwhile
            if not isinstance(way, Way):
                self._set_aside(entry, way)
            elif way.begins_at(entry.firing.due, now + ahead):
                decided = on_course(entry.firing.due, way.course[1:])
                self.agenda.instead(decided)
                run.append(decided)
            else:
                moves.append((entry, way))
        if moves:
            await self._move(conn, moves)
        return Looked(run, entries[len(ways) :])

    def _is_quick(self, due: Due) -> bool:
        schedule = self._schedule(due)
        return schedule is None or schedule.is_quick

    def _ways(
        self, entries: Sequence[Entry], ends: Mapping[UUID, LastEnd], moment: Moment
    ) -> list[Way | Exception]:
        """The ways of as many as there is time for, in order; or what is wrong with one.

        Jobs that share a schedule and stand at the same tick go the same way. Changes nothing, so
        that it may run in a thread.
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
                way = self._way(due, ends.get(due.job_id), moment)
            except FAULTS as error:
                ways.append(error)
                continue
            ways.append(way)
            if due.job_id not in ends and self.agenda.rulebook.is_shared(due.schedule_id):
                shared[place] = way
        return ways

    def _set_aside(self, entry: Entry, error: Exception) -> None:
        due = entry.firing.due
        self.agenda.forget(entry)
        if isinstance(error, NewerDocument):
            self.agenda.set_aside(due, error)
        else:
            self.agenda.faults.append(Fault.of(due, error))

    async def _last_ends(self, conn: Connection, entries: Sequence[Entry]) -> dict[UUID, LastEnd]:
        asking = [
            entry.firing.due.job_id
            for entry in entries
            if (schedule := self._schedule(entry.firing.due)) and schedule.follows_end
        ]
        return await cursors.last_ends(conn, asking) if asking else {}

    def _schedule(self, due: Due) -> Schedule | None:
        if due.schedule_id is None:
            return None
        return self.agenda.rulebook.rule(due.schedule_id, due.job_id).schedule

    def _way(self, due: Due, last: LastEnd | None, moment: Moment) -> Way:
        schedule = self._schedule(due)
        if schedule is None:
            return Way()
        calendars = self.agenda.rulebook.calendars
        if last is not None:
            return way_after_end(due, schedule, moment, calendars=calendars, last=last)
        return way_of_late(due, schedule, moment.now, calendars=calendars)

    async def _move(self, conn: Connection, moves: Sequence[tuple[Entry, Way]]) -> None:
        steps: list[Step] = []
        records: list[Record] = []
        for entry, way in moves:
            due, first = entry.firing.due, way.course[0]
            steps.append(
                Step(due, None, None) if first is None else Step(due, first.tick.at, first.due_at)
            )
            records += records_of(due, way.recorded)
        try:
            moved = await cursors.move(conn, self.tenure.ownership, steps, records)
        except (StoreFailed, IllegalMove) as error:
            await self._isolate(conn, moves, error)
            return
        for entry, way in moves:
            if entry.firing.due.job_id in moved:
                self._go(entry, way)
            else:
                self.agenda.forget(entry)
        if len(moved) < len(moves):
            self.emit(FiresRefused(count=len(moves) - len(moved)))

    async def _isolate(
        self, conn: Connection, moves: Sequence[tuple[Entry, Way]], error: Exception
    ) -> None:
        """One row makes the whole statement fail: find it by halving."""
        if len(moves) > 1:
            middle = len(moves) // 2
            await self._move(conn, moves[:middle])
            await self._move(conn, moves[middle:])
            return
        ((entry, _),) = moves
        self.agenda.forget(entry)
        self.agenda.faults.append(Fault.of(entry.firing.due, error))

    def _go(self, entry: Entry, way: Way) -> None:
        due, first = entry.firing.due, way.course[0]
        if way.recorded:
            count = sum(row.count for row in way.recorded)
            ran = len(way.stations)
            self.emit(TicksCaughtUp(job_id=due.job_id, ran=ran, recorded=count))
        if first is None:
            self.agenda.done(entry, None)
        else:
            stands = due.at(first.tick.at, first.due_at, due.fired)
            self.agenda.go_on(entry, stands, way.course[1:])
