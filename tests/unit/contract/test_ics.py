"""Calendars from iCalendar files (S15)."""

from datetime import UTC, datetime

import pytest

from rota.contract.ics import read_ics
from rota.core.errors import InvalidSchedule
from rota.core.time.calendars import Calendar


def read(*events: str, timezone: str = "Europe/Berlin") -> Calendar:
    inside = "\r\n".join(f"BEGIN:VEVENT\r\n{event}\r\nEND:VEVENT" for event in events)
    text = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{inside}\r\nEND:VCALENDAR\r\n"
    return read_ics(text, name="feed", timezone=timezone)


def span(feed: Calendar, text: str) -> tuple[str, str] | None:
    found = feed.find_covering(datetime.fromisoformat(text).astimezone(UTC))
    return None if found is None else (f"{found.start:%m-%dT%H:%M}", f"{found.end:%m-%dT%H:%M}")


def test_whole_days_as_holiday_feeds_publish_them() -> None:
    feed = read(
        "UID:1\r\nDTSTART;VALUE=DATE:20261225\r\nDTEND;VALUE=DATE:20261227\r\n"
        "SUMMARY:Christ\r\n mas\r\nTRANSP:TRANSPARENT",
        "UID:2\r\nDTSTART;VALUE=DATE:20261003",
    )

    assert span(feed, "2026-12-26T12:00Z") == ("12-24T23:00", "12-26T23:00")
    assert span(feed, "2026-10-03T12:00Z") == ("10-02T22:00", "10-03T22:00")


def test_times_in_utc_in_a_zone_and_in_none() -> None:
    feed = read(
        "DTSTART:20260701T100000Z\r\nDTEND:20260701T110000Z",
        "DTSTART;TZID=America/New_York:20260702T100000\r\nDURATION:PT1H",
        'DTSTART;TZID="Europe/Berlin":20260703T100000\r\nDURATION:PT1H',
        "DTSTART:20260704T100000\r\nDURATION:PT1H",
    )

    assert span(feed, "2026-07-01T10:30Z") == ("07-01T10:00", "07-01T11:00")
    assert span(feed, "2026-07-02T14:30Z") == ("07-02T14:00", "07-02T15:00")
    assert span(feed, "2026-07-03T08:30Z") == ("07-03T08:00", "07-03T09:00")
    assert span(feed, "2026-07-04T08:30Z") == ("07-04T08:00", "07-04T09:00")


def test_recurring_events_with_exceptions() -> None:
    feed = read(
        "DTSTART;TZID=Europe/Berlin:20260701T220000\r\nDURATION:PT2H\r\nRRULE:FREQ=WEEKLY\r\n"
        "EXDATE;TZID=Europe/Berlin:20260708T220000"
    )

    assert span(feed, "2026-07-01T20:30Z") == ("07-01T20:00", "07-01T22:00")
    assert span(feed, "2026-07-08T20:30Z") is None
    assert span(feed, "2026-12-30T21:30Z") == ("12-30T21:00", "12-30T23:00")


def test_a_cancelled_event_and_one_without_a_length_do_not_count() -> None:
    feed = read(
        "DTSTART;VALUE=DATE:20261225\r\nSTATUS:CANCELLED",
        "DTSTART;VALUE=DATE:20261226",
        "DTSTART:20261227T120000Z",
    )

    assert span(feed, "2026-12-25T12:00Z") is None
    assert span(feed, "2026-12-26T12:00Z") is not None
    assert span(feed, "2026-12-27T12:00Z") is None


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        ("SUMMARY:nothing", "every event must have a DTSTART"),
        ("DTSTART:soon", "a date or time such as"),
        ("DTSTART:20260701T100000Z\r\nDURATION:P1M", "a duration such as"),
        (
            "DTSTART;TZID=Asia/Tokyo:20260701T100000\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY",
            "recurring events must use the calendar's time zone",
        ),
        ("DTSTART;TZID=Mars/Olympus:20260701T100000", "an IANA time zone name"),
    ],
)
def test_an_event_that_cannot_be_read_is_refused(event: str, wanted: str) -> None:
    with pytest.raises(InvalidSchedule, match=wanted):
        read(event)


@pytest.mark.parametrize("text", ["", "hello", "BEGIN:VCALENDAR" + " " * 1_000_000])
def test_what_is_no_calendar_file_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchedule, match="an iCalendar file"):
        read_ics(text, name="feed")
