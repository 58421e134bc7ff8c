"""Finds the clock changes of a zone and their effect on rules that follow elapsed time.

A clock change does not move the ticks of a rule that follows elapsed time. A rule that runs in
every hour is not affected. A rule with some hours only (`*/20 2 * * *`) loses its times in the hour
that the clock jumps over, and runs twice in the hour that occurs twice. Ticks of wall-clock rules
carry a note instead (zones.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rota.core.errors import SearchTooLong
from rota.core.time import zones
from rota.core.time.budget import NEXT_TICK_STEPS_MAX, SearchBudget
from rota.core.time.cron import Cron
from rota.core.time.policies import Window
from rota.core.time.rrule import Rrule
from rota.core.time.rrule.rule import RruleFrequency
from rota.core.time.schedule import MICROSECOND, Rule, Schedule, next_nominal_tick

ZERO_DURATION = timedelta(0)
HOURS_PER_DAY = 24
# Times counted per clock change. A rule of every second has 3600 in an hour.
TIMES_COUNTED_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChange:
    """A clock change: the instant, the shift, and the local times before and after."""

    at: datetime
    by: timedelta
    before: datetime
    after: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTimes:
    """The local times of a schedule that a clock change drops or repeats: `count` of them, or more
    if `at_least`.
    """

    change: ClockChange
    count: int
    first: datetime
    last: datetime
    at_least: bool = False

    @property
    def are_lost(self) -> bool:
        return self.change.by > ZERO_DURATION

    @property
    def description(self) -> str:
        """For example "3 times from 02:00 to 02:40 do not run: the clock jumps over them"."""
        first, last = zones.format_clock(self.first), zones.format_clock(self.last)
        one = self.count == 1
        times = first if one else f"{self.count} times from {first} to {last}"
        if self.at_least:
            times = f"more than {self.count} times from {first} on"
        if self.are_lost:
            verb, them = ("does not", "it") if one else ("do not", "them")
            return f"{times} {verb} run: the clock jumps over {them}"
        return f"{times} {'runs' if one else 'run'} twice: the clock is set back"


def find_clock_changes(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[ClockChange]:
    """Yield the clock changes of a zone after `start` and before `end`."""
    moment, last = int(start.timestamp()), int(end.timestamp())
    while (span := zones.span_at(zone, moment)).end < last:
        moment = span.end
        if span.after != span.offset:
            at = zones.EPOCH + timedelta(seconds=moment)
            utc = at.replace(tzinfo=None)
            yield ClockChange(
                at=at,
                by=timedelta(seconds=span.after - span.offset),
                before=utc + timedelta(seconds=span.offset),
                after=utc + timedelta(seconds=span.after),
            )


def find_changed_times(
    schedule: Schedule, start: datetime, end: datetime
) -> Iterator[ChangedTimes]:
    """Yield the effects of clock changes on a schedule's rules that follow elapsed time."""
    rules = tuple(rule for rule in schedule.rules if runs_in_some_hours(rule))
    if not rules:
        return
    # The local times are the ticks of the same rules in UTC, which has no clock changes.
    local = replace(
        schedule, rules=rules, timezone="UTC", window=Window(), jitter=None, calendars=()
    )
    window = schedule.window
    for change in find_clock_changes(schedule.zone, start, end):
        is_before = window.start is not None and change.at < window.start
        if is_before or (window.end is not None and change.at >= window.end):
            continue
        times, is_cut = _list_times(local, change)
        if times:
            yield ChangedTimes(
                change=change,
                count=len(times),
                first=times[0],
                last=times[-1],
                at_least=is_cut,
            )


def runs_in_some_hours(rule: Rule) -> bool:
    """Return whether a rule follows elapsed time and runs in some hours of the day only."""
    if isinstance(rule, Cron):
        return rule.interval_like and not rule.hour.is_full
    if isinstance(rule, Rrule) and rule.part is not None and rule.interval_like:
        part = rule.part
        return 0 < len(part.hours) < HOURS_PER_DAY or (
            part.freq is RruleFrequency.HOURLY and part.interval > 1
        )
    return False


def _list_times(local: Schedule, change: ClockChange) -> tuple[list[datetime], bool]:
    """Return the local times of a schedule that a clock change drops or repeats, and whether there
    are more.
    """
    found: list[datetime] = []
    try:
        for local_time in _local_times(local, change):
            if len(found) == TIMES_COUNTED_MAX:
                return found, True
            found.append(local_time)
    except SearchTooLong:
        return found, True
    return found, False


def _local_times(local: Schedule, change: ClockChange) -> Iterator[datetime]:
    low, high = sorted((change.before, change.after))
    moment = low.replace(tzinfo=UTC) - MICROSECOND
    budget = SearchBudget(NEXT_TICK_STEPS_MAX)
    while (
        tick := next_nominal_tick(local, moment, budget=budget)
    ) is not None and tick.local < high:
        yield tick.local
        moment = tick.at
