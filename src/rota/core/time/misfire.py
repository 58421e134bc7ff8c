"""What to do with ticks that were not run in time.

Room: core/time. An outage, a pause and an edit leave ticks behind; the schedule's policy says which
of them still run. Every tick that was due is then either in `run` or counted in exactly one of
`recorded`: nothing disappears, and no number of missed ticks is an error (Kubernetes' jobs that
died after a hundred). Time and memory stay small however long the outage was: the newest ticks
are found by bisection from now backwards, the rest is one row with a count. Inserting runs and
writing the ledger is flow/schedule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice, takewhile

from rota.core.time import planning
from rota.core.time.backlog import Backlog, Count, Progress
from rota.core.time.calendars import Calendar, blackout_at
from rota.core.time.planning import NO_CALENDARS, Planned
from rota.core.time.policies import CatchUp, Cause
from rota.core.time.schedule import Schedule


class Outcome(StrEnum):
    """How a tick that does not run is kept in the ledger."""

    MISSED = "missed"  # planned, not paused, not blacked out, and not run
    COALESCED = "coalesced"  # another run stands for it
    PAUSED = "paused"
    SKIPPED = "skipped"  # blacked out, or in the past of an edit


class Reason(StrEnum):
    OUTAGE = "outage"
    DEADLINE = "start_deadline"
    CAUGHT_UP = "caught_up"
    PAUSE = "pause"
    EDIT = "edit"
    BLACKOUT = "blackout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """`count` ticks from `first` to `last`, both included; more than that if `at_least`. `into` is
    the nominal time of the run that stands for them.
    """

    outcome: Outcome
    reason: Reason
    count: int
    first: datetime
    last: datetime
    at_least: bool = False
    into: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What runs, in order; what is written down instead; and the cursor to go on from."""

    run: tuple[Planned, ...]
    recorded: tuple[Recorded, ...]
    cursor: datetime


STOPPED = {
    Cause.OUTAGE: (Outcome.MISSED, Reason.OUTAGE),
    Cause.RESUME: (Outcome.PAUSED, Reason.PAUSE),
    Cause.EDIT: (Outcome.SKIPPED, Reason.EDIT),
}


def catch_up(
    schedule: Schedule,
    progress: Progress,
    now: datetime,
    *,
    cause: Cause = Cause.OUTAGE,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    choice: CatchUp | None = None,
) -> Decision:
    """Decide about all ticks after the cursor that are due; `choice` overrides the policy once.

    After an outage, ticks not older than `late_after` are on time and run, whatever the policy; if
    there are only such, nothing was missed. An edit begins at now: it does not fire the past
    unless it is told to. What the schedule before the edit still owes is `settle`.
    """
    backlog = Backlog(schedule=schedule, progress=progress, calendars=calendars)
    case = _Case(backlog, now, cause, choice or schedule.misfire.choice(cause))
    cursor = max(now, progress.cursor) if cause is Cause.EDIT else progress.cursor
    first = backlog.following(progress.cursor)
    if first is None or not case.is_due(first):
        return Decision(run=(), recorded=(), cursor=cursor)
    last = backlog.last(first, now, case.is_due)
    run = case.chosen(first, last)
    recorded = tuple(row for row in case.rows(first, last, run) if row is not None)
    return Decision(run=case.timed(run), recorded=recorded, cursor=max(cursor, last.tick.at))


def settle(
    schedule: Schedule,
    progress: Progress,
    now: datetime,
    *,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> Decision:
    """What a schedule still owes at the moment it is replaced: the ticks that are due, and the one
    whose nominal time has passed but whose jittered time has not (Temporal lost it).
    """
    decision = catch_up(schedule, progress, now, calendars=calendars)
    flying = planning.next_tick(
        schedule,
        decision.cursor,
        calendars=calendars,
        last_end=progress.last_end,
        fired=progress.fired + len(decision.run),
    )
    run = decision.run
    if flying is not None and flying.tick.at <= now:
        run = (*run, flying)
    return replace(decision, run=run, cursor=max(now, progress.cursor))


@dataclass(frozen=True, slots=True)
class _Case:
    backlog: Backlog
    now: datetime
    cause: Cause
    choice: CatchUp

    def is_due(self, planned: Planned) -> bool:
        until = self.backlog.progress.until
        # A tick that was brought forward is due before its nominal time.
        if until is not None and min(planned.tick.at, planned.due_at) > until:
            return False
        if self.cause is Cause.EDIT:
            return planned.tick.at <= self.now
        return planned.due_at <= self.now

    def is_late(self, planned: Planned) -> bool:
        return self.now - planned.due_at > self.backlog.schedule.misfire.late_after

    def is_too_late(self, planned: Planned) -> bool:
        deadline = self.backlog.schedule.misfire.start_deadline
        return deadline is not None and self.now - planned.due_at > deadline

    def may_run(self, planned: Planned) -> bool:
        if self.choice is CatchUp.SKIP and (
            self.cause is not Cause.OUTAGE or self.is_late(planned)
        ):
            return False
        return not self.is_too_late(planned)

    def chosen(self, first: Planned, last: Planned) -> tuple[Planned, ...]:
        """The ticks that run: the newest that may, as many as may."""
        schedule, progress = self.backlog.schedule, self.backlog.progress
        most = schedule.misfire.max_catchup
        if self.choice is CatchUp.ONCE and (self.cause is not Cause.OUTAGE or self.is_late(first)):
            most = 1
        if schedule.window.max_runs is not None:
            most = min(most, schedule.window.max_runs - progress.fired)
        newest = islice(takewhile(self.may_run, self.backlog.newest(last)), most)
        return tuple(reversed(tuple(newest)))

    def rows(
        self, first: Planned, last: Planned, run: tuple[Planned, ...]
    ) -> list[Recorded | None]:
        """What is written down for the ticks that are due and do not run."""
        rows = [_row(self.backlog.passed_over(last), Outcome.SKIPPED, Reason.BLACKOUT)]
        rest = self.backlog.before(run[0]) if run else last
        if rest is None:
            return rows
        since = self.backlog.progress.cursor
        outcome, reason = STOPPED[self.cause]
        if self.choice is not CatchUp.SKIP and self.is_too_late(first):
            expired = self.backlog.last(first, min(self.now, rest.tick.at), self.is_too_late)
            rows.append(_row(self.backlog.count(since, expired), outcome, Reason.DEADLINE))
            since = expired.tick.at
        counted = self.backlog.count(since, rest)
        if self.choice is CatchUp.SKIP or not run:
            rows.append(_row(counted, outcome, reason))
        else:
            into = run[0].tick.at
            rows.append(_row(counted, Outcome.COALESCED, Reason.CAUGHT_UP, into=into))
        return rows

    def timed(self, run: tuple[Planned, ...]) -> tuple[Planned, ...]:
        """Keep late runs out of a blackout that has begun since, and to the pace."""
        pace = self.backlog.schedule.misfire.pace
        distance = timedelta(0) if pace is None else pace.distance
        calendars = planning.named(self.backlog.schedule, self.backlog.calendars)
        timed = []
        for place, planned in enumerate(run):
            start, notes = planned.due_at, planned.notes
            if self.is_late(planned):
                start = max(start, self.now + place * distance) if distance else start
                blackout = blackout_at(calendars, max(start, self.now), self.backlog.budget)
                if blackout is not None:
                    start = blackout.end + place * distance
                    notes = (*notes, f"put off to the end of {blackout.name}")
            # What it passed over is in a row of its own.
            timed.append(replace(planned, due_at=start, notes=notes, skipped=()))
        return tuple(timed)


def _row(
    count: Count | None, outcome: Outcome, reason: Reason, *, into: datetime | None = None
) -> Recorded | None:
    if count is None:
        return None
    return Recorded(
        outcome=outcome,
        reason=reason,
        count=count.number,
        first=count.first,
        last=count.last,
        at_least=count.at_least,
        into=into,
    )
