"""Holds a parsed recurrence rule.

syntax.py creates it, days.py and search.py search it, description.py describes it. All local times
are wall-clock seconds since 1970 in the schedule's zone.
"""

from dataclasses import dataclass
from enum import IntEnum


class RruleFrequency(IntEnum):
    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3
    HOURLY = 4
    MINUTELY = 5
    SECONDLY = 6

    @property
    def is_sub_daily(self) -> bool:
        return self >= RruleFrequency.HOURLY


# Seconds in one period of the frequencies that count seconds and not dates.
PERIOD_SECONDS = {
    RruleFrequency.HOURLY: 3600,
    RruleFrequency.MINUTELY: 60,
    RruleFrequency.SECONDLY: 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RrulePart:
    """One RRULE line, with missing parts filled in from DTSTART as the RFC defines.

    Empty means "any". `weekdays` counts from Monday = 0; `nth` holds (n, weekday) of the month or
    year. `times` are the seconds of the day at which a matching day runs; sub-daily frequencies use
    `hours`, `minutes` and `seconds` instead. `until` is inclusive; a COUNT is converted to the
    `until` of its last occurrence. `given` holds the names of the parts in the text.
    """

    freq: RruleFrequency
    interval: int
    start: int
    until: int | None
    months: frozenset[int]
    month_days: frozenset[int]
    year_days: frozenset[int]
    week_nos: frozenset[int]
    weekdays: frozenset[int]
    nth: frozenset[tuple[int, int]]
    positions: tuple[int, ...]
    week_start: int
    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...]
    times: tuple[int, ...]
    given_parts: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rrule:
    """The union of `part` and `dates`, without `excluded` times and `excluded_days`.

    `text` is the canonical text: DTSTART first, all times local, names in upper case.
    """

    text: str
    start: int
    part: RrulePart | None
    dates: tuple[int, ...]
    excluded: frozenset[int]
    excluded_days: frozenset[int]

    @property
    def interval_like(self) -> bool:
        """Whether it follows elapsed time at a clock change, as hourly rules do."""
        return self.part is not None and self.part.freq.is_sub_daily
