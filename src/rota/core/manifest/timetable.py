"""Computes the next start times of a declared job."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Final

from rota.core.errors import SearchTooLong
from rota.core.time import moments, planning
from rota.core.time.budget import SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.schedule import MICROSECOND, Schedule

SHOWN_TIMES_MAX: Final = 3


def find_next_starts(
    schedule: Schedule,
    after: datetime,
    *,
    calendars: Mapping[str, Calendar],
    is_new: bool,
    budget: SearchBudget | None = None,
) -> tuple[datetime, ...]:
    """Return the next start times. For a job with a run cap that has already run, only the first
    one is known. Later times are omitted if the search needs more steps than `budget` has.
    """
    if not schedule.has_ticks:
        return ()
    budget = SearchBudget() if budget is None else budget
    first = planning.plan_next_tick(schedule, after, calendars=calendars, budget=budget)
    if first is None:
        return ()
    if schedule.follows_end or (schedule.window.max_runs is not None and not is_new):
        return (first.due_at,)
    found = [first.due_at]
    with suppress(SearchTooLong):
        ahead = planning.plan_ticks(
            schedule,
            first.tick.at,
            moments.LATEST_INSTANT,
            calendars=calendars,
            fired=1,
            budget=budget,
        )
        found += (planned.due_at for planned in islice(ahead, SHOWN_TIMES_MAX - 1))
    return tuple(found)


def find_existing_starts(
    schedule: Schedule | None,
    next_tick: datetime | None,
    *,
    calendars: Mapping[str, Calendar],
    budget: SearchBudget | None = None,
) -> tuple[datetime, ...]:
    """Return the next start times of an existing job, starting with its next tick."""
    if schedule is None or next_tick is None:
        return ()
    if schedule.follows_end:
        return (next_tick,)
    return find_next_starts(
        schedule, next_tick - MICROSECOND, calendars=calendars, is_new=False, budget=budget
    )
