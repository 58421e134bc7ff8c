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

RECORDED_STATES: Final = {
    MisfireOutcome.MISSED: RunState.MISSED,
    MisfireOutcome.COALESCED: RunState.COALESCED,
    MisfireOutcome.PAUSED: RunState.SKIPPED,
    MisfireOutcome.SKIPPED: RunState.SKIPPED,
}


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
    if window.now - planned.due_at > schedule.misfire.late_after:
        return plan_late_tick(
            due, schedule, window.now, calendars=calendars, last_end=last.ended_at
        )
    beyond = _next_regular_tick(schedule, now, now, calendars=calendars, fired=(due.fired or 0) + 1)
    return CatchUpPlan(runs=(planned,), next_tick=beyond)


def build_records(due: DueTick, recorded: tuple[MisfireRecord, ...]) -> list[TickRecord]:
    """Build the history rows of ticks that do not run, identified by the last tick covered."""
    return [
        TickRecord(
            job_id=due.job_id,
            id=derive_tick_run_id(due.job_id, row.last),
            tick_at=row.last,
            state=RECORDED_STATES[row.outcome],
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
) -> CatchUpPlan:
    misfire, late = schedule.misfire, now - due.fire_at
    expired = misfire.start_deadline is not None and late > misfire.start_deadline
    missed = misfire.on_outage is CatchUp.SKIP and late > misfire.late_after
    runs = not (expired or missed)
    beyond = _next_regular_tick(
        schedule, due.tick_at, now, calendars=calendars, fired=(due.fired or 0) + int(runs)
    )
    if runs:
        return CatchUpPlan(runs=(_as_planned(due),), next_tick=beyond)
    recorded = MisfireRecord(
        outcome=MisfireOutcome.MISSED,
        reason=MisfireReason.DEADLINE if expired else MisfireReason.OUTAGE,
        count=1,
        first=due.tick_at,
        last=due.tick_at,
    )
    return CatchUpPlan(recorded=(recorded,), next_tick=beyond)


def _as_planned(due: DueTick) -> PlannedTick:
    local = due.tick_at.astimezone(UTC).replace(tzinfo=None)
    return PlannedTick(tick=Tick(at=due.tick_at, local=local), due_at=due.fire_at)
