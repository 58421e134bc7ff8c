"""Finds the shortest time between two ticks of a schedule.

Looks at the next ticks of each rule and of all rules together. A rule that is dense on one day of
the year only is detected in its own ticks, even if another rule has many ticks before that day.
Calendars and jitter are ignored: they move single ticks and do not change the cadence.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import Final

from rota.core.time.budget import CADENCE_STEPS_MAX, SearchBudget
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.schedule import Schedule, next_nominal_tick

# Two hours of minutes: a dense schedule is dense within its first ticks.
CADENCE_TICKS_MAX: Final = 128


def find_shortest_period(
    schedule: Schedule, since: datetime, budget: SearchBudget | None = None
) -> timedelta | None:
    """Return the shortest time between two of the next ticks; None if there are fewer than two.

    For a fixed delay the result is the delay, because a run may take no time at all.
    """
    budget = SearchBudget(CADENCE_STEPS_MAX) if budget is None else budget
    first = schedule.rules[0]
    if isinstance(first, EveryAfterEnd):
        return first.delay
    if len(schedule.rules) == 1:
        if isinstance(first, Every):
            return first.interval
        return _shortest(schedule, since, budget)
    single = [replace(schedule, rules=(rule,)) for rule in schedule.rules]
    periods = [_shortest(candidate, since, budget) for candidate in (*single, schedule)]
    return min((period for period in periods if period is not None), default=None)


def _shortest(schedule: Schedule, since: datetime, budget: SearchBudget) -> timedelta | None:
    ticks = islice(_ticks(schedule, since, budget), CADENCE_TICKS_MAX)
    return min((later - earlier for earlier, later in pairwise(ticks)), default=None)


def _ticks(schedule: Schedule, since: datetime, budget: SearchBudget) -> Iterator[datetime]:
    while (tick := next_nominal_tick(schedule, since, budget=budget)) is not None:
        yield tick.at
        since = tick.at
