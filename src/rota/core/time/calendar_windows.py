"""Computes the windows of a calendar in one part of time, as merged instants in order.

Windows are on the wall clock and are merged there first: adjacent windows of one day become one
stretch, however many times an RRULE names; then adjacent windows of different rules are merged.
Only the remaining edges are converted with the zone.

The length of a part depends on the calendar: a year for a few windows a week, a day for hundreds a
day. So a lookup costs at most a few milliseconds, and each part knows its cost in search steps
(budget.py).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from rota.core.time import zones
from rota.core.time.budget import NEXT_TICK_STEPS_MAX, WINDOWS_PER_STEP, SearchBudget
from rota.core.time.rrule import Rrule, RrulePart
from rota.core.time.rrule.days import EPOCH_DAY, iterate_days
from rota.core.time.rrule.search import iterate_times
from rota.core.time.tick import DstGap, DstOverlap
from rota.core.time.zones import (
    EPOCH,
    EPOCH_LOCAL,
    SECOND,
    from_wall_seconds,
    span_at,
    to_wall_seconds,
)

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
# The approximate number of windows in a part of time, and its maximum length.
WINDOWS_PER_PART: Final = 256
PART_DAYS_MAX: Final = 366
DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRange:
    """A single window from one local time until before another."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyWindow:
    """A part of every week, as offsets from Monday 00:00; may extend past the week's end."""

    start: timedelta
    end: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class YearlyDay:
    """A day of every year in which it exists."""

    month: int
    day: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringWindow:
    """A window of `length` at each time of the rule."""

    rule: Rrule
    length: timedelta


LocalWindow = tuple[datetime, datetime]


class CalendarPart(NamedTuple):
    """The windows that overlap first <= instant < last; `steps` is the cost to compute them."""

    first: datetime
    last: datetime
    starts: tuple[datetime, ...]
    ends: tuple[datetime, ...]
    steps: int


@dataclass(frozen=True)
class LocalWindows:
    """The windows of one calendar on its wall clock."""

    ranges: tuple[DateRange, ...]
    weekly: tuple[WeeklyWindow, ...]
    yearly: tuple[YearlyDay, ...]
    recurring: tuple[RecurringWindow, ...]

    def part_number(self, instant: datetime) -> int:
        """Return the number of the part of time that contains this instant."""
        return (instant - EPOCH) // self.part_length

    @cached_property
    def part_length(self) -> timedelta:
        """The length of a part of time."""
        per_day = len(self.weekly) / 7 + sum(map(len, self._stretches))
        days = int(WINDOWS_PER_PART / max(per_day, 0.1))
        return timedelta(days=max(1, min(PART_DAYS_MAX, days)))

    def find_between(
        self, low: datetime, high: datetime, budget: SearchBudget
    ) -> list[LocalWindow]:
        """Return the windows with end > low and start < high, merged, in order."""
        found = [*self._ranges_between(low, high), *self._weekly_between(low, high)]
        found += self._yearly_between(low, high)
        for recurring, stretches in zip(self.recurring, self._stretches, strict=True):
            found += _recurrences(recurring, stretches, (low, high), budget)
        budget.spend(1 + len(found) // WINDOWS_PER_STEP)
        return merge_windows(window for window in found if window[1] > low and window[0] < high)

    @cached_property
    def _merged_ranges(self) -> list[LocalWindow]:
        return merge_windows((window.start, window.end) for window in self.ranges)

    @cached_property
    def _stretches(self) -> tuple[tuple[tuple[timedelta, timedelta], ...], ...]:
        """Per recurring window, the merged stretches of one day as offsets from midnight."""
        return tuple(map(_stretches_of, self.recurring))

    @cached_property
    def _days_of_year(self) -> frozenset[tuple[int, int]]:
        return frozenset((yearly.month, yearly.day) for yearly in self.yearly)

    def _ranges_between(self, low: datetime, high: datetime) -> Iterable[LocalWindow]:
        found = self._merged_ranges
        first = bisect_right(found, low, key=_end)
        return found[first : bisect_left(found, high, lo=first, key=_start)]

    def _weekly_between(self, low: datetime, high: datetime) -> Iterator[LocalWindow]:
        monday = datetime.combine(low.date() - timedelta(days=low.weekday()), time()) - WEEK
        while self.weekly and monday < high:
            for weekly in self.weekly:
                yield monday + weekly.start, monday + weekly.end
            monday += WEEK

    def _yearly_between(self, low: datetime, high: datetime) -> Iterator[LocalWindow]:
        day, last = low.date(), high.date()
        while self.yearly and day <= last:
            if (day.month, day.day) in self._days_of_year:
                start = datetime.combine(day, time())
                yield start, start + DAY
            day += DAY


def _start(window: LocalWindow) -> datetime:
    return window[0]


def _end(window: LocalWindow) -> datetime:
    return window[1]


def merge_windows(windows: Iterable[LocalWindow]) -> list[LocalWindow]:
    """Merge windows: the result has no adjacent, overlapping or empty windows."""
    found: list[LocalWindow] = []
    for start, end in sorted(windows):
        if found and start <= found[-1][1]:
            if end > found[-1][1]:
                found[-1] = (found[-1][0], end)
        elif start < end:
            found.append((start, end))
    return found


def _stretches_of(recurring: RecurringWindow) -> tuple[tuple[timedelta, timedelta], ...]:
    times = recurring.rule.part.times if recurring.rule.part is not None else (0,)
    found: list[tuple[timedelta, timedelta]] = []
    for second in times:
        start = timedelta(seconds=second)
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], start + recurring.length)
        else:
            found.append((start, start + recurring.length))
    return tuple(found)


def _recurrences(
    recurring: RecurringWindow,
    stretches: tuple[tuple[timedelta, timedelta], ...],
    between: LocalWindow,
    budget: SearchBudget,
) -> Iterator[LocalWindow]:
    """Yield the windows of a rule between two local times, and possibly a few outside."""
    rule, part = recurring.rule, recurring.rule.part
    low, high = to_wall_seconds(between[0] - recurring.length), to_wall_seconds(between[1])
    yield from _one_by_one(recurring, rule.dates[bisect_left(rule.dates, low) :], high)
    if part is None:
        return
    first = max(low, part.start)
    horizon = max(0, (high - first) // DAY_S + 1)
    if part.positions or part.freq.is_sub_daily:
        times = iterate_times(part, first, horizon=horizon, budget=budget)
        yield from _one_by_one(recurring, times, high)
        return
    uneven = _uneven_days(rule, part)
    for number in iterate_days(part, first // DAY_S + EPOCH_DAY, horizon=horizon, budget=budget):
        day = number - EPOCH_DAY
        if day in uneven:
            yield from _one_by_one(recurring, (day * DAY_S + time_s for time_s in part.times), high)
            continue
        if part.until is not None and day * DAY_S > part.until:
            return
        if day not in rule.excluded_days:
            midnight = from_wall_seconds(day * DAY_S)
            for start, end in stretches:
                yield midnight + start, midnight + end


def _uneven_days(rule: Rrule, part: RrulePart) -> frozenset[int]:
    """Return the days on which some times may be excluded."""
    ends = () if part.until is None else (part.until,)
    return frozenset(local // DAY_S for local in (part.start, *ends, *rule.excluded))


def _one_by_one(
    recurring: RecurringWindow, times: Iterable[int], high: int
) -> Iterator[LocalWindow]:
    """Yield the windows that start at these local times, except those that the rule excludes."""
    rule, part = recurring.rule, recurring.rule.part
    for local in times:
        if local >= high:
            return
        is_before = part is not None and local < part.start and local not in rule.dates
        is_after = part is not None and part.until is not None and local > part.until
        if is_before or (is_after and local not in rule.dates):
            continue
        if local not in rule.excluded and local // DAY_S not in rule.excluded_days:
            start = from_wall_seconds(local)
            yield start, start + recurring.length


def compute_part(windows: LocalWindows, zone: ZoneInfo, number: int) -> CalendarPart:
    """Compute the windows that overlap one part of time."""
    first = EPOCH + number * windows.part_length
    last = first + windows.part_length
    low, high = _local_bounds(zone, first, last)
    budget = SearchBudget(NEXT_TICK_STEPS_MAX)
    edges = _Edges(zone)
    found = merge_windows(
        (edges.instant(start, DstOverlap.FIRST), edges.instant(end, DstOverlap.SECOND))
        for start, end in windows.find_between(low, high, budget)
    )
    starts, ends = tuple(start for start, _ in found), tuple(end for _, end in found)
    return CalendarPart(first, last, starts, ends, budget.spent)


def _local_bounds(zone: ZoneInfo, first: datetime, last: datetime) -> LocalWindow:
    """Return local bounds for all windows that overlap first <= instant < last."""
    moment, end = (first - EPOCH) // SECOND, (last - EPOCH) // SECOND
    offsets: set[int] = set()
    while moment <= end:
        span = span_at(zone, moment)
        offsets |= {span.before, span.offset, span.after}
        moment = span.end
    # When the clock is set back, an instant in a window may have a local time before its start.
    spread = timedelta(seconds=max(offsets) - min(offsets) + 1)
    low = first.replace(tzinfo=None) + timedelta(seconds=min(offsets)) - spread
    return low, last.replace(tzinfo=None) + timedelta(seconds=max(offsets)) + spread


class _Edges:
    """Converts the edges of windows to instants. Edges come in order, so most of them are in the
    same span of constant offset as the previous one.
    """

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        self._from = self._to = EPOCH_LOCAL
        self._offset = timedelta(0)

    def instant(self, local: datetime, overlap: DstOverlap) -> datetime:
        """Convert one edge. If its local time occurs twice, the choice makes the blackout longer;
        in a gap, the edge is the instant of the jump.
        """
        if self._from <= local < self._to:
            return (local - self._offset).replace(tzinfo=UTC)
        at = zones.resolve_local_time(local, self._zone, gap=DstGap.RUN_AFTER, overlap=overlap)[
            0
        ].at
        span = span_at(self._zone, (at - EPOCH) // SECOND)
        self._offset = timedelta(seconds=span.offset)
        self._from = EPOCH_LOCAL + timedelta(seconds=span.calm_from + span.offset)
        self._to = EPOCH_LOCAL + timedelta(seconds=span.calm_to + span.offset)
        return at
