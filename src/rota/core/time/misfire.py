"""Decides what happens to ticks that did not run in time (misfires).

An outage, a pause or an edit leaves overdue ticks; the schedule's misfire policy decides which of
them still run. Every due tick is either in `run` or counted in exactly one row of `recorded`: no
tick disappears, and no number of missed ticks is an error (a Kubernetes CronJob stops after a
hundred). Time and memory stay small however long the outage was: bisection from now backwards finds
the newest ticks, and the rest is one row with a count. The scheduler inserts the runs and writes
the history.

Searches and counts the ticks between a cursor and now.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice, takewhile
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.core.time import moments, planning
from rota.core.time.budget import (
    CATCH_UP_STEPS_MAX,
    STEPS_PER_CAUGHT_UP_MAX,
    SearchBudget,
)
from rota.core.time.calendars import Calendar, blackout_at
from rota.core.time.interval import Every
from rota.core.time.planning import NO_CALENDARS, PlannedTick, find_last
from rota.core.time.policies import CatchUp, MisfireCause
from rota.core.time.schedule import MICROSECOND, Schedule, next_nominal_tick

# Counting stops here and reports "at least": 2 ms of cron. After a day's outage, a cluster does
# this for each of its jobs before their next ticks are due.
COUNTED_TICKS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleProgress:
    """The progress of a schedule. All ticks up to `cursor` (nominal time) are decided.

    `fired` is the number of runs so far. `last_end` is when the last run ended; only a fixed delay
    uses it. `until` is when another schedule replaced this one: it has no later ticks.
    """

    cursor: datetime
    fired: int = 0
    last_end: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TickRangeCount:
    """`number` ticks from `first` to `last`, inclusive; more if `at_least`."""

    number: int
    first: datetime
    last: datetime
    at_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The overdue ticks of one schedule.

    All searches share one budget, which grows with `max_catchup`.
    """

    schedule: Schedule
    progress: ScheduleProgress
    calendars: Mapping[str, Calendar]
    budget: SearchBudget = field(init=False, compare=False)

    def __post_init__(self) -> None:
        limit = CATCH_UP_STEPS_MAX + STEPS_PER_CAUGHT_UP_MAX * self.schedule.misfire.max_catchup
        object.__setattr__(self, "budget", SearchBudget(limit))

    def next_after(self, after: datetime) -> PlannedTick | None:
        """Return the next planned tick after an instant, as if nothing had run since."""
        return planning.plan_next_tick(
            self.schedule,
            after,
            calendars=self.calendars,
            last_end=self.progress.last_end,
            fired=self.progress.fired,
            budget=self.budget,
        )

    def find_last(
        self, first: PlannedTick, high: datetime, fits: Callable[[PlannedTick], bool]
    ) -> PlannedTick:
        """Return the last tick that fits. `first` fits; most fitting ticks are before `high`."""
        if self.schedule.follows_end:
            return first
        return find_last(self.next_after, first, high, at=_at, fits=fits)

    def iterate_back(self, last: PlannedTick) -> Iterator[PlannedTick]:
        """Yield the ticks from this one back to the cursor."""
        # The distance to the previous tick is estimated from the following one. The first estimate,
        # one second, doubles until it reaches a tick.
        reach = timedelta(seconds=1)
        item: PlannedTick | None = last
        while item is not None:
            yield item
            before = self._before(item, reach)
            if before is not None:
                reach = item.tick.at - before.tick.at
            item = before

    def find_previous(self, item: PlannedTick) -> PlannedTick | None:
        """Return the previous tick, if it is after the cursor."""
        return next(islice(self.iterate_back(item), 1, None), None)

    def _before(self, item: PlannedTick, reach: timedelta) -> PlannedTick | None:
        end, floor = item.tick.at, self.progress.cursor
        while not self.schedule.follows_end:
            low = max(floor, end - reach - MICROSECOND)
            found = self.next_after(low)
            if found is not None and found.tick.at < end:
                return self.find_last(found, end, lambda other: other.tick.at < end)
            if low == floor:
                break
            reach *= 2
        return None

    def count_planned(self, after: datetime, last: PlannedTick) -> TickRangeCount | None:
        """Count the ticks planned after an instant, up to and including `last`."""
        first = self.next_after(after)
        if first is None or first.tick.at > last.tick.at:
            return None
        start, end = first.tick.at, last.tick.at
        (rule, *others) = self.schedule.rules
        if isinstance(rule, Every) and not others and not self.schedule.calendars:
            number = rule.count(start - MICROSECOND, end)
            return TickRangeCount(number=number, first=start, last=end)
        if self.schedule.follows_end:
            return TickRangeCount(number=1, first=start, last=end)
        number = sum(1 for _ in islice(self._planned(after, end), COUNTED_TICKS_MAX))
        return TickRangeCount(
            number=number, first=start, last=end, at_least=number == COUNTED_TICKS_MAX
        )

    def count_blacked_out(self, last: PlannedTick) -> TickRangeCount | None:
        """Count the ticks up to `last` that were skipped because of a blackout."""
        if not self.schedule.calendars or self.schedule.follows_end:
            return None
        nominal_ticks = list(islice(self._nominal(last.tick.at), COUNTED_TICKS_MAX))
        planned = {item.tick.at for item in self._planned(self.progress.cursor, nominal_ticks[-1])}
        skipped = [at for at in nominal_ticks if at not in planned]
        if not skipped:
            return None
        capped = len(nominal_ticks) == COUNTED_TICKS_MAX
        return TickRangeCount(
            number=len(skipped), first=skipped[0], last=skipped[-1], at_least=capped
        )

    def _planned(self, after: datetime, until: datetime) -> Iterator[PlannedTick]:
        item = self.next_after(after)
        while item is not None and item.tick.at <= until:
            yield item
            item = self.next_after(item.tick.at)

    def _nominal(self, until: datetime) -> Iterator[datetime]:
        """Yield the ticks that the rules produce, before calendars apply."""
        tick = next_nominal_tick(self.schedule, self.progress.cursor, budget=self.budget)
        while tick is not None and tick.at <= until:
            yield tick.at
            tick = next_nominal_tick(self.schedule, tick.at, budget=self.budget)


def _at(planned: PlannedTick) -> datetime:
    return planned.tick.at


class MisfireOutcome(StrEnum):
    """How history records a tick that does not run."""

    MISSED = "missed"  # planned, neither paused nor blacked out, and not run
    COALESCED = "coalesced"  # another run replaces it
    PAUSED = "paused"
    SKIPPED = "skipped"  # blacked out, or before an edit


class MisfireReason(StrEnum):
    OUTAGE = "outage"
    DEADLINE = "start_deadline"
    CAUGHT_UP = "caught_up"
    PAUSE = "pause"
    EDIT = "edit"
    BLACKOUT = "blackout"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisfireRecord:
    """`count` ticks from `first` to `last`, inclusive, that do not run; more if `at_least`. `into`
    is the nominal time of the run that replaces them.
    """

    outcome: MisfireOutcome
    reason: MisfireReason
    count: int
    first: datetime
    last: datetime
    at_least: bool = False
    into: datetime | None = None


class MisfireHistoryRow(NamedTuple):
    """How history stores a record: under the run id of its last tick, with the reason as JSON."""

    id: UUID
    tick_at: datetime
    state: RunState
    reason: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpDecision:
    """The ticks that run, in order; the history rows for the rest; and the next cursor."""

    runs: tuple[PlannedTick, ...]
    records: tuple[MisfireRecord, ...]
    cursor: datetime


RECORDED_STATES: Final = {
    MisfireOutcome.MISSED: RunState.MISSED,
    MisfireOutcome.COALESCED: RunState.COALESCED,
    MisfireOutcome.PAUSED: RunState.SKIPPED,
    MisfireOutcome.SKIPPED: RunState.SKIPPED,
}
OUTCOME_BY_CAUSE = {
    MisfireCause.OUTAGE: (MisfireOutcome.MISSED, MisfireReason.OUTAGE),
    MisfireCause.RESUME: (MisfireOutcome.PAUSED, MisfireReason.PAUSE),
    MisfireCause.EDIT: (MisfireOutcome.SKIPPED, MisfireReason.EDIT),
}


def decide_catch_up(
    schedule: Schedule,
    progress: ScheduleProgress,
    now: datetime,
    *,
    cause: MisfireCause = MisfireCause.OUTAGE,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    choice: CatchUp | None = None,
) -> CatchUpDecision:
    """Decide all due ticks after the cursor. `choice` overrides the policy once.

    After an outage, ticks not older than `late_after` are on time and run under every policy; if
    there are only such ticks, nothing was missed. An edit starts at `now`. Default: it does not
    fire past ticks. `settle_replaced_schedule` decides the ticks that the old schedule owes.
    """
    backlog = Backlog(schedule=schedule, progress=progress, calendars=calendars)
    case = _Case(backlog, now, cause, choice or schedule.misfire.choice_for(cause))
    cursor = max(now, progress.cursor) if cause is MisfireCause.EDIT else progress.cursor
    first = backlog.next_after(progress.cursor)
    if first is None or not case.is_due(first):
        return CatchUpDecision(runs=(), records=(), cursor=cursor)
    last = backlog.find_last(first, now, case.is_due)
    run = case.choose_runs(first, last)
    recorded = tuple(row for row in case.history_rows(first, last, run) if row is not None)
    return CatchUpDecision(
        runs=case.schedule_runs(run), records=recorded, cursor=max(cursor, last.tick.at)
    )


def settle_replaced_schedule(
    schedule: Schedule,
    progress: ScheduleProgress,
    now: datetime,
    *,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> CatchUpDecision:
    """Decide the ticks that a schedule still owes when it is replaced: the due ticks, and the one
    whose nominal time has passed but whose jittered time has not (Temporal lost it).
    """
    decision = decide_catch_up(schedule, progress, now, calendars=calendars)
    in_flight = planning.plan_next_tick(
        schedule,
        decision.cursor,
        calendars=calendars,
        last_end=progress.last_end,
        fired=progress.fired + len(decision.runs),
    )
    run = decision.runs
    if in_flight is not None and in_flight.tick.at <= now:
        run = (*run, in_flight)
    return replace(decision, runs=run, cursor=max(now, progress.cursor))


def decide_single_tick(schedule: Schedule, planned: PlannedTick, now: datetime) -> CatchUpDecision:
    """Decide one overdue tick that the schedule no longer has, because a time zone or a calendar
    changed after it was planned.
    """
    misfire, tick_at = schedule.misfire, planned.tick.at
    expired = misfire.is_too_late(planned.due_at, now)
    missed = misfire.on_outage is CatchUp.SKIP and misfire.is_late(planned.due_at, now)
    if not (expired or missed):
        return CatchUpDecision(runs=(planned,), records=(), cursor=tick_at)
    record = MisfireRecord(
        outcome=MisfireOutcome.MISSED,
        reason=MisfireReason.DEADLINE if expired else MisfireReason.OUTAGE,
        count=1,
        first=tick_at,
        last=tick_at,
    )
    return CatchUpDecision(runs=(), records=(record,), cursor=tick_at)


def always_runs_late(schedule: Schedule) -> bool:
    """Return whether a tick runs however late it is, as long as it is the only one due."""
    misfire = schedule.misfire
    may_be_dropped = misfire.on_outage is CatchUp.SKIP or misfire.start_deadline is not None
    return not (may_be_dropped or misfire.pace is not None or schedule.calendars)


def build_history_row(job_id: UUID, record: MisfireRecord) -> MisfireHistoryRow:
    """Return what history stores about ticks of a job that do not run."""
    reason: dict[str, object] = {
        "code": "paused" if record.reason is MisfireReason.PAUSE else record.reason.value,
        "count": record.count,
        "first": moments.to_rfc3339(record.first),
        "last": moments.to_rfc3339(record.last),
    }
    if record.at_least:
        reason["at_least"] = True
    if record.into is not None:
        reason["into"] = str(derive_tick_run_id(job_id, record.into))
    return MisfireHistoryRow(
        id=derive_tick_run_id(job_id, record.last),
        tick_at=record.last,
        state=RECORDED_STATES[record.outcome],
        reason=reason,
    )


@dataclass(frozen=True, slots=True)
class _Case:
    backlog: Backlog
    now: datetime
    cause: MisfireCause
    choice: CatchUp

    def is_due(self, planned: PlannedTick) -> bool:
        until = self.backlog.progress.until
        # A tick that was moved before a blackout is due before its nominal time.
        if until is not None and min(planned.tick.at, planned.due_at) > until:
            return False
        if self.cause is MisfireCause.EDIT:
            return planned.tick.at <= self.now
        return planned.due_at <= self.now

    def is_late(self, planned: PlannedTick) -> bool:
        return self.backlog.schedule.misfire.is_late(planned.due_at, self.now)

    def is_too_late(self, planned: PlannedTick) -> bool:
        return self.backlog.schedule.misfire.is_too_late(planned.due_at, self.now)

    def may_run(self, planned: PlannedTick) -> bool:
        if self.choice is CatchUp.SKIP and (
            self.cause is not MisfireCause.OUTAGE or self.is_late(planned)
        ):
            return False
        return not self.is_too_late(planned)

    def choose_runs(self, first: PlannedTick, last: PlannedTick) -> tuple[PlannedTick, ...]:
        """Return the ticks that run: the newest allowed ones, up to the limit."""
        schedule, progress = self.backlog.schedule, self.backlog.progress
        limit = schedule.misfire.max_catchup
        if self.choice is CatchUp.ONCE and (
            self.cause is not MisfireCause.OUTAGE or self.is_late(first)
        ):
            limit = 1
        if schedule.window.max_runs is not None:
            limit = min(limit, schedule.window.max_runs - progress.fired)
        newest = islice(takewhile(self.may_run, self.backlog.iterate_back(last)), limit)
        return tuple(reversed(tuple(newest)))

    def history_rows(
        self, first: PlannedTick, last: PlannedTick, run: tuple[PlannedTick, ...]
    ) -> list[MisfireRecord | None]:
        """Return the history rows for the due ticks that do not run."""
        rows = [
            _row(
                self.backlog.count_blacked_out(last), MisfireOutcome.SKIPPED, MisfireReason.BLACKOUT
            )
        ]
        rest = self.backlog.find_previous(run[0]) if run else last
        if rest is None:
            return rows
        since = self.backlog.progress.cursor
        outcome, reason = OUTCOME_BY_CAUSE[self.cause]
        if self.choice is not CatchUp.SKIP and self.is_too_late(first):
            expired = self.backlog.find_last(first, min(self.now, rest.tick.at), self.is_too_late)
            rows.append(
                _row(self.backlog.count_planned(since, expired), outcome, MisfireReason.DEADLINE)
            )
            since = expired.tick.at
        counted = self.backlog.count_planned(since, rest)
        if self.choice is CatchUp.SKIP or not run:
            rows.append(_row(counted, outcome, reason))
        else:
            into = run[0].tick.at
            rows.append(_row(counted, MisfireOutcome.COALESCED, MisfireReason.CAUGHT_UP, into=into))
        return rows

    def schedule_runs(self, run: tuple[PlannedTick, ...]) -> tuple[PlannedTick, ...]:
        """Set the start times of late runs: outside blackouts and at the configured pace."""
        pace = self.backlog.schedule.misfire.pace
        distance = timedelta(0) if pace is None else pace.distance
        calendars = planning.resolve_calendars(self.backlog.schedule, self.backlog.calendars)
        timed = []
        for place, planned in enumerate(run):
            start, notes = planned.due_at, planned.notes
            if self.is_late(planned):
                start = max(start, self.now + place * distance) if distance else start
                blackout = blackout_at(calendars, max(start, self.now), self.backlog.budget)
                if blackout is not None:
                    start = blackout.end + place * distance
                    notes = (*notes, f"postponed to the end of {blackout.name}")
            # The ticks that it skipped have a history row of their own.
            timed.append(replace(planned, due_at=start, notes=notes, skipped=()))
        return tuple(timed)


def _row(
    count: TickRangeCount | None,
    outcome: MisfireOutcome,
    reason: MisfireReason,
    *,
    into: datetime | None = None,
) -> MisfireRecord | None:
    if count is None:
        return None
    return MisfireRecord(
        outcome=outcome,
        reason=reason,
        count=count.number,
        first=count.first,
        last=count.last,
        at_least=count.at_least,
        into=into,
    )
