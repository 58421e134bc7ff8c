"""Computes which days of a month match, for every possible month shape.

A month has one of 28 shapes: its length (28 to 31) and the weekday of its first day. For each shape
the day-of-month and day-of-week fields reduce to one 31-bit mask. The search therefore never tests
single days, and a few masks tell whether an expression can ever fire. This module does not handle
times of day, sequences of years or zones.
"""

from typing import assert_never

from rota.core.time.cron.fields import (
    FieldValue,
    FromEnd,
    LastWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    SpecialPart,
    ValueRange,
)

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
