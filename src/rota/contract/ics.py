"""Reads calendars from iCalendar files (`.ics`), such as holiday feeds.

Reads the properties of a VEVENT that such feeds use (DTSTART, DTEND or DURATION, RRULE, RDATE,
EXDATE, STATUS) and converts them into the ranges and recurrences of a calendar. Everything else in
the file is ignored: names, alarms, attendees. Cancelled events are ignored. "Transparent" events
are included, because holidays are published that way. An event that moves a single occurrence of
another one (RECURRENCE-ID) is read as a separate event.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rota.contract.calendar import read_calendar
from rota.core.errors import InvalidSchedule
from rota.core.time import durations, zones
from rota.core.time.calendars import DAY, Calendar

ICS_CHARACTERS_MAX = 1_000_000
RECURRENCE_PROPERTIES = ("RRULE", "RDATE", "EXDATE")

Lines = list[tuple[str, dict[str, str], str]]


def read_ics(text: str, *, name: str, timezone: str = "UTC") -> Calendar:
    """Read all events as windows in `timezone`."""
    zone = zones.get_zone(timezone)
    if len(text) > ICS_CHARACTERS_MAX or "BEGIN:VCALENDAR" not in text.upper():
        wanted = f"expected an iCalendar file of at most {ICS_CHARACTERS_MAX:,} characters"
        raise _build_error(text, wanted)
    ranges: list[dict[str, str]] = []
    recurring: list[dict[str, str]] = []
    for event in _find_events(text):
        start, end = _find_bounds(event, zone)
        if end == start:
            continue  # a reminder without a length
        rules = [
            f"{head}:{value}"
            for head, _, value in event
            if head.split(";")[0] in RECURRENCE_PROPERTIES
        ]
        if rules:
            lines = [f"DTSTART:{start:%Y%m%dT%H%M%S}", *rules]
            length = durations.to_iso(end - start)
            recurring.append({"rrule": "\n".join(lines), "length": length})
        else:
            ranges.append({"start": start.isoformat(), "end": end.isoformat()})
    return read_calendar(
        {"name": name, "timezone": timezone, "ranges": ranges, "recurring": recurring}
    )


def _find_events(text: str) -> Iterator[Lines]:
    """Yield the lines of each event that is not cancelled."""
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
            event.append((head, _parse_parameters(head), value))


def _parse_parameters(head: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in head.split(";")[1:])
    return {key.upper(): value.strip('"') for key, _, value in pairs}


def _find_bounds(event: Lines, zone: ZoneInfo) -> tuple[datetime, datetime]:
    properties = {
        head.split(";")[0].upper(): (parameters, value) for head, parameters, value in event
    }
    if "DTSTART" not in properties:
        raise _build_error("VEVENT", "every event must have a DTSTART")
    repeats = any(key in properties for key in RECURRENCE_PROPERTIES)
    start = _to_local(*properties["DTSTART"], zone, repeats=repeats)
    if "DTEND" in properties:
        return start, _to_local(*properties["DTEND"], zone, repeats=repeats)
    if "DURATION" in properties:
        return start, start + durations.parse(
            properties["DURATION"][1], field="ics", error=InvalidSchedule
        )
    return start, start + (DAY if "T" not in properties["DTSTART"][1] else timedelta(0))


def _to_local(parameters: dict[str, str], value: str, zone: ZoneInfo, *, repeats: bool) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        wanted = "expected a date or time such as 20300131 or 20300131T090000Z"
        raise _build_error(value, wanted) from None
    zone_name = parameters.get("TZID")
    if zone_name is not None:
        moment = moment.replace(tzinfo=zones.get_zone(zone_name))
    if moment.tzinfo is None:
        return moment
    if repeats and zone_name != zone.key and not (moment.tzinfo is UTC and zone.key == "UTC"):
        # In another zone, daylight saving would move the window with the seasons.
        wanted = f"recurring events must use the calendar's time zone, {zone.key}"
        raise _build_error(value, wanted)
    try:
        return moment.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        raise _build_error(value, "expected a date or time from 1970 to 9899") from None


def _build_error(value: object, wanted: str) -> InvalidSchedule:
    return InvalidSchedule(field="ics", value=value, wanted=wanted)
