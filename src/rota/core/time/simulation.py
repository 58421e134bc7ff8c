"""Simulates a schedule over a span of time with outages: every tick and its outcome.

Plays a scheduler that runs except during the outages, with the code of the real scheduler:
planning.py finds the next tick, misfire.py decides what is caught up. Nothing waits and nothing
reads a clock, so years take milliseconds. The result is a lazy iterator: the caller stops when it
has enough ticks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import durations, moments, planning
from rota.core.time.calendars import Calendar
from rota.core.time.clock_changes import (
    ChangedTimes,
    ClockChange,
    find_changed_times,
    find_clock_changes,
    runs_in_some_hours,
)
from rota.core.time.misfire import MisfireRecord, ScheduleProgress, decide_catch_up
from rota.core.time.planning import NO_CALENDARS, PlannedTick
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.core.time.tick import DstGap, Tick

ZERO_DURATION = timedelta(0)


class SimulatedOutcome(StrEnum):
    """The outcome of a simulated tick."""

    FIRED = "fired"
    CAUGHT_UP = "caught_up"
    MISSED = "missed"
    COALESCED = "coalesced"
    SKIPPED = "skipped"


RUN_OUTCOMES = frozenset({SimulatedOutcome.FIRED, SimulatedOutcome.CAUGHT_UP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """No scheduler runs in start <= t < end."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.end <= self.start:
            wanted = f"must be after the start, {moments.to_rfc3339(self.start)}"
            raise InvalidInput("outage", moments.to_rfc3339(self.end), wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTick:
    """One tick that runs, or `count` consecutive ticks that do not: from `first` to `at`,
    inclusive, more if `at_least`. `into` is the nominal time of the run that replaces them.
    """

    outcome: SimulatedOutcome
    at: datetime
    local: datetime
    starts_at: datetime | None = None
    first: datetime
    count: int = 1
    at_least: bool = False
    into: datetime | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_run(self) -> bool:
        return self.outcome in RUN_OUTCOMES


@dataclass(kw_only=True)
class _Play:
    """The state of the simulated scheduler. `put_off` is the next tick, if it was postponed beyond
    its own time; it is then decided again.
    """

    schedule: Schedule
    outages: Sequence[Outage]
    calendars: Mapping[str, Calendar]
    takes: timedelta
    cursor: datetime
    clock: datetime
    fired: int = 0
    last_end: datetime | None = None
    put_off: PlannedTick | None = None

    def next(self) -> PlannedTick | None:
        return self.put_off or self._after(self.cursor)

    def decide(self, planned: PlannedTick) -> Iterator[SimulatedTick]:
        """Yield the outcome of the next tick and of all other overdue ticks."""
        now = self._when_decided(max(planned.due_at, self.clock))
        due = planned.due_at if self.put_off is None else self._due_first(planned)
        self.clock, self.put_off = now, None
        if now <= self.schedule.misfire.compute_late_at(planned.tick.at, planned.due_at):
            yield from self._blacked_out(planned)
            yield self._started(planned, due)
            return
        progress = ScheduleProgress(cursor=self.cursor, fired=self.fired, last_end=self.last_end)
        decision = decide_catch_up(self.schedule, progress, now, calendars=self.calendars)
        for row in decision.records:
            yield self._recorded(row)
        for caught_up in decision.runs:
            if caught_up.due_at > now:
                self.cursor, self.put_off = caught_up.tick.at - MICROSECOND, caught_up
                return
            yield self._started(caught_up, self._due_first(caught_up))
        self.cursor = max(self.cursor, decision.cursor)

    def _after(self, after: datetime) -> PlannedTick | None:
        return planning.plan_next_tick(
            self.schedule,
            after,
            calendars=self.calendars,
            last_end=self.last_end,
            fired=self.fired,
        )

    def _when_decided(self, due: datetime) -> datetime:
        """Return when a tick due at `due` is decided: at once, or after the outage."""
        for outage in self.outages:
            if outage.start <= due < outage.end:
                due = outage.end
        return due

    def _due_first(self, planned: PlannedTick) -> datetime:
        """Return when a tick was due before it was postponed."""
        own = self._after(planned.tick.at - MICROSECOND)
        return planned.due_at if own is None else own.due_at

    def _started(self, planned: PlannedTick, due: datetime) -> SimulatedTick:
        late = self.clock - due
        tick_notes = () if planned.tick.note is None else (planned.tick.note,)
        notes: tuple[str, ...] = (*tick_notes, *planned.notes)
        if late > ZERO_DURATION:
            notes += (f"starts {durations.to_words(late)} late",)
        self.cursor = planned.tick.at
        self.fired += 1
        if self.schedule.follows_end:
            self.last_end = self.clock + self.takes
            self.cursor = max(self.cursor, self.last_end)
        is_late = self.schedule.misfire.is_late(due, self.clock)
        return SimulatedTick(
            outcome=SimulatedOutcome.CAUGHT_UP if is_late else SimulatedOutcome.FIRED,
            at=planned.tick.at,
            local=planned.tick.local,
            first=planned.tick.at,
            starts_at=self.clock,
            notes=notes,
        )

    def _recorded(self, row: MisfireRecord) -> SimulatedTick:
        return SimulatedTick(
            outcome=SimulatedOutcome(row.outcome.value),
            at=row.last,
            local=self._local(row.last),
            first=row.first,
            count=row.count,
            at_least=row.at_least,
            into=row.into,
            reason=row.reason.value,
        )

    def _blacked_out(self, planned: PlannedTick) -> Iterator[SimulatedTick]:
        for skip in planned.skipped:
            at = skip.first.at
            yield SimulatedTick(
                outcome=SimulatedOutcome.SKIPPED,
                at=at,
                local=skip.first.local,
                first=at,
                at_least=True,
                reason="blackout",
                notes=(f"{skip.blackout.name} until {moments.to_rfc3339(skip.blackout.end)}",),
            )

    def _local(self, at: datetime) -> datetime:
        return at.astimezone(self.schedule.zone).replace(tzinfo=None)


def simulate(
    schedule: Schedule,
    *,
    start: datetime,
    end: datetime,
    outages: Sequence[Outage] = (),
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    run_duration: timedelta = ZERO_DURATION,
) -> Iterator[SimulatedTick]:
    """Yield the outcome of each tick in start <= tick < end, in the order of decision.

    `takes` is the duration of a run. Only a fixed delay uses it. Default: zero.
    """
    if end <= start:
        raise InvalidInput(
            "end", moments.to_rfc3339(end), f"must be after {moments.to_rfc3339(start)}"
        )
    if not schedule.has_ticks:
        raise InvalidInput(
            "schedule", "a schedule without times", "expected cron, rrule, every, at or after"
        )
    play = _Play(
        schedule=schedule,
        outages=sorted(outages, key=lambda outage: outage.start),
        calendars=calendars,
        takes=run_duration,
        cursor=start - MICROSECOND,
        clock=start,
    )
    # A local time that occurs twice has a note on its ticks.
    changed = find_changed_times(schedule, start, end)
    lost = [_lost_event(times) for times in changed if times.are_lost]
    jumped = [*_jumped_over(schedule, start, end, calendars), *lost]
    jumped.sort(key=lambda event: event.at)
    while (planned := _next_or_end(play)) is not None and planned.tick.at < end:
        while jumped and jumped[0].at <= planned.tick.at:
            yield jumped.pop(0)
        yield from play.decide(planned)
    yield from jumped


def _next_or_end(play: _Play) -> PlannedTick | None:
    """Return the next tick; None if a tick has fired and calendars black out the next years."""
    try:
        return play.next()
    except InvalidSchedule:
        if not play.fired:
            raise
        return None


def _lost_event(times: ChangedTimes) -> SimulatedTick:
    """Return the event for times in a gap, for a rule that follows elapsed time."""
    at = times.change.at
    return SimulatedTick(
        outcome=SimulatedOutcome.SKIPPED,
        at=at,
        local=times.first,
        first=at,
        count=times.count,
        at_least=times.at_least,
        reason="dst_gap",
        notes=(times.description,),
    )


def find_relevant_clock_changes(
    schedule: Schedule, *, start: datetime, end: datetime
) -> Iterator[ClockChange]:
    """Yield the clock changes of the schedule's zone. Yields none if the schedule follows elapsed
    time in all hours, because then they do not affect it.
    """
    if not schedule.interval_like or any(map(runs_in_some_hours, schedule.rules)):
        yield from find_clock_changes(schedule.zone, start, end)


def _jumped_over(
    schedule: Schedule, start: datetime, end: datetime, calendars: Mapping[str, Calendar]
) -> Iterator[SimulatedTick]:
    """Yield the local times that the clock jumps over and that `dst.gap: skip` drops. They produce
    no tick, so the search uses `run_after` to find them.
    """
    if schedule.gap is not DstGap.SKIP or schedule.follows_end:
        return
    shown = replace(schedule, gap=DstGap.RUN_AFTER)
    for change in find_clock_changes(schedule.zone, start, end):
        for planned in planning.plan_ticks(
            shown, change.at - MICROSECOND, change.at, calendars=calendars
        ):
            if planned.tick.note is not None:
                yield _gap_event(planned.tick, planned.tick.note, change.at)


def _gap_event(tick: Tick, note: str, change: datetime) -> SimulatedTick:
    jumped = note.removeprefix("moved from ").removeprefix("also covers ")
    return SimulatedTick(
        outcome=SimulatedOutcome.SKIPPED,
        at=change,
        local=tick.local,
        first=change,
        reason="dst_gap",
        notes=(jumped,),
    )
