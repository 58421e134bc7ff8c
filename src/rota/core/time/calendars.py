"""Named calendars: the times in which nothing may start.

Room: core/time. A calendar is a zone and four kinds of windows on its wall clock: dated ranges
(single days among them), a part of every week, a day of every year, and what an RRULE starts. The
question is always the same, "is this instant inside, and until when?", so the windows of a year
are worked out once, as instants, merged, and then found by bisection. What happens to a tick that
is inside is planning.py; JSON is calendar_plain.py and iCalendar files are ics.py.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from rota.core.time import zones
from rota.core.time.rrule import Rrule
from rota.core.time.rrule.search import next_local
from rota.core.time.tick import DstGap, DstOverlap
from rota.core.time.walls import local_of, seconds_of

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
# No zone is further from UTC than this, so a UTC year is inside the local days around it.
MARGIN = 2 * DAY
STEP = timedelta(microseconds=1)
# Blackouts that touch are taken together, this far; a calendar may well cover everything.
JOINED = timedelta(days=8 * 366)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blackout:
    """start <= instant < end, and the calendars that say so."""

    start: datetime
    end: datetime
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """From one local time up to another, once."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Weekly:
    """A part of every week, as distances from Monday 00:00; past the week's end if it wraps."""

    start: timedelta
    end: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Yearly:
    """A day of every year that has it."""

    month: int
    day: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring:
    """As long as `length`, whenever the rule says."""

    rule: Rrule
    length: timedelta


Spans = tuple[tuple[datetime, datetime], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """`years` keeps what was worked out; it can be lost without harm."""

    name: str
    timezone: str = "UTC"
    ranges: tuple[Range, ...] = ()
    weekly: tuple[Weekly, ...] = ()
    yearly: tuple[Yearly, ...] = ()
    recurring: tuple[Recurring, ...] = ()
    years: dict[int, Spans] = field(default_factory=dict, init=False, compare=False, repr=False)

    def covers(self, instant: datetime) -> Blackout | None:
        """The blackout that holds this instant, if there is one."""
        year = instant.year
        spans = self.years.get(year)
        if spans is None:
            spans = self.years[year] = _spans(self, year)
        place = bisect_right(spans, instant, key=_start) - 1
        if place < 0 or instant >= spans[place][1]:
            return None
        return Blackout(start=spans[place][0], end=spans[place][1], name=self.name)


def blackout_at(calendars: Iterable[Calendar], instant: datetime) -> Blackout | None:
    """The blackout that holds this instant in any of the calendars, with all that touch it."""
    calendars = tuple(calendars)
    found = _covered(calendars, instant)
    if found is None:
        return None
    start, end, names = found.start, found.end, [found.name]
    while end - instant < JOINED and (later := _covered(calendars, end)) is not None:
        end = later.end
        names.append(later.name)
    while instant - start < JOINED and (before := _covered(calendars, start - STEP)) is not None:
        start = before.start
        names.append(before.name)
    return Blackout(start=start, end=end, name=", ".join(dict.fromkeys(names)))


def _covered(calendars: tuple[Calendar, ...], instant: datetime) -> Blackout | None:
    for calendar in calendars:
        found = calendar.covers(instant)
        if found is not None:
            return found
    return None


def _start(span: tuple[datetime, datetime]) -> datetime:
    return span[0]


def _spans(calendar: Calendar, year: int) -> Spans:
    """Everything that touches the year, as instants, in order, merged."""
    zone = zones.zone(calendar.timezone)
    first, last = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    low, high = first.replace(tzinfo=None) - MARGIN, last.replace(tzinfo=None) + MARGIN
    spans = sorted(
        (_edge(window.start, zone, DstOverlap.FIRST), _edge(window.end, zone, DstOverlap.SECOND))
        for window in _windows(calendar, low, high)
        if window.end > low and window.start < high
    )
    merged: list[tuple[datetime, datetime]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return tuple(merged)


def _edge(local: datetime, zone: ZoneInfo, overlap: DstOverlap) -> datetime:
    # An edge that comes twice is taken so that the blackout is the longer one; an edge in a gap is
    # where the clock jumps.
    return zones.instants(local, zone, gap=DstGap.RUN_AFTER, overlap=overlap)[0].at


def _windows(calendar: Calendar, low: datetime, high: datetime) -> Iterator[Range]:
    """The windows between two local times, and perhaps a few outside."""
    yield from calendar.ranges
    monday = datetime.combine(low.date() - timedelta(days=low.weekday()), time()) - WEEK
    while calendar.weekly and monday < high:
        for weekly in calendar.weekly:
            yield Range(start=monday + weekly.start, end=monday + weekly.end)
        monday += WEEK
    for year in range(low.year, high.year + 1):
        for yearly in calendar.yearly:
            if (yearly.month, yearly.day) != (2, 29) or _leap(year):
                start = datetime.combine(date(year, yearly.month, yearly.day), time())
                yield Range(start=start, end=start + DAY)
    for recurring in calendar.recurring:
        yield from _recurrences(recurring, low, high)


def _leap(year: int) -> bool:
    return (date(year, 3, 1) - date(year, 2, 1)).days == 29


def _recurrences(recurring: Recurring, low: datetime, high: datetime) -> Iterator[Range]:
    local: int | None = seconds_of(low - recurring.length)
    while local is not None:
        local = next_local(recurring.rule, local)
        if local is None or local_of(local) >= high:
            return
        yield Range(start=local_of(local), end=local_of(local) + recurring.length)
        local += 1
