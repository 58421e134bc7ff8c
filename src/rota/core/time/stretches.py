"""Decides the ticks of a pause during which the schedule was replaced.

While a job is paused, its ticks are not decided, and an edit does not decide the ticks of the old
schedule either. Each schedule that the job had during the pause is one *segment*. On resume, all
segments are decided together by the job's current misfire policy. `once` runs the latest tick of
all segments, and `max_catchup` applies to all of them together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rota.core.time import planning
from rota.core.time.backlog import Progress
from rota.core.time.calendars import Calendar
from rota.core.time.misfire import Decision, Outcome, Reason, Recorded, catch_up
from rota.core.time.planning import Planned
from rota.core.time.policies import CatchUp, Cause, Misfire
from rota.core.time.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A schedule that a job had during a pause, and which of its ticks are undecided."""

    schedule: Schedule
    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """The time of a resume, and the job's policy and calendars at that time. `choice` overrides the
    policy's `on_resume`.
    """

    now: datetime
    misfire: Misfire
    calendars: Mapping[str, Calendar]
    choice: CatchUp | None = None


def decide_stretches(stretches: Sequence[Stretch], resumption: Resumption) -> Decision:
    """Decide the ticks of all segments, which are in chronological order. The result's cursor is
    that of the last segment.
    """
    choice = resumption.choice or resumption.misfire.on_resume
    limit = 1 if choice is CatchUp.ONCE else resumption.misfire.max_catchup
    runs: tuple[Planned, ...] = ()
    rows: tuple[Recorded, ...] = ()
    cursor: datetime | None = None
    caught_up = 0
    for stretch in reversed(stretches):
        left = limit - caught_up
        decision = _decide(stretch, resumption, choice if left > 0 else CatchUp.SKIP, left)
        caught_up += len(decision.run)
        recorded = decision.recorded
        if left <= 0 and choice is not CatchUp.SKIP:
            recorded = tuple(_coalesced(row, runs[0].tick.at) for row in recorded)
        runs = (*decision.run, *_in_flight(stretch, decision, resumption), *runs)
        rows = (*recorded, *rows)
        cursor = decision.cursor if cursor is None else cursor
    return Decision(run=runs, recorded=rows, cursor=cursor or resumption.now)


def _decide(stretch: Stretch, resumption: Resumption, choice: CatchUp, limit: int) -> Decision:
    policy = replace(resumption.misfire, max_catchup=max(1, limit))
    return catch_up(
        replace(stretch.schedule, misfire=policy),
        stretch.progress,
        resumption.now,
        cause=Cause.RESUME,
        calendars=resumption.calendars,
        choice=choice,
    )


def _in_flight(stretch: Stretch, decision: Decision, resumption: Resumption) -> tuple[Planned, ...]:
    """Return the tick of a replaced schedule whose nominal time has passed and whose jittered time
    has not. It was not due during the pause, so it runs.
    """
    until = stretch.progress.until
    if until is None:
        return ()
    planned = planning.next_tick(
        stretch.schedule,
        decision.cursor,
        calendars=resumption.calendars,
        last_end=stretch.progress.last_end,
        fired=stretch.progress.fired + len(decision.run),
    )
    if planned is None or planned.tick.at > until or planned.due_at <= resumption.now:
        return ()
    return (planned,)


def _coalesced(row: Recorded, into: datetime) -> Recorded:
    if row.outcome is not Outcome.PAUSED:
        return row
    return replace(row, outcome=Outcome.COALESCED, reason=Reason.CAUGHT_UP, into=into)
