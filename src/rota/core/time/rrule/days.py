"""Finds the days that match a recurrence rule.

Every BY part that names days is a test of one date, and a day matches when all tests pass. This
implements the table of RFC 5545, 3.3.10, without its nine by seven cells. Periods (years, months,
weeks, days) are numbered, so INTERVAL is a remainder and the search can start anywhere. This module
does not handle times of day.
"""

from calendar import isleap, monthrange
from collections.abc import Iterator
from datetime import date

from rota.core.time.budget import DAYS_PER_STEP, SearchBudget
from rota.core.time.rrule.rule import RruleFrequency, RrulePart

EPOCH_DAY = date(1970, 1, 1).toordinal()
# A rule without a matching day in this time has ended; includes a 29 February around 2100.
SEARCH_HORIZON_DAYS = 8 * 366
LAST_DAY = date(9990, 1, 1).toordinal()


def iterate_days(
    part: RrulePart,
    first: int,
    *,
    horizon: int = SEARCH_HORIZON_DAYS,
    budget: SearchBudget | None = None,
) -> Iterator[int]:
    """Yield the matching days (proleptic ordinals) from `first` to the horizon, in order."""
    looked_at = 0
    for period in iterate_periods(part, first, horizon=horizon):
        for span in _spans(part, period):
            for day in range(max(first, span.start), span.stop):
                looked_at += 1
                if looked_at == DAYS_PER_STEP:
                    looked_at = 0
                    if budget is not None:
                        budget.spend()
                if matches_day(part, date.fromordinal(day)):
                    yield day


def iterate_periods(
    part: RrulePart, first: int, *, horizon: int = SEARCH_HORIZON_DAYS
) -> Iterator[int]:
    """Iterate over the numbers of the matching periods, starting with the one of day `first`."""
    period = period_number(part, first)
    # Python's remainder is never negative, so this advances to the next matching period.
    period += (period_number(part, part.start // 86_400 + EPOCH_DAY) - period) % part.interval
    last = period_number(part, min(first + horizon, LAST_DAY))
    return iter(range(period, last + 1, part.interval))


def period_number(part: RrulePart, day: int) -> int:
    """Return the number of the period that contains this day."""
    if part.freq is RruleFrequency.YEARLY:
        return date.fromordinal(day).year
    if part.freq is RruleFrequency.MONTHLY:
        moment = date.fromordinal(day)
        return moment.year * 12 + moment.month - 1
    if part.freq is RruleFrequency.WEEKLY:
        return (day - 1 - part.week_start) // 7
    return day


def iterate_period_days(
    part: RrulePart, period: int, budget: SearchBudget | None = None
) -> Iterator[int]:
    """Yield the matching days of one period, in order."""
    for span in _spans(part, period):
        if budget is not None:
            budget.spend(1 + len(span) // DAYS_PER_STEP)
        for day in span:
            if matches_day(part, date.fromordinal(day)):
                yield day


def _spans(part: RrulePart, period: int) -> list[range]:
    """Return the ranges of days in a period that can match."""
    if part.freq is RruleFrequency.YEARLY:
        if part.months:
            return [_month(period, month) for month in sorted(part.months)]
        return [range(date(period, 1, 1).toordinal(), date(period + 1, 1, 1).toordinal())]
    if part.freq is RruleFrequency.MONTHLY:
        year, month = divmod(period, 12)
        return [_month(year, month + 1)]
    if part.freq is RruleFrequency.WEEKLY:
        start = period * 7 + 1 + part.week_start
        return [range(start, start + 7)]
    return [range(period, period + 1)]


def _month(year: int, month: int) -> range:
    start = date(year, month, 1).toordinal()
    return range(start, start + monthrange(year, month)[1])


def matches_day(part: RrulePart, day: date) -> bool:
    """Return whether every BY part that names days matches this day."""
    if part.months and day.month not in part.months:
        return False
    if (part.weekdays or part.nth) and not _weekday_matches(part, day):
        return False
    if part.month_days and day.day not in part.month_days:
        from_end = day.day - monthrange(day.year, day.month)[1] - 1
        if from_end not in part.month_days:
            return False
    if part.year_days and not _year_day_matches(part, day):
        return False
    return not part.week_nos or _week_matches(part, day)


def _weekday_matches(part: RrulePart, day: date) -> bool:
    weekday = day.weekday()
    if weekday in part.weekdays:
        return True
    if not part.nth:
        return False
    if part.freq is RruleFrequency.YEARLY and not part.months:
        place, length = _place_in_year(day)
    else:
        place, length = day.day, monthrange(day.year, day.month)[1]
    from_front, from_end = (place - 1) // 7 + 1, -((length - place) // 7 + 1)
    return (from_front, weekday) in part.nth or (from_end, weekday) in part.nth


def _year_day_matches(part: RrulePart, day: date) -> bool:
    place, length = _place_in_year(day)
    return place in part.year_days or place - length - 1 in part.year_days


def _week_matches(part: RrulePart, day: date) -> bool:
    # A week belongs to the year of its fourth day, so week 1 has at least four days in its year.
    middle = date.fromordinal(day.toordinal() - (day.weekday() - part.week_start) % 7 + 3)
    place, length = _place_in_year(middle)
    number, from_end = (place - 1) // 7 + 1, -((length - place) // 7 + 1)
    return number in part.week_nos or from_end in part.week_nos


def _place_in_year(day: date) -> tuple[int, int]:
    """Return the number of the day in its year, and the length of the year."""
    return day.toordinal() - date(day.year, 1, 1).toordinal() + 1, 365 + isleap(day.year)
