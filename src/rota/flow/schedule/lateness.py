"""Computes where a cursor moves whose tick cannot be fired directly: late ticks and fixed delays.

Turns the decisions of core about missed ticks (core/time/misfire.py) and fixed delays
(core/time/interval.py) into a catch-up plan for the cursor: the ticks to record as not run, the
ticks that still run, and the next regular tick. Pure; misfire_handler.py reads and writes the rows.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.core.time import moments, planning
from rota.core.time.backlog import ScheduleProgress
from rota.core.time.calendars import Calendar
from rota.core.time.misfire import MisfireOutcome, MisfireReason, MisfireRecord, decide_catch_up
from rota.core.time.planning import PlannedTick
from rota.core.time.policies import CatchUp, MisfireCause
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.core.time.tick import Tick
from rota.store.cursors import DueTick, LastEnd, TickRecord

STATES: Final = {
    MisfireOutcome.MISSED: RunState.MISSED,
    MisfireOutcome.COALESCED: RunState.COALESCED,
    MisfireOutcome.PAUSED: RunState.SKIPPED,
    MisfireOutcome.SKIPPED: RunState.SKIPPED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A catch-up plan: `recorded` is written to history, `runs` run one after the other, and
    `next_tick` is the next regular tick, or None if the schedule has ended.
    """

    recorded: tuple[MisfireRecord, ...] = ()
    stations: tuple[PlannedTick, ...] = ()
    beyond: PlannedTick | None = None

    @property
    def course(self) -> tuple[PlannedTick | None, ...]:
        return (*self.stations, self.beyond)

    def begins_at(self, due: DueTick, now: datetime) -> bool:
        """Return whether the due tick is fired now, with nothing to record first."""
        if self.recorded or not self.stations:
            return False
        return self.stations[0].tick.at == due.tick_at and self.stations[0].due_at <= now


class Moment(NamedTuple):
    """The current time, and the slightly later time up to which ticks are decided."""

    now: datetime
    decides_until: datetime


def way_of_late(
    due: DueTick,
    schedule: Schedule,
    now: datetime,
    *,
    calendars: Mapping[str, Calendar],
    last_end: datetime | None = None,
) -> Way:
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
        return Way(beyond=first)  # postponed, and not due yet
    beyond = _next_regular_tick(
        schedule, decision.cursor, now, calendars=calendars, fired=fired + len(decision.runs)
    )
    return Way(recorded=decision.records, stations=decision.runs, beyond=beyond)


def way_after_end(
    due: DueTick,
    schedule: Schedule,
    moment: Moment,
    *,
    calendars: Mapping[str, Calendar],
    last: LastEnd,
) -> Way:
    """Plan the cursor of a fixed delay (S6). While a run is active its next tick is unknown, so the
    cursor moves one delay ahead and is examined again then. A tick that is due within the time that
    is decided ahead is not postponed.
    """
    now = moment.decides_until
    if last.is_alive:
        return Way(
            beyond=_next_regular_tick(schedule, now, now, calendars=calendars, fired=due.fired or 0)
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
        return Way(beyond=planned)
    if moment.now - planned.due_at > schedule.misfire.late_after:
        return way_of_late(due, schedule, moment.now, calendars=calendars, last_end=last.ended_at)
    beyond = _next_regular_tick(schedule, now, now, calendars=calendars, fired=(due.fired or 0) + 1)
    return Way(stations=(planned,), beyond=beyond)


def records_of(due: DueTick, recorded: tuple[MisfireRecord, ...]) -> list[TickRecord]:
    """Build the history rows of ticks that do not run, identified by the last tick covered."""
    return [
        TickRecord(
            job_id=due.job_id,
            id=derive_tick_run_id(due.job_id, row.last),
            tick_at=row.last,
            state=STATES[row.outcome],
            reason=_encode_reason(due, row),
        )
        for row in recorded
    ]


def _encode_reason(due: DueTick, row: MisfireRecord) -> str:
    reason: dict[str, object] = {
        "code": "paused" if row.outcome is MisfireOutcome.PAUSED else row.reason.value,
        "count": row.count,
        "first": moments.to_rfc3339(row.first),
        "last": moments.to_rfc3339(row.last),
        "at_least": row.at_least,
    }
    if row.into is not None:
        reason["into"] = str(derive_tick_run_id(due.job_id, row.into))
    return json.dumps(reason)


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
) -> Way:
    misfire, late = schedule.misfire, now - due.fire_at
    expired = misfire.start_deadline is not None and late > misfire.start_deadline
    missed = misfire.on_outage is CatchUp.SKIP and late > misfire.late_after
    runs = not (expired or missed)
    beyond = _next_regular_tick(
        schedule, due.tick_at, now, calendars=calendars, fired=(due.fired or 0) + int(runs)
    )
    if runs:
        return Way(stations=(_as_planned(due),), beyond=beyond)
    recorded = MisfireRecord(
        outcome=MisfireOutcome.MISSED,
        reason=MisfireReason.DEADLINE if expired else MisfireReason.OUTAGE,
        count=1,
        first=due.tick_at,
        last=due.tick_at,
    )
    return Way(recorded=(recorded,), beyond=beyond)


def _as_planned(due: DueTick) -> PlannedTick:
    local = due.tick_at.astimezone(UTC).replace(tzinfo=None)
    return PlannedTick(tick=Tick(at=due.tick_at, local=local), due_at=due.fire_at)
