"""Defines the fields of a cron expression: their ranges, names and the parts they may contain.

syntax.py parses them. Computes which days of a month match, for every possible month shape.
"""

from dataclasses import dataclass
from typing import assert_never

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True, eq=False)
class CronField:
    """A kind of field. `top` is the highest number accepted: 7 is Sunday, like 0."""

    name: str
    low: int
    high: int
    top: int
    names: dict[str, int]
    wraps: bool = False

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def allowed_values(self) -> str:
        names = f" or {next(iter(self.names))}–{list(self.names)[-1]}" if self.names else ""
        return f"{self.low}–{self.top}{names}"


SECOND = CronField("second", 0, 59, 59, {})
MINUTE = CronField("minute", 0, 59, 59, {})
HOUR = CronField("hour", 0, 23, 23, {}, wraps=True)
DAY = CronField("day-of-month", 1, 31, 31, {})
MONTH = CronField("month", 1, 12, 12, {name: i + 1 for i, name in enumerate(MONTHS)}, wraps=True)
WEEKDAY = CronField(
    "day-of-week", 0, 6, 7, {name: i for i, name in enumerate(WEEKDAYS)}, wraps=True
)
YEAR = CronField("year", 1970, 2199, 2199, {})


@dataclass(frozen=True, slots=True)
class ValueRange:
    """From `first` to `last` by `step`, wrapping around where `last` < `first`."""

    first: int
    last: int
    step: int = 1


@dataclass(frozen=True, slots=True)
class FromEnd:
    """`L` and `L-3`: a number of days before the last day of the month."""

    back: int


@dataclass(frozen=True, slots=True)
class LastWorkday:
    """`LW`: the last Monday-to-Friday of the month."""


@dataclass(frozen=True, slots=True)
class NearestWorkday:
    """`15W`: the Monday-to-Friday nearest to that day, in the same month."""

    day: int


@dataclass(frozen=True, slots=True)
class LastWeekday:
    """`5L` and `FRIL`: the last such weekday of the month."""

    weekday: int


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """`5#3` and `FRI#3`: the nth such weekday of the month."""

    weekday: int
    nth: int


SpecialPart = FromEnd | LastWorkday | NearestWorkday | LastWeekday | NthWeekday
CronPart = ValueRange | SpecialPart


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A parsed field.

    `mask` has bit v - low set for each plain value v that matches; `lowest` is the index of the
    lowest set bit. `star` means that the text starts with a star, `even` that it is `*`, `*/n` or
    `H/n`.
    """

    field: CronField
    parts: tuple[CronPart, ...]
    mask: int
    lowest: int
    has_star: bool
    is_even: bool

    def contains(self, value: int) -> bool:
        return value >= self.field.low and bool(self.mask >> (value - self.field.low) & 1)

    @property
    def is_full(self) -> bool:
        return self.mask == (1 << self.field.size) - 1

    @property
    def values(self) -> tuple[int, ...]:
        low = self.field.low
        return tuple(v for v in range(low, self.field.high + 1) if self.mask >> (v - low) & 1)


MONTH_DAYS_MIN, MONTH_DAYS_MAX = 28, 31
SATURDAY, SUNDAY = 6, 0
COMMON_YEAR_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LEAP_YEAR_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Five weeks of seven days: a mask of one week times this is the mask of a month.
WEEKS_MASK = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28


def _calendar(lengths: tuple[int, ...], first: int) -> tuple[int, ...]:
    """Return the shapes of the twelve months of a year that starts on weekday `first`."""
    return tuple(
        (length - MONTH_DAYS_MIN) * 7 + (first + sum(lengths[:month])) % 7
        for month, length in enumerate(lengths)
    )


# All possible years: common years by the weekday of 1 January, then leap years.
YEAR_CALENDARS = tuple(
    _calendar(lengths, first)
    for lengths in (COMMON_YEAR_MONTHS, LEAP_YEAR_MONTHS)
    for first in range(7)
)

DayMasks = tuple[int, ...]


def month_shape(year: int, month: int) -> int:
    """Return the index of this month in the masks."""
    return YEAR_CALENDARS[_calendar_of(year)][month - 1]


def _calendar_of(year: int) -> int:
    past = year - 1
    first = (past + past // 4 - past // 100 + past // 400 + 1) % 7
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return first + 7 if leap else first


def compute_day_masks(days: FieldValue, weekdays: FieldValue, *, either: bool) -> DayMasks:
    """Return a mask per shape (bit 0 is the 1st): days that match both fields, or `either`."""
    special_days = [part for part in days.parts if not isinstance(part, ValueRange)]
    special_weekdays = [part for part in weekdays.parts if not isinstance(part, ValueRange)]
    weekly = [_weekly(weekdays.mask, first) for first in range(7)]
    masks = []
    for length in range(MONTH_DAYS_MIN, MONTH_DAYS_MAX + 1):
        whole = (1 << length) - 1
        for first in range(7):
            by_day, by_weekday = days.mask, weekly[first]
            if special_days:
                by_day |= _special(special_days, length, first)
            if special_weekdays:
                by_weekday |= _special(special_weekdays, length, first)
            masks.append((by_day | by_weekday if either else by_day & by_weekday) & whole)
    return tuple(masks)


def _weekly(weekdays: int, first: int) -> int:
    """Return the days that fall on one of the weekdays, in a month that starts on `first`."""
    week = (weekdays >> first) | (weekdays << (7 - first) & 0b1111111)
    return week * WEEKS_MASK


def _special(parts: list[SpecialPart], length: int, first: int) -> int:
    mask = 0
    for part in parts:
        day = _special_day(part, length, first)
        if 1 <= day <= length:
            mask |= 1 << (day - 1)
    return mask


def _special_day(part: SpecialPart, length: int, first: int) -> int:
    """Return the day of the month that the part names; a day outside the month if none matches."""
    match part:
        case FromEnd(back=back):
            return length - back
        case LastWorkday():
            return _nearest_workday(length, length, first)
        case NearestWorkday(day=day):
            return _nearest_workday(day, length, first) if day <= length else 0
        case NthWeekday(weekday=weekday, nth=nth):
            return (weekday - first) % 7 + 1 + 7 * (nth - 1)
        case LastWeekday(weekday=weekday):
            return length - (first + length - 1 - weekday) % 7
        case _:
            assert_never(part)


def _nearest_workday(day: int, length: int, first: int) -> int:
    weekday = (first + day - 1) % 7
    if weekday == SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == SUNDAY:
        return day + 1 if day < length else day - 2
    return day


def can_fire(masks: DayMasks, months: tuple[int, ...], years: tuple[int, ...] | None) -> bool:
    """Return whether any day ever matches: 400 years contain all fourteen yearly calendars."""
    kinds = range(len(YEAR_CALENDARS)) if years is None else {_calendar_of(year) for year in years}
    return any(masks[YEAR_CALENDARS[kind][month - 1]] for kind in kinds for month in months)
