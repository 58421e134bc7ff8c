"""Named calendars and the times they black out (S15)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rota.contract.calendar import read_calendar, write_calendar
from rota.core.errors import InvalidSchedule
from rota.core.time.calendars import Calendar, blackout_at

BERLIN = "Europe/Berlin"


def calendar(**windows: object) -> Calendar:
    return read_calendar({"name": "quiet", "timezone": BERLIN, **windows})


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def span(quiet: Calendar, text: str) -> tuple[str, str] | None:
    found = quiet.find_covering(at(text))
    if found is None:
        return None
    return f"{found.start:%Y-%m-%dT%H:%MZ}", f"{found.end:%Y-%m-%dT%H:%MZ}"


def test_a_date_is_a_whole_day_of_the_calendars_own_zone() -> None:
    quiet = calendar(dates=["2026-12-25"])

    assert span(quiet, "2026-12-24T22:59:59Z") is None
    assert span(quiet, "2026-12-24T23:00:00Z") == ("2026-12-24T23:00Z", "2026-12-25T23:00Z")
    assert span(quiet, "2026-12-25T22:59:59Z") is not None
    assert span(quiet, "2026-12-25T23:00:00Z") is None


def test_a_date_is_23_or_25_hours_long_when_clocks_change() -> None:
    quiet = calendar(dates=["2026-03-29", "2026-10-25"])

    spring, autumn = (
        quiet.find_covering(at("2026-03-29T10:00Z")),
        quiet.find_covering(at("2026-10-25T10:00Z")),
    )

    assert spring is not None
    assert autumn is not None
    assert spring.end - spring.start == timedelta(hours=23)
    assert autumn.end - autumn.start == timedelta(hours=25)


def test_a_range_of_dates_includes_its_last_day_and_a_time_ends_on_the_minute() -> None:
    days = calendar(ranges=[{"start": "2026-12-24", "end": "2026-12-26"}])
    hours = calendar(ranges=[{"start": "2026-12-24T12:00", "end": "2026-12-24T18:30"}])

    assert span(days, "2026-12-26T12:00Z") == ("2026-12-23T23:00Z", "2026-12-26T23:00Z")
    assert span(hours, "2026-12-24T17:29Z") == ("2026-12-24T11:00Z", "2026-12-24T17:30Z")
    assert span(hours, "2026-12-24T17:30Z") is None


def test_a_weekly_window_may_go_round_the_end_of_the_week() -> None:
    quiet = calendar(weekly=[{"start": "fri 18:00", "end": "mon 06:00"}])

    assert span(quiet, "2026-07-05T12:00Z") == ("2026-07-03T16:00Z", "2026-07-06T04:00Z")
    assert span(quiet, "2026-07-06T03:59Z") == ("2026-07-03T16:00Z", "2026-07-06T04:00Z")
    assert span(quiet, "2026-07-06T04:00Z") is None
    # Over New Year, and over a change of clocks inside the window.
    assert span(quiet, "2027-01-01T20:00Z") == ("2027-01-01T17:00Z", "2027-01-04T05:00Z")
    assert span(quiet, "2026-10-25T12:00Z") == ("2026-10-23T16:00Z", "2026-10-26T05:00Z")


def test_an_edge_in_a_gap_is_where_the_clock_jumps_and_one_that_comes_twice_is_the_outer() -> None:
    gap = calendar(ranges=[{"start": "2026-03-29T02:30", "end": "2026-03-29T05:00"}])
    fold = calendar(ranges=[{"start": "2026-10-25T02:15", "end": "2026-10-25T02:45"}])

    assert span(gap, "2026-03-29T01:00Z") == ("2026-03-29T01:00Z", "2026-03-29T03:00Z")
    assert span(fold, "2026-10-25T00:50Z") == ("2026-10-25T00:15Z", "2026-10-25T01:45Z")


def test_a_day_of_every_year_is_there_in_the_years_that_have_it() -> None:
    quiet = calendar(yearly=["12-25", "02-29"])

    assert span(quiet, "2031-12-25T12:00Z") is not None
    assert span(quiet, "2028-02-29T12:00Z") is not None
    assert span(quiet, "2027-03-01T12:00Z") is None


def test_a_recurring_window_is_as_long_as_it_says_wherever_one_looks() -> None:
    quiet = calendar(recurring=[{"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=22", "length": "PT6H"}])

    assert span(quiet, "2026-07-31T23:00Z") == ("2026-07-31T20:00Z", "2026-08-01T02:00Z")
    assert span(quiet, "2026-07-24T23:00Z") is None


def test_windows_that_touch_are_one_blackout_also_across_calendars_and_years() -> None:
    first = calendar(dates=["2026-12-31"], weekly=[{"start": "tue 00:00", "end": "tue 01:00"}])
    second = replace(calendar(dates=["2027-01-01", "2027-01-02"]), name="more")

    found = blackout_at([first, second], at("2026-12-31T12:00Z"))

    assert found is not None
    assert (found.start, found.end) == (at("2026-12-30T23:00Z"), at("2027-01-02T23:00Z"))
    assert found.name == "quiet, more"
    assert blackout_at([first, second], at("2027-01-03T12:00Z")) is None
    assert blackout_at([], at("2027-01-03T12:00Z")) is None


def test_a_calendar_is_stored_as_it_is_written() -> None:
    plain = {
        "name": "de-holidays",
        "timezone": BERLIN,
        "dates": ["2026-04-03"],
        "ranges": [
            {"start": "2026-12-24T12:00:00", "end": "2026-12-24T18:00:00"},
            {"start": "2026-12-25", "end": "2026-12-26"},
        ],
        "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}],
        "yearly": ["10-03"],
        "recurring": [
            {"rrule": "DTSTART:20260101T220000\nRRULE:FREQ=WEEKLY;BYDAY=WE", "length": "PT2H"}
        ],
    }

    read = read_calendar(plain)

    assert write_calendar(read) == plain
    assert read_calendar(write_calendar(read)) == read


@pytest.mark.parametrize(
    ("windows", "field", "wanted"),
    [
        ({}, "calendar", "at least one of"),
        ({"date": ["2026-01-01"]}, "date", "did you mean dates?"),
        ({"dates": "2026-01-01"}, "dates", "a list"),
        ({"dates": ["2026-02-30"]}, "dates[0]", "a date or a local time"),
        ({"dates": ["2026-02-03T10:00"]}, "dates[0]", "a date such as"),
        ({"dates": ["2026-01-01"] * 1001}, "dates", "at most 1,000"),
        ({"ranges": [{"start": "2026-01-02", "end": "2026-01-01"}]}, "ranges[0].end", "after the"),
        (
            {"ranges": [{"start": "2026-01-02T10:00Z", "end": "2026-01-03"}]},
            "ranges[0].start",
            "wit",
        ),
        ({"ranges": [{"from": "2026-01-02"}]}, "ranges[0].from", "start, end"),
        ({"ranges": ["2026-01-02"]}, "ranges[0]", "an object"),
        ({"weekly": [{"start": "fri 25:00", "end": "mon 06:00"}]}, "weekly[0].start", "fri 18:00"),
        (
            {"weekly": [{"start": "fri 18:00", "end": "fri 18:00"}]},
            "weekly[0].end",
            "must differ from the start",
        ),
        ({"yearly": ["02-30"]}, "yearly[0]", "12-25"),
        ({"yearly": [1225]}, "yearly[0]", "12-25"),
        ({"recurring": [{"rrule": "FREQ=DAILY"}]}, "recurring[0].length", "a duration"),
        (
            {"recurring": [{"rrule": "FREQ=HOURLY", "length": "PT1M"}]},
            "recurring[0].rrule",
            "FREQ=DAILY or longer",
        ),
        (
            {"recurring": [{"rrule": "FREQ=DAILY", "length": "P32D"}]},
            "recurring[0].length",
            "at most 31 days",
        ),
        (
            {
                "recurring": [
                    {
                        "rrule": "DTSTART;TZID=Asia/Tokyo:20260101T000000\nRRULE:FREQ=DAILY",
                        "length": "PT1H",
                    }
                ]
            },
            "recurring[0].rrule",
            "must use the calendar's time zone",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_path(
    windows: dict[str, object], field: str, wanted: str
) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        calendar(**windows)

    assert refused.value.field == field
    assert wanted in refused.value.wanted
