"""A calendar as JSON, and back.

Room: core/time. The form people write and the form that is stored are the same: `from_plain` reads
the first, `read_stored` the second, and `to_plain` writes the canonical one. Windows are on the
calendar's own wall clock, so none of them carries an offset.

    {"name": "de-holidays", "timezone": "Europe/Berlin",
     "dates": ["2026-04-03"],
     "ranges": [{"start": "2026-12-24T12:00:00", "end": "2026-12-26"}],
     "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}],
     "yearly": ["12-25"],
     "recurring": [{"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "length": "PT3H"}]}
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from rota.core.documents import Unread
from rota.core.errors import InvalidSchedule, NewerDocument
from rota.core.time import durations, rrule, zones
from rota.core.time.calendars import DAY, WEEK, Calendar, Range, Recurring, Weekly, Yearly
from rota.core.time.reading import Fields, fields

KNOWN = ("name", "timezone", "dates", "ranges", "weekly", "yearly", "recurring")
NAME_LIMIT = 200
MOST = {"dates": 1000, "ranges": 1000, "weekly": 50, "yearly": 366, "recurring": 16}
# A window that is longer than this is a range; and a year's windows must stay countable.
LONGEST = timedelta(days=31)
MOST_A_DAY = 24
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
IN_WEEK = re.compile(r"(mon|tue|wed|thu|fri|sat|sun)[a-z]* ([01]\d|2[0-3]):([0-5]\d)")
IN_YEAR = re.compile(r"(0[1-9]|1[0-2])-([0-3]\d)", re.ASCII)
LOCAL = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?", re.ASCII)
# An RRULE without a DTSTART counts from here; only INTERVAL can tell.
ORIGIN = datetime(2000, 1, 1)  # noqa: DTZ001  a wall-clock time has no zone


def from_plain(value: object) -> Calendar:
    """Read a calendar; errors name the field."""
    return _read(fields(value, "", KNOWN))


def read_stored(value: object) -> Calendar:
    """Read a calendar from the database. Unknown fields are ignored; `NewerDocument` if the rest
    needs newer code.
    """
    return _read(fields(value, "", KNOWN, Unread()))


def _read(given: Fields) -> Calendar:
    timezone = given.text("timezone", limit=zones.NAME_LIMIT) if given.has("timezone") else "UTC"
    zone = zones.zone(timezone)
    calendar = Calendar(
        name=given.text("name", limit=NAME_LIMIT),
        timezone=timezone,
        ranges=tuple(
            sorted({*_dates(given), *_ranges(given)}, key=lambda span: (span.start, span.end))
        ),
        weekly=tuple(_weekly(given)),
        yearly=tuple(_yearly(given)),
        recurring=tuple(_recurring(given, zone)),
    )
    if not (calendar.ranges or calendar.weekly or calendar.yearly or calendar.recurring):
        wanted = f"at least one of {', '.join(MOST)}; a calendar without windows blacks out nothing"
        is_newer = given.unread is not None and given.unread.fields
        raise (NewerDocument if is_newer else InvalidSchedule)("calendar", calendar.name, wanted)
    return calendar


def to_plain(calendar: Calendar) -> dict[str, object]:
    """Write a calendar in its canonical form."""
    days = [span for span in calendar.ranges if _whole_days(span) and span.end - span.start == DAY]
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
            {"rrule": part.rule.text, "length": durations.iso(part.length)}
            for part in calendar.recurring
        ],
    }


def _dates(given: Fields) -> Iterator[Range]:
    for place, item in enumerate(_list(given, "dates")):
        start, whole_day = _local(item, f"dates[{place}]")
        if not whole_day:
            raise InvalidSchedule(f"dates[{place}]", item, "a date such as 2030-12-25")
        yield Range(start=start, end=start + DAY)


def _ranges(given: Fields) -> Iterator[Range]:
    for place, item in enumerate(_list(given, "ranges")):
        path = f"ranges[{place}]"
        span = given.part(item, path, ("start", "end"))
        start, _ = _local(span.get("start"), f"{path}.start")
        end, whole_day = _local(span.get("end"), f"{path}.end")
        if whole_day:
            end += DAY  # "to the 26th" means that the 26th is part of it
        if end <= start:
            raise InvalidSchedule(f"{path}.end", span.get("end"), "an end after the start")
        yield Range(start=start, end=end)


def _weekly(given: Fields) -> Iterator[Weekly]:
    for place, item in enumerate(_list(given, "weekly")):
        path = f"weekly[{place}]"
        part = given.part(item, path, ("start", "end"))
        start, end = (_in_week(part.get(key), f"{path}.{key}") for key in ("start", "end"))
        if start == end:
            raise InvalidSchedule(f"{path}.end", part.get("end"), "an end that is not the start")
        yield Weekly(start=start, end=end if end > start else end + WEEK)


def _yearly(given: Fields) -> Iterator[Yearly]:
    for place, item in enumerate(_list(given, "yearly")):
        found = IN_YEAR.fullmatch(item) if isinstance(item, str) else None
        try:
            # 2000 was a leap year, so that 02-29 passes.
            day = date(2000, int(found[1]), int(found[2])) if found else None
        except ValueError:
            day = None
        if day is None:
            raise InvalidSchedule(f"yearly[{place}]", item, "a month and a day such as 12-25")
        yield Yearly(month=day.month, day=day.day)


def _recurring(given: Fields, zone: ZoneInfo) -> Iterator[Recurring]:
    for place, item in enumerate(_list(given, "recurring")):
        path = f"recurring[{place}]"
        part = given.part(item, path, ("rrule", "length"))
        text = part.text("rrule", limit=8192)
        if (rrule.timezone_of(text) or zone.key) != zone.key:
            raise part.refusal("rrule", f"times in the calendar's own zone, {zone.key}")
        rule = rrule.parse(text, zone=zone, start=ORIGIN)
        length = part.length("length", shortest=timedelta(seconds=1), longest=LONGEST)
        if length is None:
            raise part.refusal("length", durations.WANTED)
        if rule.interval_like or (rule.part and len(rule.part.times) > MOST_A_DAY):
            raise part.refusal("rrule", f"FREQ=DAILY or above, at most {MOST_A_DAY} times a day")
        yield Recurring(rule=rule, length=length)


def _list(given: Fields, key: str) -> list[object]:
    value = given.get(key)
    if value is None:
        return []
    if not isinstance(value, list | tuple) or len(value) > MOST[key]:
        raise given.refusal(key, f"a list of at most {MOST[key]}")
    return list(value)


def _local(value: object, path: str) -> tuple[datetime, bool]:
    """A local date or time; and whether it is a whole day."""
    if isinstance(value, str) and LOCAL.fullmatch(value):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
        if moment is not None and 1970 <= moment.year < 9900:
            return moment, len(value) == 10
    wanted = "a date or a local time, without an offset, such as 2030-12-25 or 2030-12-24T12:00"
    raise InvalidSchedule(path, value, wanted)


def _in_week(value: object, path: str) -> timedelta:
    found = IN_WEEK.fullmatch(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise InvalidSchedule(path, value, "a day and a time such as fri 18:00")
    return timedelta(days=WEEKDAYS.index(found[1]), hours=int(found[2]), minutes=int(found[3]))


def _write_in_week(since_monday: timedelta) -> str:
    minutes = since_monday.seconds // 60
    return f"{WEEKDAYS[since_monday.days % 7]} {minutes // 60:02}:{minutes % 60:02}"


def _whole_days(span: Range) -> bool:
    return span.start.time() == time() == span.end.time()


def _write_range(span: Range) -> Mapping[str, str]:
    if _whole_days(span):
        return {"start": f"{span.start:%Y-%m-%d}", "end": f"{span.end - DAY:%Y-%m-%d}"}
    return {"start": span.start.isoformat(), "end": span.end.isoformat()}
