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
from rota.core.time.calendars import Calendar
from rota.core.time.misfire import (
    CatchUpDecision,
    MisfireOutcome,
    MisfireReason,
    MisfireRecord,
    ScheduleProgress,
    decide_catch_up,
)
from rota.core.time.planning import PlannedTick
from rota.core.time.policies import CatchUp, MisfireCause, MisfirePolicy
from rota.core.time.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSegment:
    """A schedule that a job had during a pause, and which of its ticks are undecided."""

    schedule: Schedule
    progress: ScheduleProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """The time of a resume, and the job's policy and calendars at that time. `choice` overrides the
    policy's `on_resume`.
    """

    now: datetime
    misfire: MisfirePolicy
    calendars: Mapping[str, Calendar]
    choice: CatchUp | None = None


def decide_pause_segments(
    segments: Sequence[PauseSegment], resumption: Resumption
) -> CatchUpDecision:
    """Decide the ticks of all segments, which are in chronological order. The result's cursor is
    that of the last segment.
    """
    choice = resumption.choice or resumption.misfire.on_resume
    limit = 1 if choice is CatchUp.ONCE else resumption.misfire.max_catchup
    runs: tuple[PlannedTick, ...] = ()
    rows: tuple[MisfireRecord, ...] = ()
    cursor: datetime | None = None
    caught_up = 0
    for stretch in reversed(segments):
        left = limit - caught_up
        decision = _decide(stretch, resumption, choice if left > 0 else CatchUp.SKIP, left)
        caught_up += len(decision.runs)
        recorded = decision.records
        if left <= 0 and choice is not CatchUp.SKIP:
            recorded = tuple(_coalesced(row, runs[0].tick.at) for row in recorded)
        runs = (*decision.runs, *_in_flight(stretch, decision, resumption), *runs)
        rows = (*recorded, *rows)
        cursor = decision.cursor if cursor is None else cursor
    return CatchUpDecision(runs=runs, records=rows, cursor=cursor or resumption.now)


def _decide(
    stretch: PauseSegment, resumption: Resumption, choice: CatchUp, limit: int
) -> CatchUpDecision:
    policy = replace(resumption.misfire, max_catchup=max(1, limit))
    return decide_catch_up(
        replace(stretch.schedule, misfire=policy),
        stretch.progress,
        resumption.now,
        cause=MisfireCause.RESUME,
        calendars=resumption.calendars,
        choice=choice,
    )


def _in_flight(
    stretch: PauseSegment, decision: CatchUpDecision, resumption: Resumption
) -> tuple[PlannedTick, ...]:
    """Return the tick of a replaced schedule whose nominal time has passed and whose jittered time
    has not. It was not due during the pause, so it runs.
    """
    until = stretch.progress.until
    if until is None:
        return ()
    planned = planning.plan_next_tick(
        stretch.schedule,
        decision.cursor,
        calendars=resumption.calendars,
        last_end=stretch.progress.last_end,
        fired=stretch.progress.fired + len(decision.runs),
    )
    if planned is None or planned.tick.at > until or planned.due_at <= resumption.now:
        return ()
    return (planned,)


def _coalesced(row: MisfireRecord, into: datetime) -> MisfireRecord:
    if row.outcome is not MisfireOutcome.PAUSED:
        return row
    return replace(row, outcome=MisfireOutcome.COALESCED, reason=MisfireReason.CAUGHT_UP, into=into)
