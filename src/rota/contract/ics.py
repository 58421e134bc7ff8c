"""Calendars from iCalendar files: `.ics`, as holiday feeds publish them.

Room: contract. Reads what such a feed uses of a VEVENT (DTSTART, DTEND or DURATION, RRULE, RDATE,
EXDATE, STATUS) and turns it into the ranges and recurrences of a Calendar. Everything else in the
file is left alone: names, alarms, attendees. An event that is cancelled does not count; one that
is only "transparent" does, because holidays are published so. An event that moves a single
occurrence of another (RECURRENCE-ID) counts as one of its own.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rota.contract.calendar import read_calendar
from rota.core.errors import InvalidSchedule
from rota.core.time import durations, zones
from rota.core.time.calendars import DAY, Calendar

TEXT_LIMIT = 1_000_000
KEPT = ("RRULE", "RDATE", "EXDATE")

Lines = list[tuple[str, dict[str, str], str]]


def from_ics(text: str, *, name: str, timezone: str = "UTC") -> Calendar:
    """Read all events as windows on the wall clock of `timezone`."""
    zone = zones.zone(timezone)
    if len(text) > TEXT_LIMIT or "BEGIN:VCALENDAR" not in text.upper():
        raise _refusal(text, f"an iCalendar file of at most {TEXT_LIMIT} characters")
    ranges: list[dict[str, str]] = []
    recurring: list[dict[str, str]] = []
    for event in _events(text):
        start, end = _bounds(event, zone)
        if end == start:
            continue  # a reminder: an instant without a length blacks out nothing
        rules = [f"{head}:{value}" for head, _, value in event if head.split(";")[0] in KEPT]
        if rules:
            lines = [f"DTSTART:{start:%Y%m%dT%H%M%S}", *rules]
            length = durations.iso(end - start)
            recurring.append({"rrule": "\n".join(lines), "length": length})
        else:
            ranges.append({"start": start.isoformat(), "end": end.isoformat()})
    return read_calendar(
        {"name": name, "timezone": timezone, "ranges": ranges, "recurring": recurring}
    )


def _events(text: str) -> Iterator[Lines]:
    """The lines of each event that is not cancelled."""
    event: Lines | None = None
    unfolded = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "")
    for line in unfolded.split("\n"):
        head, _, value = line.strip().partition(":")
        head = head.upper() if ";" not in head else head
        if (head, value.upper()) == ("BEGIN", "VEVENT"):
            event = []
        elif (head, value.upper()) == ("END", "VEVENT") and event is not None:
            if not any(key == "STATUS" and status == "CANCELLED" for key, _, status in event):
                yield event
            event = None
        elif event is not None:
            event.append((head, _parameters(head), value))


def _parameters(head: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in head.split(";")[1:])
    return {key.upper(): value.strip('"') for key, _, value in pairs}


def _bounds(event: Lines, zone: ZoneInfo) -> tuple[datetime, datetime]:
    given = {head.split(";")[0].upper(): (parameters, value) for head, parameters, value in event}
    if "DTSTART" not in given:
        raise _refusal("VEVENT", "a DTSTART in every event")
    repeats = any(key in given for key in KEPT)
    start = _local(*given["DTSTART"], zone, repeats=repeats)
    if "DTEND" in given:
        return start, _local(*given["DTEND"], zone, repeats=repeats)
    if "DURATION" in given:
        return start, start + durations.parse(
            given["DURATION"][1], field="ics", error=InvalidSchedule
        )
    return start, start + (DAY if "T" not in given["DTSTART"][1] else timedelta(0))


def _local(parameters: dict[str, str], value: str, zone: ZoneInfo, *, repeats: bool) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise _refusal(value, "a date or time such as 20300131 or 20300131T090000Z") from None
    named = parameters.get("TZID")
    if named is not None:
        moment = moment.replace(tzinfo=zones.zone(named))
    if moment.tzinfo is None:
        return moment
    if repeats and named != zone.key and not (moment.tzinfo is UTC and zone.key == "UTC"):
        # Its daylight saving would be another one: the window would move with the seasons.
        raise _refusal(value, f"a recurring event in the calendar's own zone, {zone.key}")
    try:
        return moment.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        raise _refusal(value, "a date or time from 1970 to 9899") from None


def _refusal(value: object, wanted: str) -> InvalidSchedule:
    return InvalidSchedule(field="ics", value=value, wanted=wanted)
