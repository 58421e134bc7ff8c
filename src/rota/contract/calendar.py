"""Reads and writes calendars: windows of time in which no run starts.

Input and storage have the same form: `read_calendar` reads input, `read_stored_calendar` reads the
database, and `write_calendar` writes the canonical form. Windows are wall-clock times in the
calendar's time zone, so they have no offset.

    {"name": "de-holidays", "timezone": "Europe/Berlin",
     "dates": ["2026-04-03"],
     "ranges": [{"start": "2026-12-24T12:00:00", "end": "2026-12-26"}],
     "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}],
     "yearly": ["12-25"],
     "recurring": [{"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "length": "PT3H"}]}
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED_KEY, describe_type, read_input, read_stored
from rota.contract.schedule_fields import RuleText
from rota.contract.times import SECOND, Duration
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.time import durations, rrule, zones
from rota.core.time.calendars import (
    DAY,
    WEEK,
    Calendar,
    DateRange,
    RecurringWindow,
    WeeklyWindow,
    YearlyDay,
)

CALENDAR_NAME_CHARACTERS_MAX: Final = 200
# Longer windows must be written as ranges, so that a year has a bounded number of windows.
RECURRING_LENGTH_MAX: Final = timedelta(days=31)
RECURRENCES_PER_DAY_MAX: Final = 24
WINDOW_FIELDS: Final = ("dates", "ranges", "weekly", "yearly", "recurring")
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
TIME_IN_WEEK_PATTERN: Final = re.compile(
    r"(mon|tue|wed|thu|fri|sat|sun)[a-z]* ([01]\d|2[0-3]):([0-5]\d)"
)
DAY_IN_YEAR_PATTERN: Final = re.compile(r"(0[1-9]|1[0-2])-([0-3]\d)", re.ASCII)
LOCAL_TIME_PATTERN: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?", re.ASCII)
# An RRULE without a DTSTART counts from here; this only matters with INTERVAL.
RRULE_ORIGIN: Final = datetime(2000, 1, 1)  # noqa: DTZ001  a wall-clock time has no zone

NAME_ALLOWED: Final = f"text of 1 to {CALENDAR_NAME_CHARACTERS_MAX} characters"
DATE_ALLOWED: Final = "a date such as 2030-12-25"
LOCAL_ALLOWED: Final = (
    "a date or a local time without an offset, such as 2030-12-25 or 2030-12-24T12:00"
)
IN_WEEK_ALLOWED: Final = "a day and a time such as fri 18:00"
IN_YEAR_ALLOWED: Final = "a month and a day such as 12-25"
Date = Annotated[str, Meta(max_length=32, extra={ALLOWED_KEY: DATE_ALLOWED})]
LocalTime = Annotated[str, Meta(max_length=32, extra={ALLOWED_KEY: LOCAL_ALLOWED})]
TimeInWeek = Annotated[str, Meta(max_length=32, extra={ALLOWED_KEY: IN_WEEK_ALLOWED})]
DayInYear = Annotated[str, Meta(max_length=32, extra={ALLOWED_KEY: IN_YEAR_ALLOWED})]


class RangeDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A single period of local time."""

    start: Annotated[
        LocalTime, Meta(description="Start: a date, or a local time without an offset.")
    ]
    end: Annotated[
        LocalTime,
        Meta(description="End: a date, which is included in the range, or a local time."),
    ]


class WeeklyDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A period of every week."""

    start: Annotated[TimeInWeek, Meta(description="Start: a day and a time, such as `fri 18:00`.")]
    end: Annotated[TimeInWeek, Meta(description="End: a day and a time, such as `mon 06:00`.")]


class RecurringDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A window that starts at each time of a recurrence rule."""

    rrule: Annotated[
        RuleText,
        Meta(description="RRULE of the window's start, at most 24 times a day."),
    ]
    length: Annotated[Duration, Meta(description="Length of the window, from 1 second to 31 days.")]


class CalendarDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Windows in which no run starts, in one time zone. At least one window is required."""

    name: Annotated[
        Annotated[str, Meta(min_length=1, max_length=CALENDAR_NAME_CHARACTERS_MAX)] | None,
        Meta(
            description="Name by which schedules refer to the calendar. Default: the name in the "
            "request path or in the file.",
            extra={ALLOWED_KEY: NAME_ALLOWED},
        ),
    ] = None
    timezone: Annotated[
        Annotated[str, Meta(min_length=1, max_length=zones.ZONE_NAME_CHARACTERS_MAX)] | None,
        Meta(
            description="IANA time zone of the windows. Default: UTC.",
            extra={ALLOWED_KEY: "an IANA zone name such as Europe/Berlin"},
        ),
    ] = None
    dates: Annotated[
        Annotated[list[Date], Meta(max_length=1000)] | None,
        Meta(
            description="Whole days, such as `2026-12-25`. Default: none.",
            extra={ALLOWED_KEY: f"a list of at most 1,000, each {DATE_ALLOWED}"},
        ),
    ] = None
    ranges: Annotated[
        Annotated[list[RangeDocument], Meta(max_length=1000)] | None,
        Meta(description="Periods of local time. Default: none."),
    ] = None
    weekly: Annotated[
        Annotated[list[WeeklyDocument], Meta(max_length=50)] | None,
        Meta(description="Periods of every week. Default: none."),
    ] = None
    yearly: Annotated[
        Annotated[list[DayInYear], Meta(max_length=366)] | None,
        Meta(
            description="Days of every year, such as `12-25`. Default: none.",
            extra={ALLOWED_KEY: f"a list of at most 366, each {IN_YEAR_ALLOWED}"},
        ),
    ] = None
    recurring: Annotated[
        Annotated[list[RecurringDocument], Meta(max_length=16)] | None,
        Meta(description="Windows that start at the times of an RRULE. Default: none."),
    ] = None


def read_calendar(value: object) -> Calendar:
    """Read a calendar from input; errors name the field."""
    document = read_input(CalendarDocument, value, error=InvalidSchedule, name="calendar")
    return _build(document, InvalidSchedule, InvalidSchedule)


def read_stored_calendar(value: object) -> Calendar:
    """Read a calendar from the database. Unknown fields are ignored. Raises `NewerDocument` if the
    rest needs newer code.
    """
    if not isinstance(value, Mapping):
        raise InvalidSchedule("calendar", value, f"expected {describe_type(CalendarDocument)}")
    document, unread = read_stored(CalendarDocument, value)
    return _build(document, NewerDocument, NewerDocument if unread else InvalidSchedule)


def _build(
    document: CalendarDocument, error: type[InvalidInput], empty: type[InvalidInput]
) -> Calendar:
    """Build a calendar from a document; raise `empty` if it has no window."""
    if document.name is None or not document.name.strip():
        raise error("name", document.name, f"expected {NAME_ALLOWED}")
    timezone = "UTC" if document.timezone is None else document.timezone
    zone = zones.get_zone(timezone)
    spans = {*_build_dates(document.dates or ()), *_build_ranges(document.ranges or ())}
    calendar = Calendar(
        name=document.name,
        timezone=timezone,
        ranges=tuple(sorted(spans, key=lambda span: (span.start, span.end))),
        weekly=tuple(_build_weekly(document.weekly or ())),
        yearly=tuple(_build_yearly(document.yearly or ())),
        recurring=tuple(_build_recurring(document.recurring or (), zone, error)),
    )
    if not (calendar.ranges or calendar.weekly or calendar.yearly or calendar.recurring):
        wanted = (
            f"expected at least one of {', '.join(WINDOW_FIELDS)}; "
            "a calendar without windows has no effect"
        )
        raise empty("calendar", calendar.name, wanted)
    return calendar


def write_calendar(calendar: Calendar) -> dict[str, object]:
    """Return a calendar in its canonical form."""
    days = [span for span in calendar.ranges if _is_days(span) and span.end - span.start == DAY]
    others = [span for span in calendar.ranges if span not in days]
    return {
        "name": calendar.name,
        "timezone": calendar.timezone,
        "dates": [span.start.date().isoformat() for span in days],
        "ranges": [_write_range(span) for span in others],
        "weekly": [
            {"start": _write_in_week(part.start), "end": _write_in_week(part.end)}
            for part in calendar.weekly
        ],
        "yearly": [f"{part.month:02}-{part.day:02}" for part in calendar.yearly],
        "recurring": [
            {"rrule": part.rule.text, "length": durations.to_iso(part.length)}
            for part in calendar.recurring
        ],
    }


def _build_dates(items: Sequence[str]) -> Iterator[DateRange]:
    for place, item in enumerate(items):
        start, is_day = _parse_local(item, f"dates[{place}]")
        if not is_day:
            raise InvalidSchedule(f"dates[{place}]", item, f"expected {DATE_ALLOWED}")
        yield DateRange(start=start, end=start + DAY)


def _build_ranges(items: Sequence[RangeDocument]) -> Iterator[DateRange]:
    for place, span in enumerate(items):
        path = f"ranges[{place}]"
        start, _ = _parse_local(span.start, f"{path}.start")
        end, is_day = _parse_local(span.end, f"{path}.end")
        if is_day:
            end += DAY  # "to the 26th" includes the 26th
        if end <= start:
            raise InvalidSchedule(f"{path}.end", span.end, "must be after the start")
        yield DateRange(start=start, end=end)


def _build_weekly(items: Sequence[WeeklyDocument]) -> Iterator[WeeklyWindow]:
    for place, part in enumerate(items):
        path = f"weekly[{place}]"
        start = _parse_in_week(part.start, f"{path}.start")
        end = _parse_in_week(part.end, f"{path}.end")
        if start == end:
            raise InvalidSchedule(f"{path}.end", part.end, "must differ from the start")
        yield WeeklyWindow(start=start, end=end if end > start else end + WEEK)


def _build_yearly(items: Sequence[str]) -> Iterator[YearlyDay]:
    for place, item in enumerate(items):
        found = DAY_IN_YEAR_PATTERN.fullmatch(item)
        try:
            # 2000 was a leap year, so that 02-29 passes.
            day = date(2000, int(found[1]), int(found[2])) if found else None
        except ValueError:
            day = None
        if day is None:
            raise InvalidSchedule(f"yearly[{place}]", item, f"expected {IN_YEAR_ALLOWED}")
        yield YearlyDay(month=day.month, day=day.day)


def _build_recurring(
    items: Sequence[RecurringDocument], zone: ZoneInfo, error: type[InvalidInput]
) -> Iterator[RecurringWindow]:
    for place, part in enumerate(items):
        path = f"recurring[{place}]"
        if (rrule.read_timezone(part.rrule) or zone.key) != zone.key:
            wanted = f"must use the calendar's time zone, {zone.key}"
            raise error(f"{path}.rrule", part.rrule, wanted)
        rule = rrule.parse_rrule(part.rrule, zone=zone, start=RRULE_ORIGIN)
        length = durations.parse(
            part.length,
            field=f"{path}.length",
            minimum=SECOND,
            maximum=RECURRING_LENGTH_MAX,
            error=error,
        )
        if rule.interval_like or (rule.part and len(rule.part.times) > RECURRENCES_PER_DAY_MAX):
            wanted = f"expected FREQ=DAILY or longer, at most {RECURRENCES_PER_DAY_MAX} times a day"
            raise error(f"{path}.rrule", part.rrule, wanted)
        yield RecurringWindow(rule=rule, length=length)


def _parse_local(value: str, path: str) -> tuple[datetime, bool]:
    """Parse a local date or time; return it, and whether it is a whole day."""
    if LOCAL_TIME_PATTERN.fullmatch(value):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
        if moment is not None and 1970 <= moment.year < 9900:
            return moment, len(value) == 10
    raise InvalidSchedule(path, value, f"expected {LOCAL_ALLOWED}")


def _parse_in_week(value: str, path: str) -> timedelta:
    found = TIME_IN_WEEK_PATTERN.fullmatch(value.lower())
    if found is None:
        raise InvalidSchedule(path, value, f"expected {IN_WEEK_ALLOWED}")
    return timedelta(days=WEEKDAYS.index(found[1]), hours=int(found[2]), minutes=int(found[3]))


def _write_in_week(since_monday: timedelta) -> str:
    minutes = since_monday.seconds // 60
    return f"{WEEKDAYS[since_monday.days % 7]} {minutes // 60:02}:{minutes % 60:02}"


def _is_days(span: DateRange) -> bool:
    return span.start.time() == time() == span.end.time()


def _write_range(span: DateRange) -> Mapping[str, str]:
    if _is_days(span):
        return {"start": f"{span.start:%Y-%m-%d}", "end": f"{span.end - DAY:%Y-%m-%d}"}
    return {"start": span.start.isoformat(), "end": span.end.isoformat()}
