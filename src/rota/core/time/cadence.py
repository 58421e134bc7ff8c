"""How close together the ticks of a schedule come. Room: core/time.

Found by looking at the ticks that come next, of each rule and of all together: a rule that is dense
only on one day of the year is seen in its own ticks, however many another has before that day.
Calendars and jitter are left out, which move single ticks and not the cadence.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import Final

from rota.core.time.budget import CADENCE_STEPS_MAX, SearchBudget
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.schedule import Schedule, nominal

# Two hours of minutes: what is dense at all is dense within the first ticks.
LOOKED_AT: Final = 128


def shortest_period(
    schedule: Schedule, since: datetime, budget: SearchBudget | None = None
) -> timedelta | None:
    """The smallest time between two of the next ticks; None if there are not two. Of a fixed delay
    it is the delay, because a run may take no time at all.
    """
    budget = SearchBudget(CADENCE_STEPS_MAX) if budget is None else budget
    first = schedule.rules[0]
    if isinstance(first, EveryAfterEnd):
        return first.delay
    if len(schedule.rules) == 1:
        if isinstance(first, Every):
            return first.interval
        return _shortest(schedule, since, budget)
    alone = [replace(schedule, rules=(rule,)) for rule in schedule.rules]
    found = [_shortest(each, since, budget) for each in (*alone, schedule)]
    return min((each for each in found if each is not None), default=None)


def _shortest(schedule: Schedule, since: datetime, budget: SearchBudget) -> timedelta | None:
    ticks = islice(_ticks(schedule, since, budget), LOOKED_AT)
    return min((later - earlier for earlier, later in pairwise(ticks)), default=None)


def _ticks(schedule: Schedule, since: datetime, budget: SearchBudget) -> Iterator[datetime]:
    while (tick := nominal(schedule, since, budget=budget)) is not None:
        yield tick.at
        since = tick.at
