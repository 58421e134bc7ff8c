"""Counts the ticks of cron and interval rules without iterating over them.

A counter returns how many ticks of a rule lie before an instant, from the start of the span. The
difference of two counts is the number of ticks between two instants, so each part of a span costs
the same, whether a job fires in it once or three thousand times.

- Intervals are counted by arithmetic.
- A cron expression has the same pattern on every day that it names: the count before a time of day
  is a lookup in this pattern, plus the count for all earlier days. Between two changes of a zone's
  offset, local time runs like elapsed time, so the pattern applies to each such stretch. A clock
  change affects ticks as in zones.py; a test compares the two.

Instants are integer microseconds since 1970 (UTC) here, which are exact and fast.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from rota.core.time.cron import Cron
from rota.core.time.cron.fields import month_shape
from rota.core.time.cron.search import find_next_local
from rota.core.time.interval import EPOCH, Every
from rota.core.time.tick import DstGap, DstOverlap
from rota.core.time.zones import (
    DAY_S,
    ELAPSED_TIME_RULES,
    EPOCH_ORDINAL,
    DstRules,
    OffsetSpan,
    span_at,
)

MICROSECOND: Final = timedelta(microseconds=1)
SECOND_US: Final = 1_000_000
MINUTES_PER_DAY: Final = 1440


def to_microseconds(instant: datetime) -> int:
    """Convert an instant to microseconds since 1970."""
    return (instant - EPOCH) // MICROSECOND


class TickCounter(Protocol):
    """The ticks of one rule between two instants."""

    def count_before(self, instant: int) -> int:
        """Return the number of ticks before this instant."""

    def instants(self) -> Iterator[int]:
        """Yield each tick, in order."""


@dataclass(frozen=True, slots=True)
class IntervalCounter:
    """The ticks of an interval with low <= tick < high."""

    first: int
    interval: int
    high: int

    @classmethod
    def of(cls, rule: Every, low: int, high: int) -> "IntervalCounter":
        """Create the counter: find the first tick at or after `low`."""
        anchor, interval = to_microseconds(rule.anchor), rule.interval // MICROSECOND
        passed = max(0, -((anchor - low) // interval))
        return cls(first=anchor + passed * interval, interval=interval, high=high)

    def count_before(self, instant: int) -> int:
        """Return the number of ticks before this instant."""
        return max(0, -((self.first - min(instant, self.high)) // self.interval))

    def instants(self) -> Iterator[int]:
        """Yield each tick, in order."""
        return iter(range(self.first, self.high, self.interval))


@dataclass(frozen=True, slots=True)
class ListedCounter:
    """An explicit list of ticks, in order."""

    ticks: tuple[int, ...]

    def count_before(self, instant: int) -> int:
        """Return the number of ticks before this instant."""
        return bisect_left(self.ticks, instant)

    def instants(self) -> Iterator[int]:
        """Yield each tick, in order."""
        return iter(self.ticks)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Local times low <= t < high, in seconds, shown by a clock with this offset."""

    offset: int
    low: int
    high: int
    before_low: int


@dataclass(slots=True)
class CronCounter:
    """The ticks of a cron expression in a zone with low <= tick < high."""

    pattern: "_DayPattern"
    stretches: list[_Stretch] = field(default_factory=list)
    # When ticks run that the clock jumped over, in seconds.
    moved: list[int] = field(default_factory=list)

    def count_before(self, instant: int) -> int:
        """Return the number of ticks before this instant."""
        second = -(-instant // SECOND_US)
        number = bisect_left(self.moved, second) if self.moved else 0
        for stretch in self.stretches:
            local = min(second + stretch.offset, stretch.high)
            if local > stretch.low:
                number += self.pattern.count_before(local) - stretch.before_low
        return number

    def instants(self) -> Iterator[int]:
        """Yield each tick, in order."""
        found = list(self.moved)
        for stretch in self.stretches:
            local = find_next_local(self.pattern.cron, stretch.low)
            while local is not None and local < stretch.high:
                found.append(local - stretch.offset)
                local = find_next_local(self.pattern.cron, local + 1)
        return (second * SECOND_US for second in sorted(found))


def create_cron_counter(
    cron: Cron, zone: ZoneInfo, low: int, high: int, *, gap: DstGap, overlap: DstOverlap
) -> CronCounter:
    """Apply the pattern of an expression to the span low <= t < high."""
    rules = ELAPSED_TIME_RULES if cron.interval_like else DstRules(gap, overlap)
    start, end = max(0, -(-low // SECOND_US)), -(-high // SECOND_US)
    found = CronCounter(_DayPattern.of(cron, start - 2 * DAY_S, end + 2 * DAY_S))
    at = start
    while at < end:
        span = span_at(zone, at)
        stop = min(span.end, end)
        if at < span.start + span.offset - span.before:
            landings = _moved_ticks(found.pattern, span, rules.gap)
            found.moved += [tick for tick in landings if at <= tick < stop]
        first, last = at + span.offset, stop + span.offset
        if rules.overlap is DstOverlap.FIRST:
            first = max(first, span.start + span.before)
        elif rules.overlap is DstOverlap.SECOND:
            last = min(last, span.end + span.after)
        if first < last:
            before = found.pattern.count_before(first)
            found.stretches.append(_Stretch(span.offset, first, last, before))
        at = stop
    return found


def _moved_ticks(pattern: "_DayPattern", span: OffsetSpan, gap: DstGap) -> list[int]:
    """Return when ticks run that the clock jumped over, except where another tick runs anyway."""
    first, last = span.start + span.before, span.start + span.offset
    if gap is DstGap.SKIP or pattern.count_before(last) == pattern.count_before(first):
        return []
    if gap is DstGap.RUN_AFTER:
        return [] if pattern.holds(last) else [span.start]
    landings: list[int] = []
    local = find_next_local(pattern.cron, first)
    while local is not None and local < last:
        instant = local - span.before
        if not pattern.holds(instant + span.offset):
            landings.append(instant)
        local = find_next_local(pattern.cron, local + 1)
    return landings


@dataclass(slots=True)
class _DayPattern:
    """Which days of a span an expression names, and how many ticks of such a day lie before each
    minute.
    """

    cron: Cron
    first_day: int
    # The number of named days before each day of the span, plus one entry for the end.
    days_before: list[int]
    # The number of ticks before each minute of a named day, plus one entry for the end.
    minutes_before: tuple[int, ...]

    @classmethod
    def of(cls, cron: Cron, low: int, high: int) -> "_DayPattern":
        """Compute the days that overlap these local seconds."""
        first, last = low // DAY_S, -(-high // DAY_S)
        days = [0]
        for number in range(first, last):
            days.append(days[-1] + _is_named(cron, number))
        per_minute = cron.second.mask.bit_count()
        return cls(cron, first, days, _minutes_before(cron.hour.mask, cron.minute.mask, per_minute))

    def count_before(self, local: int) -> int:
        """Return the number of ticks before this local time, from the first day on."""
        day, second = divmod(local - self.first_day * DAY_S, DAY_S)
        named, minutes = self.days_before, self.minutes_before
        number = named[day] * minutes[MINUTES_PER_DAY]
        if second and named[day + 1] > named[day]:
            minute, rest = divmod(second, 60)
            number += minutes[minute]
            if rest and minutes[minute + 1] > minutes[minute]:
                number += (self.cron.second.mask & ((1 << rest) - 1)).bit_count()
        return number

    def holds(self, local: int) -> bool:
        """Return whether the expression names this local time."""
        return self.count_before(local + 1) > self.count_before(local)


@lru_cache(maxsize=256)
def _minutes_before(hours: int, minutes: int, per_minute: int) -> tuple[int, ...]:
    """Return the number of ticks before each minute of a day."""
    before = [0]
    for number in range(MINUTES_PER_DAY):
        hour, minute = divmod(number, 60)
        is_named = hours >> hour & minutes >> minute & 1
        before.append(before[-1] + (per_minute if is_named else 0))
    return tuple(before)


def _is_named(cron: Cron, number: int) -> bool:
    """Return whether the expression names a day, counted from 1970-01-01."""
    day = date.fromordinal(number + EPOCH_ORDINAL)
    if not cron.month.mask >> (day.month - 1) & 1:
        return False
    if cron.year is not None and not cron.year.contains(day.year):
        return False
    return bool(cron.day_masks[month_shape(day.year, day.month)] >> (day.day - 1) & 1)
