"""Finds the next time of a recurrence rule.

Returns the first local time at or after a given one. The search starts at that time, not at
DTSTART, and stops at the horizon (days.py), so no rule is slow. python-dateutil iterates from
DTSTART to the year 9999, which takes seconds to minutes for a sub-daily or impossible rule.
zones.py converts local times to instants.
"""

from bisect import bisect_left
from collections.abc import Iterator
from datetime import date, datetime
from functools import partial
from zoneinfo import ZoneInfo

from rota.core.time import zones
from rota.core.time.budget import DAYS_PER_STEP, SearchBudget
from rota.core.time.rrule.days import (
    EPOCH_DAY,
    LAST_DAY,
    SEARCH_HORIZON_DAYS,
    iterate_days,
    iterate_period_days,
    iterate_periods,
    matches_day,
)
from rota.core.time.rrule.rule import PERIOD_SECONDS, Rrule, RruleFrequency, RrulePart
from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.zones import ELAPSED_TIME_RULES, DstRules

DAY_S = 86_400
HOUR_S = 3600


def find_next_tick(
    rule: Rrule,
    zone: ZoneInfo,
    after: datetime,
    *,
    gap: DstGap,
    overlap: DstOverlap,
    budget: SearchBudget | None = None,
) -> Tick | None:
    """Return the first tick with `at` > `after`. Sub-daily rules follow elapsed time."""
    rules = ELAPSED_TIME_RULES if rule.interval_like else DstRules(gap, overlap)
    return zones.next_tick(partial(find_next_local, rule, budget=budget), zone, after, rules)


def find_next_local(rule: Rrule, local: int, *, budget: SearchBudget | None = None) -> int | None:
    """Return the first local time of the rule at or after `local`."""
    while True:
        found = _next_included(rule, local, budget)
        if found is None:
            return None
        if found // DAY_S in rule.excluded_days:
            local = (found // DAY_S + 1) * DAY_S
        elif found in rule.excluded:
            local = found + 1
        else:
            return found


def _next_included(rule: Rrule, local: int, budget: SearchBudget | None) -> int | None:
    found = None if rule.part is None else find_next_of_part(rule.part, local, budget)
    place = bisect_left(rule.dates, local)
    if place == len(rule.dates):
        return found
    return rule.dates[place] if found is None else min(found, rule.dates[place])


def find_next_of_part(
    part: RrulePart, local: int, budget: SearchBudget | None = None
) -> int | None:
    """Return the first local time of one RRULE line at or after `local`."""
    if part.until is not None and local > part.until:
        return None
    found = next(iterate_times(part, local, budget=budget), None)
    return None if found is None or (part.until is not None and found > part.until) else found


def iterate_times(
    part: RrulePart,
    local: int,
    *,
    horizon: int = SEARCH_HORIZON_DAYS,
    budget: SearchBudget | None = None,
) -> Iterator[int]:
    """Iterate over the local times of one RRULE line from `local` on, ignoring UNTIL."""
    local = max(local, part.start)
    if part.freq.is_sub_daily:
        return _by_hours(part, local, horizon, budget)
    return (_by_position if part.positions else _by_days)(part, local, horizon, budget)


def _by_days(
    part: RrulePart, local: int, horizon: int, budget: SearchBudget | None
) -> Iterator[int]:
    first, second = local // DAY_S + EPOCH_DAY, local % DAY_S
    for day in iterate_days(part, first, horizon=horizon, budget=budget):
        place = bisect_left(part.times, second) if day == first else 0
        for time in part.times[place:]:
            yield (day - EPOCH_DAY) * DAY_S + time


def _by_position(
    part: RrulePart, local: int, horizon: int, budget: SearchBudget | None
) -> Iterator[int]:
    for period in iterate_periods(part, local // DAY_S + EPOCH_DAY, horizon=horizon):
        # Two positions, one from each end, may be the same item.
        for moment in sorted(set(_positioned(part, period, budget))):
            if moment >= local:
                yield moment


def _positioned(part: RrulePart, period: int, budget: SearchBudget | None) -> Iterator[int]:
    """Yield the times in one period that BYSETPOS selects."""
    days = list(iterate_period_days(part, period, budget))
    size = len(days) * len(part.times)
    for position in part.positions if days else ():
        place = position - 1 if position > 0 else size + position
        if 0 <= place < size:
            day, time = divmod(place, len(part.times))
            yield (days[day] - EPOCH_DAY) * DAY_S + part.times[time]


def _by_hours(
    part: RrulePart, local: int, horizon: int, budget: SearchBudget | None
) -> Iterator[int]:
    end = min(local // DAY_S + horizon, LAST_DAY - EPOCH_DAY)
    looked_at = 0
    while (day := (local := _into_period(part, local)) // DAY_S) <= end:
        looked_at += 1
        if budget is not None and looked_at % DAYS_PER_STEP == 0:
            budget.spend()
        if matches_day(part, date.fromordinal(day + EPOCH_DAY)):
            yield from _in_day(part, local, budget)
        local = (day + 1) * DAY_S


def _into_period(part: RrulePart, local: int) -> int:
    """Return `local`, or the start of the next hour, minute or second that INTERVAL allows."""
    unit = PERIOD_SECONDS[part.freq]
    step = part.interval * unit
    past = (local - part.start // unit * unit) % step
    return local if past < unit else local + step - past


def _in_day(part: RrulePart, local: int, budget: SearchBudget | None) -> Iterator[int]:
    """Yield the times from `local` to the end of its day, which is known to match."""
    day = local // DAY_S * DAY_S
    while (local := _into_period(part, local)) < day + DAY_S:
        if budget is not None:
            budget.spend()
        start = local // HOUR_S * HOUR_S
        place = bisect_left(part.hours, (start - day) // HOUR_S)
        if place == len(part.hours):
            return
        allowed = day + part.hours[place] * HOUR_S
        if allowed > start:
            local = allowed
            continue
        for second in IN_HOUR[part.freq](part, start, local - start):
            if start + second >= local:
                yield start + second
        local = start + HOUR_S


def _hourly(part: RrulePart, start: int, floor: int) -> Iterator[int]:
    """Yield the matching seconds of the hour at `start`, in order, from about `floor`."""
    if (start // HOUR_S - part.start // HOUR_S) % part.interval == 0:
        for minute in part.minutes[bisect_left(part.minutes, floor // 60) :]:
            yield from (minute * 60 + second for second in part.seconds)


def _minutely(part: RrulePart, start: int, floor: int) -> Iterator[int]:
    phase = (part.start // 60 - start // 60) % part.interval
    for minute in part.minutes[bisect_left(part.minutes, floor // 60) :]:
        if (minute - phase) % part.interval == 0:
            yield from (minute * 60 + second for second in part.seconds)


def _secondly(part: RrulePart, start: int, floor: int) -> Iterator[int]:
    phase = (part.start - start) % part.interval
    if HOUR_S // part.interval < len(part.minutes):  # fewer steps than minutes
        for past in range(phase, HOUR_S, part.interval):
            if past // 60 in part.minutes and past % 60 in part.seconds:
                yield past
        return
    for minute in part.minutes[bisect_left(part.minutes, floor // 60) :]:
        for second in range((phase - minute * 60) % part.interval, 60, part.interval):
            if second in part.seconds:
                yield minute * 60 + second


IN_HOUR = {
    RruleFrequency.HOURLY: _hourly,
    RruleFrequency.MINUTELY: _minutely,
    RruleFrequency.SECONDLY: _secondly,
}
