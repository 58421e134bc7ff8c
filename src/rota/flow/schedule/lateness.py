"""Where a cursor goes that cannot simply be fired: it is late, or counts from an end.

Room: flow/schedule. Turns what core decides about missed ticks (core/time/misfire.py) and about
fixed delays (core/time/interval.py) into a way for the cursor: what is written down, which ticks
still run, and where the usual ticks begin again. Pure; rows are looking_closer.py's business.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from rota.core.ids import tick_run_id
from rota.core.states import RunState
from rota.core.time import moments, planning
from rota.core.time.backlog import Progress
from rota.core.time.calendars import Calendar
from rota.core.time.misfire import Outcome, Reason, Recorded, catch_up
from rota.core.time.planning import Planned
from rota.core.time.policies import CatchUp, Cause
from rota.core.time.schedule import STEP, Schedule
from rota.core.time.tick import Tick
from rota.store.cursors import Due, LastEnd, Record

STATES: Final = {
    Outcome.MISSED: RunState.MISSED,
    Outcome.COALESCED: RunState.COALESCED,
    Outcome.PAUSED: RunState.SKIPPED,
    Outcome.SKIPPED: RunState.SKIPPED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """`recorded` is written down, `stations` run one after the other, `beyond` is the usual tick
    after them; None if there is none.
    """

    recorded: tuple[Recorded, ...] = ()
    stations: tuple[Planned, ...] = ()
    beyond: Planned | None = None

    @property
    def course(self) -> tuple[Planned | None, ...]:
        return (*self.stations, self.beyond)

    def begins_at(self, due: Due, now: datetime) -> bool:
        """Whether the tick that is due is to be fired now, and nothing is written before."""
        if self.recorded or not self.stations:
            return False
        return self.stations[0].tick.at == due.tick_at and self.stations[0].due_at <= now


class Moment(NamedTuple):
    """The time it is, and the time up to which ticks are decided, which is a little later."""

    now: datetime
    decides_until: datetime


def way_of_late(
    due: Due,
    schedule: Schedule,
    now: datetime,
    *,
    calendars: Mapping[str, Calendar],
    last_end: datetime | None = None,
) -> Way:
    """What becomes of a tick that was not decided in time, and of those after it until now."""
    fired = due.fired or 0
    since = due.tick_at - STEP
    first = planning.next_tick(schedule, since, calendars=calendars, last_end=last_end, fired=fired)
    if first is None or first.tick.at != due.tick_at:
        # The schedule's rules (a time zone, a calendar) are not what they were when this tick was
        # planned. It was planned nevertheless, so it is decided, and the new rules go on from it.
        return _way_of_one(due, schedule, now, calendars=calendars)
    progress = Progress(cursor=since, fired=fired, last_end=last_end)
    decision = catch_up(schedule, progress, now, cause=Cause.OUTAGE, calendars=calendars)
    if not decision.run and not decision.recorded:
        return Way(beyond=first)  # it was put off, and its time has not come
    beyond = _beyond(
        schedule, decision.cursor, now, calendars=calendars, fired=fired + len(decision.run)
    )
    return Way(recorded=decision.recorded, stations=decision.run, beyond=beyond)


def way_after_end(
    due: Due,
    schedule: Schedule,
    moment: Moment,
    *,
    calendars: Mapping[str, Calendar],
    last: LastEnd,
) -> Way:
    """Where the cursor of a fixed delay goes (S6). While a run is alive nobody knows the next tick,
    so the cursor stands a delay ahead and is looked at again then. A tick that is due within the
    time that is decided ahead is not put off.
    """
    now = moment.decides_until
    if last.is_alive:
        return Way(beyond=_beyond(schedule, now, now, calendars=calendars, fired=due.fired or 0))
    planned: Planned | None = _as_planned(due)
    if last.ended_at is not None:
        planned = planning.next_tick(
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
    beyond = _beyond(schedule, now, now, calendars=calendars, fired=(due.fired or 0) + 1)
    return Way(stations=(planned,), beyond=beyond)


def records_of(due: Due, recorded: tuple[Recorded, ...]) -> list[Record]:
    """The rows of history for ticks that do not run. Each is named by the last tick it covers."""
    return [
        Record(
            job_id=due.job_id,
            id=tick_run_id(due.job_id, row.last),
            tick_at=row.last,
            state=STATES[row.outcome],
            reason=_reason(due, row),
        )
        for row in recorded
    ]


def _reason(due: Due, row: Recorded) -> str:
    reason: dict[str, object] = {
        "code": "paused" if row.outcome is Outcome.PAUSED else row.reason.value,
        "count": row.count,
        "first": moments.rfc3339(row.first),
        "last": moments.rfc3339(row.last),
        "at_least": row.at_least,
    }
    if row.into is not None:
        reason["into"] = str(tick_run_id(due.job_id, row.into))
    return json.dumps(reason)


def _beyond(
    schedule: Schedule,
    after: datetime,
    now: datetime,
    *,
    calendars: Mapping[str, Calendar],
    fired: int,
) -> Planned | None:
    """The usual tick after an instant. A fixed delay counts from now until the end is known."""
    if schedule.follows_end:
        return planning.next_tick(schedule, now, calendars=calendars, last_end=now, fired=fired)
    return planning.next_tick(schedule, after, calendars=calendars, fired=fired)


def _way_of_one(
    due: Due, schedule: Schedule, now: datetime, *, calendars: Mapping[str, Calendar]
) -> Way:
    misfire, late = schedule.misfire, now - due.fire_at
    expired = misfire.start_deadline is not None and late > misfire.start_deadline
    missed = misfire.on_outage is CatchUp.SKIP and late > misfire.late_after
    runs = not (expired or missed)
    beyond = _beyond(
        schedule, due.tick_at, now, calendars=calendars, fired=(due.fired or 0) + int(runs)
    )
    if runs:
        return Way(stations=(_as_planned(due),), beyond=beyond)
    recorded = Recorded(
        outcome=Outcome.MISSED,
        reason=Reason.DEADLINE if expired else Reason.OUTAGE,
        count=1,
        first=due.tick_at,
        last=due.tick_at,
    )
    return Way(recorded=(recorded,), beyond=beyond)


def _as_planned(due: Due) -> Planned:
    local = due.tick_at.astimezone(UTC).replace(tzinfo=None)
    return Planned(tick=Tick(at=due.tick_at, local=local), due_at=due.fire_at)
