"""What a schedule does over a span of time, with outages: every tick, and what becomes of it.

Room: core/time. Plays a scheduler that is there except in the outages, with the code that a real
one uses: planning.py says which tick is next, misfire.py what is caught up. Nothing waits and no
clock is read, so years take milliseconds. It goes on tick by tick: whoever wants an end takes what
is needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import durations, moments, planning
from rota.core.time.backlog import Progress
from rota.core.time.calendars import Calendar
from rota.core.time.clock_changes import (
    ChangedTimes,
    ClockChange,
    changed_times,
    clock_changes,
    runs_in_some_hours,
)
from rota.core.time.misfire import Recorded, catch_up
from rota.core.time.planning import NO_CALENDARS, Planned
from rota.core.time.schedule import STEP, Schedule
from rota.core.time.tick import DstGap, Tick

NO_TIME = timedelta(0)


class Happened(StrEnum):
    """What became of a tick."""

    FIRED = "fired"
    CAUGHT_UP = "caught_up"
    MISSED = "missed"
    COALESCED = "coalesced"
    SKIPPED = "skipped"


RUNS = frozenset({Happened.FIRED, Happened.CAUGHT_UP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """Nobody decides about ticks from `start` until before `end`."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.end <= self.start:
            wanted = f"an end after its start, {moments.rfc3339(self.start)}"
            raise InvalidInput("outage", moments.rfc3339(self.end), wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One tick that runs, or a stretch of `count` that do not: from `first` to `at`, both included,
    more of them if `at_least`. `into` is the nominal time of the run that stands for them.
    """

    happened: Happened
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
    def runs(self) -> bool:
        return self.happened in RUNS


@dataclass(kw_only=True)
class _Play:
    """Where the cursor stands. `put_off` is the tick that it stands before, if that was decided to
    start later than its own time; then it is decided again.
    """

    schedule: Schedule
    outages: Sequence[Outage]
    calendars: Mapping[str, Calendar]
    takes: timedelta
    cursor: datetime
    clock: datetime
    fired: int = 0
    last_end: datetime | None = None
    put_off: Planned | None = None

    def next(self) -> Planned | None:
        return self.put_off or self._after(self.cursor)

    def decide(self, planned: Planned) -> Iterator[Event]:
        """What becomes of the next tick, and of others that waited with it."""
        now = self._somebody_there(max(planned.due_at, self.clock))
        due = planned.due_at if self.put_off is None else self._due_first(planned)
        self.clock, self.put_off = now, None
        if now <= self._late_at(planned):
            yield from self._passed_over(planned)
            yield self._started(planned, due)
            return
        progress = Progress(cursor=self.cursor, fired=self.fired, last_end=self.last_end)
        decision = catch_up(self.schedule, progress, now, calendars=self.calendars)
        for row in decision.recorded:
            yield self._recorded(row)
        for station in decision.run:
            if station.due_at > now:
                self.cursor, self.put_off = station.tick.at - STEP, station
                return
            yield self._started(station, self._due_first(station))
        self.cursor = max(self.cursor, decision.cursor)

    def _after(self, after: datetime) -> Planned | None:
        return planning.next_tick(
            self.schedule,
            after,
            calendars=self.calendars,
            last_end=self.last_end,
            fired=self.fired,
        )

    def _somebody_there(self, due: datetime) -> datetime:
        """When it is decided what is due then: at once, or after the outage."""
        for outage in self.outages:
            if outage.start <= due < outage.end:
                due = outage.end
        return due

    def _late_at(self, planned: Planned) -> datetime:
        """As flow/schedule/agenda.py has it: what is paced is looked at again in its turn."""
        misfire = self.schedule.misfire
        patience = misfire.late_after
        if misfire.start_deadline is not None:
            patience = min(patience, misfire.start_deadline)
        return (planned.due_at if misfire.pace is None else planned.tick.at) + patience

    def _due_first(self, planned: Planned) -> datetime:
        """When a tick was due before it was put off."""
        own = self._after(planned.tick.at - STEP)
        return planned.due_at if own is None else own.due_at

    def _started(self, planned: Planned, due: datetime) -> Event:
        late = self.clock - due
        noted = () if planned.tick.note is None else (planned.tick.note,)
        notes: tuple[str, ...] = (*noted, *planned.notes)
        if late > NO_TIME:
            notes += (f"starts {durations.words(late)} late",)
        self.cursor = planned.tick.at
        self.fired += 1
        if self.schedule.follows_end:
            self.last_end = self.clock + self.takes
            self.cursor = max(self.cursor, self.last_end)
        is_late = late > self.schedule.misfire.late_after
        return Event(
            happened=Happened.CAUGHT_UP if is_late else Happened.FIRED,
            at=planned.tick.at,
            local=planned.tick.local,
            first=planned.tick.at,
            starts_at=self.clock,
            notes=notes,
        )

    def _recorded(self, row: Recorded) -> Event:
        return Event(
            happened=Happened(row.outcome.value),
            at=row.last,
            local=self._local(row.last),
            first=row.first,
            count=row.count,
            at_least=row.at_least,
            into=row.into,
            reason=row.reason.value,
        )

    def _passed_over(self, planned: Planned) -> Iterator[Event]:
        for skip in planned.skipped:
            at = skip.first.at
            yield Event(
                happened=Happened.SKIPPED,
                at=at,
                local=skip.first.local,
                first=at,
                at_least=True,
                reason="blackout",
                notes=(f"{skip.blackout.name} until {moments.rfc3339(skip.blackout.end)}",),
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
    takes: timedelta = NO_TIME,
) -> Iterator[Event]:
    """What becomes of the ticks from `start` until before `end`, in the order it is decided.

    `takes` is how long a run lasts, which only a fixed delay needs to know.
    """
    if end <= start:
        raise InvalidInput("end", moments.rfc3339(end), f"one after {moments.rfc3339(start)}")
    if not schedule.has_ticks:
        raise InvalidInput(
            "schedule", "a schedule without times", "cron, rrule, every, at or after"
        )
    play = _Play(
        schedule=schedule,
        outages=sorted(outages, key=lambda outage: outage.start),
        calendars=calendars,
        takes=takes,
        cursor=start - STEP,
        clock=start,
    )
    # Times that come twice say so in the notes of their ticks.
    changed = changed_times(schedule, start, end)
    lost = [_lost_event(each) for each in changed if each.are_lost]
    jumped = [*_jumped_over(schedule, start, end, calendars), *lost]
    jumped.sort(key=lambda event: event.at)
    while (planned := _next_or_end(play)) is not None and planned.tick.at < end:
        while jumped and jumped[0].at <= planned.tick.at:
            yield jumped.pop(0)
        yield from play.decide(planned)
    yield from jumped


def _next_or_end(play: _Play) -> Planned | None:
    """The next tick; none where calendars leave no time for years, if there was one before."""
    try:
        return play.next()
    except InvalidSchedule:
        if not play.fired:
            raise
        return None


def _lost_event(times: ChangedTimes) -> Event:
    """Times of a rule that follows elapsed time, in a gap."""
    at = times.change.at
    return Event(
        happened=Happened.SKIPPED,
        at=at,
        local=times.first,
        first=at,
        count=times.count,
        at_least=times.at_least,
        reason="dst_gap",
        notes=(times.words,),
    )


def changes_of(schedule: Schedule, *, start: datetime, end: datetime) -> Iterator[ClockChange]:
    """Where the clocks of its zone are changed; nowhere if it does not notice them, because it
    follows elapsed time in all hours.
    """
    if not schedule.interval_like or any(map(runs_in_some_hours, schedule.rules)):
        yield from clock_changes(schedule.zone, start, end)


def _jumped_over(
    schedule: Schedule, start: datetime, end: datetime, calendars: Mapping[str, Calendar]
) -> Iterator[Event]:
    """Local times that a clock jumps over and that `dst.gap: skip` leaves out: they make no tick,
    so they are looked for as if they did.
    """
    if schedule.gap is not DstGap.SKIP or schedule.follows_end:
        return
    shown = replace(schedule, gap=DstGap.RUN_AFTER)
    for change in clock_changes(schedule.zone, start, end):
        for planned in planning.plan(shown, change.at - STEP, change.at, calendars=calendars):
            if planned.tick.note is not None:
                yield _gap_event(planned.tick, planned.tick.note, change.at)


def _gap_event(tick: Tick, note: str, change: datetime) -> Event:
    said = note.removeprefix("moved from ").removeprefix("also stands for ")
    return Event(
        happened=Happened.SKIPPED,
        at=change,
        local=tick.local,
        first=change,
        reason="dst_gap",
        notes=(said,),
    )
