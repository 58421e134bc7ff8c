"""Defines named calendars: the blackouts during which no run may start.

A calendar has a zone and four kinds of windows on its wall clock: dated ranges (including single
days), a part of every week, a day of every year, and windows that an RRULE starts. A lookup asks
whether an instant is inside a window, and until when. The windows of one part of time are computed
and merged once (calendar_windows.py), and bisection then finds them. planning.py decides what
happens to a tick inside; contract/calendar.py and contract/ics.py read documents and iCalendar
files.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from rota.core.time import zones
from rota.core.time.budget import SearchBudget
from rota.core.time.calendar_windows import (
    DAY,
    WEEK,
    CalendarPart,
    DateRange,
    LocalWindows,
    RecurringWindow,
    WeeklyWindow,
    YearlyDay,
    compute_part,
)

__all__ = [
    "DAY",
    "WEEK",
    "Blackout",
    "Calendar",
    "DateRange",
    "RecurringWindow",
    "WeeklyWindow",
    "YearlyDay",
]

MICROSECOND = timedelta(microseconds=1)
# Adjacent blackouts are joined up to this length; a calendar may cover all time.
JOINED_BLACKOUT_MAX = timedelta(days=8 * 366)
# Parts of time that a calendar caches. A year with few windows is one part.
CACHED_PARTS_MAX: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Blackout:
    """A blackout with start <= instant < end, and the names of its calendars."""

    start: datetime
    end: datetime
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """A named calendar. `parts` is a cache of computed windows."""

    name: str
    timezone: str = "UTC"
    ranges: tuple[DateRange, ...] = ()
    weekly: tuple[WeeklyWindow, ...] = ()
    yearly: tuple[YearlyDay, ...] = ()
    recurring: tuple[RecurringWindow, ...] = ()
    parts: dict[int, CalendarPart] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    windows: LocalWindows = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        windows = LocalWindows(self.ranges, self.weekly, self.yearly, self.recurring)
        object.__setattr__(self, "windows", windows)

    def find_covering(
        self, instant: datetime, budget: SearchBudget | None = None
    ) -> Blackout | None:
        """Return the blackout that contains this instant, if any."""
        found = self.find_window(instant, budget)
        return None if found is None else Blackout(start=found[0], end=found[1], name=self.name)

    def find_window(
        self, instant: datetime, budget: SearchBudget | None = None
    ) -> tuple[datetime, datetime, bool] | None:
        """Return the start and end of the blackout that contains this instant, and whether it is
        complete: a window in the next part of time may continue it.
        """
        part = self.part_at(instant, budget)
        place = bisect_right(part.starts, instant) - 1
        if place < 0 or instant >= part.ends[place]:
            return None
        start, end = part.starts[place], part.ends[place]
        return start, end, part.first < start and end < part.last

    def part_at(self, instant: datetime, budget: SearchBudget | None = None) -> CalendarPart:
        """Return the part of time around an instant, with its windows."""
        number = self.windows.part_number(instant)
        part = self.parts.get(number)
        if part is None:
            part = compute_part(self.windows, zones.get_zone(self.timezone), number)
            if len(self.parts) >= CACHED_PARTS_MAX:
                self.parts.clear()
            self.parts[number] = part
        if budget is not None:
            budget.visit((id(self), number), part.steps)
        return part


def blackout_at(
    calendars: Iterable[Calendar], instant: datetime, budget: SearchBudget | None = None
) -> Blackout | None:
    """Return the blackout that contains this instant in any calendar, with adjacent ones joined."""
    calendars = tuple(calendars)
    found = _covered(calendars, instant, budget)
    if found is None:
        return None
    start, end, is_whole, name = found
    if is_whole and len(calendars) == 1:
        return Blackout(start=start, end=end, name=name)
    names = [name]
    while (
        end - instant < JOINED_BLACKOUT_MAX
        and (later := _covered(calendars, end, budget)) is not None
    ):
        end = later[1]
        names.append(later[3])
    while (
        instant - start < JOINED_BLACKOUT_MAX
        and (before := _covered(calendars, start - MICROSECOND, budget)) is not None
    ):
        start = before[0]
        names.append(before[3])
    return Blackout(start=start, end=end, name=", ".join(dict.fromkeys(names)))


def _covered(
    calendars: tuple[Calendar, ...], instant: datetime, budget: SearchBudget | None
) -> tuple[datetime, datetime, bool, str] | None:
    if budget is not None:
        budget.spend()
    for calendar in calendars:
        found = calendar.find_window(instant, budget)
        if found is not None:
            return (*found, calendar.name)
    return None
