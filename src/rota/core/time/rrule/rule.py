"""A recurrence rule that was read.

Room: core/time/rrule. Values, made by text.py, searched by days.py and search.py, put in words by
describe.py. All local times are seconds since 1970 on the wall clock of the schedule's zone.
"""

from dataclasses import dataclass
from enum import IntEnum


class Freq(IntEnum):
    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3
    HOURLY = 4
    MINUTELY = 5
    SECONDLY = 6

    @property
    def sub_daily(self) -> bool:
        return self >= Freq.HOURLY


# Seconds in one period of the frequencies that count seconds and not dates.
UNIT = {Freq.HOURLY: 3600, Freq.MINUTELY: 60, Freq.SECONDLY: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One RRULE line, with everything that the RFC takes from DTSTART filled in.

    Empty means "any". `weekdays` counts from Monday = 0; `nth` holds (n, weekday) of the month or
    year. `times` are the seconds of the day at which a matching day runs; the sub-daily
    frequencies use `hours`, `minutes` and `seconds` instead. `until` includes its second; a COUNT
    was turned into the `until` of the last one. `given` names the parts that were written.
    """

    freq: Freq
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
    given: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rrule:
    """The union of `part` and `dates`, without what is in `excluded` or on `excluded_days`.

    `text` is the canonical text: DTSTART first, all times local, names in capitals.
    """

    text: str
    start: int
    part: Part | None
    dates: tuple[int, ...]
    excluded: frozenset[int]
    excluded_days: frozenset[int]

    @property
    def interval_like(self) -> bool:
        """Whether it follows elapsed time at a change of clocks, as hourly rules do."""
        return self.part is not None and self.part.freq.sub_daily
