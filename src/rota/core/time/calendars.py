"""Named calendars: the times in which nothing may start.

Room: core/time. A calendar is a zone and four kinds of windows on its wall clock: dated ranges
(single days among them), a part of every week, a day of every year, and what an RRULE starts. The
question is always the same, "is this instant inside, and until when?". So the windows of a part of
time are worked out once, merged (calendar_windows.py), and then found by bisection. What happens to
a tick that is inside is planning.py; documents and iCalendar
files are contract/calendar.py and contract/ics.py.
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
    LocalWindows,
    Range,
    Recurring,
    Weekly,
    Yearly,
    part_of_time,
)

__all__ = ["DAY", "WEEK", "Blackout", "Calendar", "Range", "Recurring", "Weekly", "Yearly"]

STEP = timedelta(microseconds=1)
# Blackouts that touch are taken together, this far; a calendar may well cover everything.
JOINED = timedelta(days=8 * 366)
# Parts of time that a calendar remembers. A year with few windows is one part.
PARTS_KEPT_MAX: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Blackout:
    """start <= instant < end, and the calendars that say so."""

    start: datetime
    end: datetime
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """`parts` keeps what was worked out; it can be lost without harm."""

    name: str
    timezone: str = "UTC"
    ranges: tuple[Range, ...] = ()
    weekly: tuple[Weekly, ...] = ()
    yearly: tuple[Yearly, ...] = ()
    recurring: tuple[Recurring, ...] = ()
    parts: dict[int, CalendarPart] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    windows: LocalWindows = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        windows = LocalWindows(self.ranges, self.weekly, self.yearly, self.recurring)
        object.__setattr__(self, "windows", windows)

    def covers(self, instant: datetime, budget: SearchBudget | None = None) -> Blackout | None:
        """The blackout that holds this instant, if there is one."""
        found = self.find(instant, budget)
        return None if found is None else Blackout(start=found[0], end=found[1], name=self.name)

    def find(
        self, instant: datetime, budget: SearchBudget | None = None
    ) -> tuple[datetime, datetime, bool] | None:
        """Where the blackout that holds this instant begins and ends, and whether that is all of
        it: another part of time may have windows that touch it.
        """
        part = self.part_at(instant, budget)
        place = bisect_right(part.starts, instant) - 1
        if place < 0 or instant >= part.ends[place]:
            return None
        start, end = part.starts[place], part.ends[place]
        return start, end, part.first < start and end < part.last

    def part_at(self, instant: datetime, budget: SearchBudget | None = None) -> CalendarPart:
        """The part of time around an instant, with the windows in it."""
        number = self.windows.number_of(instant)
        part = self.parts.get(number)
        if part is None:
            part = part_of_time(self.windows, zones.zone(self.timezone), number)
            if len(self.parts) >= PARTS_KEPT_MAX:
                self.parts.clear()
            self.parts[number] = part
        if budget is not None:
            budget.visit((id(self), number), part.steps)
        return part


def blackout_at(
    calendars: Iterable[Calendar], instant: datetime, budget: SearchBudget | None = None
) -> Blackout | None:
    """The blackout that holds this instant in any of the calendars, with all that touch it."""
    calendars = tuple(calendars)
    found = _covered(calendars, instant, budget)
    if found is None:
        return None
    start, end, is_whole, name = found
    if is_whole and len(calendars) == 1:
        return Blackout(start=start, end=end, name=name)
    names = [name]
    while end - instant < JOINED and (later := _covered(calendars, end, budget)) is not None:
        end = later[1]
        names.append(later[3])
    while (
        instant - start < JOINED
        and (before := _covered(calendars, start - STEP, budget)) is not None
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
        found = calendar.find(instant, budget)
        if found is not None:
            return (*found, calendar.name)
    return None
