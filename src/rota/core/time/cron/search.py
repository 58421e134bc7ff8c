"""Finds the next local time that an expression names.

Plain calendar arithmetic on naive local seconds since 1970-01-01 00:00, with 86,400 seconds in
every day; `find_next_tick` applies the zone. The search never steps through minutes or days:
within a day and a month it finds the next set bit. The only loop runs over months, at most 400
years of them.

Computes the ticks of a cron expression in a zone.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time import zones
from rota.core.time.cron.expression import Cron
from rota.core.time.cron.fields import month_shape
from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.zones import ELAPSED_TIME_RULES, DstRules

DAY_S = 86_400
EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
# The Gregorian calendar repeats after 400 years: a day not found by then does not exist.
CALENDAR_CYCLE_YEARS = 400
# Leaves a margin to convert the result to any zone: datetime ends with the year 9999.
LAST_YEAR = 9997
LAST_DAY = date(LAST_YEAR, 12, 31).toordinal() - EPOCH_ORDINAL


def find_next_local(cron: Cron, start: int) -> int | None:
    """Return the first local second >= `start` that the expression names."""
    number, second = divmod(start, DAY_S)
    if number >= LAST_DAY:
        return None
    today = date.fromordinal(number + EPOCH_ORDINAL)
    days = _days_of(cron, today.year, today.month) >> (today.day - 1)
    if days & 1:
        time = _next_time(cron, second)
        if time is not None:
            return number * DAY_S + time
    days &= ~1
    if days:
        return (number + _lowest(days)) * DAY_S + _first_time(cron)
    ordinal = _day_after(cron, today.year, today.month)
    return None if ordinal is None else (ordinal - EPOCH_ORDINAL) * DAY_S + _first_time(cron)


def _first_time(cron: Cron) -> int:
    return cron.hour.lowest * 3600 + cron.minute.lowest * 60 + cron.second.lowest


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _days_of(cron: Cron, year: int, month: int) -> int:
    """Return the mask of the days that match in one month."""
    if not cron.month.mask >> (month - 1) & 1:
        return 0
    if cron.year is not None and not cron.year.contains(year):
        return 0
    return cron.day_masks[month_shape(year, month)]


def _day_after(cron: Cron, year: int, month: int) -> int | None:
    """Return the ordinal of the first matching day after this month."""
    for ahead in range(year, min(year + CALENDAR_CYCLE_YEARS, LAST_YEAR) + 1):
        if cron.year is not None and not cron.year.contains(ahead):
            continue
        months = cron.month.mask
        if ahead == year:
            months &= -1 << month
        while months:
            first = _lowest(months)
            days = cron.day_masks[month_shape(ahead, first + 1)]
            if days:
                return date(ahead, first + 1, _lowest(days) + 1).toordinal()
            months &= months - 1
    return None


def _next_time(cron: Cron, start: int) -> int | None:
    """Return the first matching second of the day >= `start`."""
    hour, rest = divmod(start, 3600)
    minute, second = divmod(rest, 60)
    hours = cron.hour.mask >> hour
    if hours & 1:
        minutes = cron.minute.mask >> minute
        seconds = cron.second.mask >> second
        if minutes & 1 and seconds:
            return start + _lowest(seconds)
        minutes &= ~1
        if minutes:
            return start - second + _lowest(minutes) * 60 + cron.second.lowest
    hours &= ~1
    if not hours:
        return None
    return start - rest + _lowest(hours) * 3600 + cron.minute.lowest * 60 + cron.second.lowest


def find_next_tick(
    cron: Cron,
    zone: ZoneInfo,
    after: datetime,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> Tick | None:
    """Return the first tick with `at` > `after`, or None. There are no ticks before 1970."""
    rules = ELAPSED_TIME_RULES if cron.interval_like else DstRules(gap, overlap)
    tick = zones.next_tick(partial(find_next_local, cron), zone, after, rules)
    # If a tick repeated, the scheduler would fire it forever; fail here instead.
    if tick is not None and tick.at <= after:
        wanted = f"expected a tick later than {after}"
        raise InvalidSchedule(field="cron", value=cron.text, wanted=wanted)
    return tick


def iterate_ticks(
    cron: Cron,
    zone: ZoneInfo,
    after: datetime,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> Iterator[Tick]:
    """Yield all ticks after `after`, in strictly ascending order of `at`."""
    tick = find_next_tick(cron, zone, after, gap=gap, overlap=overlap)
    while tick is not None:
        yield tick
        tick = find_next_tick(cron, zone, tick.at, gap=gap, overlap=overlap)


def fires_within(
    cron: Cron,
    zone: ZoneInfo,
    start: datetime,
    years: int = 8,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> bool:
    """Return whether a tick comes within `years`. Eight include a 29 February even around 2100."""
    tick = find_next_tick(cron, zone, start, gap=gap, overlap=overlap)
    return tick is not None and tick.at - start <= timedelta(days=366 * years)
