"""Where the clocks of a zone are changed, and what that does to rules that follow elapsed time.

Room: core/time. A rule that follows elapsed time is not moved by a change of clocks. One that runs
in every hour does not notice; but one with some hours only (`*/20 2 * * *`) loses its times in the
hour that the clock jumps over, and runs twice in the one that comes twice. Wall-clock rules say so
themselves, in the notes of their ticks (walls.py).
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
from rota.core.time.rrule.rule import Freq
from rota.core.time.schedule import STEP, Rule, Schedule, nominal

NO_TIME = timedelta(0)
HOURS = 24
# Times of one change that are counted. A rule of every second has 3600 in an hour.
TIMES_COUNTED_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChange:
    """Where the clocks of a zone are changed, by how much, and what they show before and after."""

    at: datetime
    by: timedelta
    before: datetime
    after: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTimes:
    """The local times of a schedule that a change of clocks takes away, or has come twice: `count`
    of them, or more if `at_least`.
    """

    change: ClockChange
    count: int
    first: datetime
    last: datetime
    at_least: bool = False

    @property
    def are_lost(self) -> bool:
        return self.change.by > NO_TIME

    @property
    def words(self) -> str:
        """3 times from 02:00 to 02:40 do not run: the clock jumps over them"""
        first, last = zones.clock(self.first), zones.clock(self.last)
        one = self.count == 1
        said = first if one else f"{self.count} times from {first} to {last}"
        if self.at_least:
            said = f"more than {self.count} times from {first} on"
        if self.are_lost:
            verb, them = ("does not", "it") if one else ("do not", "them")
            return f"{said} {verb} run: the clock jumps over {them}"
        return f"{said} {'runs' if one else 'run'} twice: the clock is set back"


def clock_changes(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[ClockChange]:
    """The changes of a zone's clocks after `start` and before `end`."""
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


def changed_times(schedule: Schedule, start: datetime, end: datetime) -> Iterator[ChangedTimes]:
    """What changes of clocks do to the rules of a schedule that follow elapsed time."""
    rules = tuple(rule for rule in schedule.rules if runs_in_some_hours(rule))
    if not rules:
        return
    # Local times are the ticks of the same rules in UTC, which has no changes.
    local = replace(
        schedule, rules=rules, timezone="UTC", window=Window(), jitter=None, calendars=()
    )
    window = schedule.window
    for change in clock_changes(schedule.zone, start, end):
        is_before = window.start is not None and change.at < window.start
        if is_before or (window.end is not None and change.at >= window.end):
            continue
        times, is_cut = _counted_times(local, change)
        if times:
            yield ChangedTimes(
                change=change,
                count=len(times),
                first=times[0],
                last=times[-1],
                at_least=is_cut,
            )


def runs_in_some_hours(rule: Rule) -> bool:
    """Whether a rule follows elapsed time, and has some hours of the day only."""
    if isinstance(rule, Cron):
        return rule.interval_like and not rule.hour.full
    if isinstance(rule, Rrule) and rule.part is not None and rule.interval_like:
        part = rule.part
        return 0 < len(part.hours) < HOURS or (part.freq is Freq.HOURLY and part.interval > 1)
    return False


def _counted_times(local: Schedule, change: ClockChange) -> tuple[list[datetime], bool]:
    """The local times of a schedule that a gap leaves out, or that come twice; and whether there
    are more.
    """
    found: list[datetime] = []
    try:
        for each in _local_times(local, change):
            if len(found) == TIMES_COUNTED_MAX:
                return found, True
            found.append(each)
    except SearchTooLong:
        return found, True
    return found, False


def _local_times(local: Schedule, change: ClockChange) -> Iterator[datetime]:
    low, high = sorted((change.before, change.after))
    moment = low.replace(tzinfo=UTC) - STEP
    budget = SearchBudget(NEXT_TICK_STEPS_MAX)
    while (tick := nominal(local, moment, budget=budget)) is not None and tick.local < high:
        yield tick.local
        moment = tick.at
