"""Recurrence rules of RFC 5545 (S16): the RFC's own examples, the text, the refusals."""

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from rota.core.errors import InvalidSchedule
from rota.core.time import rrule, zones
from rota.core.time.rrule.description import describe_rrule
from rota.core.time.rrule.search import find_next_local
from rota.core.time.tick import DstGap, DstOverlap
from rota.core.time.zones import from_wall_seconds, to_wall_seconds

NEW_YORK = zones.get_zone("America/New_York")
UTC_ZONE = zones.get_zone("UTC")
START = "DTSTART;TZID=America/New_York:19970902T090000\n"


def times(text: str, count: int = 6, zone: ZoneInfo = NEW_YORK) -> list[str]:
    """The first local times of a rule, short: 1997-09-02, with the time where it is not nine."""
    rule = rrule.parse_rrule(text, zone=zone)
    found: list[str] = []
    local = find_next_local(rule, 0)
    while local is not None and len(found) < count:
        moment = from_wall_seconds(local)
        found.append(f"{moment:%Y-%m-%d}" if moment.hour == 9 else f"{moment:%Y-%m-%dT%H:%M}")
        local = find_next_local(rule, local + 1)
    return found


# From RFC 5545, 3.8.5.3: DTSTART (at 09:00 in New York), the rule, and the first dates as printed
# there. In the hourly one the RFC has a Z after the UNTIL that its own answer does not obey.
RFC_EXAMPLES = [
    ("19970902", "FREQ=DAILY;COUNT=10", "1997-09-02 1997-09-03 1997-09-04 1997-09-05"),
    ("19970902", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09-02 1997-09-12 1997-09-22 1997-10-02"),
    ("19970902", "FREQ=WEEKLY;INTERVAL=2;WKST=SU", "1997-09-02 1997-09-16 1997-09-30 1997-10-14"),
    (
        "19970902",
        "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
        "1997-09-02 1997-09-04 1997-09-09 1997-09-11",
    ),
    (
        "19970902",
        "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
        "1997-09-02 1997-09-04 1997-09-16 1997-09-18",
    ),
    ("19970905", "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", "1997-09-05 1997-10-03 1997-11-07 1997-12-05"),
    (
        "19970907",
        "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
        "1997-09-07 1997-09-28 1997-11-02 1997-11-30",
    ),
    ("19970922", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997-09-22 1997-10-20 1997-11-17 1997-12-22"),
    ("19970928", "FREQ=MONTHLY;BYMONTHDAY=-3", "1997-09-28 1997-10-29 1997-11-28 1997-12-29"),
    (
        "19970902",
        "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
        "1997-09-02 1997-09-15 1997-10-02 1997-10-15",
    ),
    ("19970610", "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", "1997-06-10 1997-07-10 1998-06-10 1998-07-10"),
    (
        "19970101",
        "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
        "1997-01-01 1997-04-10 1997-07-19 2000-01-01 2000-04-09 2000-07-18",
    ),
    ("19970519", "FREQ=YEARLY;BYDAY=20MO", "1997-05-19 1998-05-18 1999-05-17"),
    ("19970512", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12 1998-05-11 1999-05-17"),
    ("19970313", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "1997-03-13 1997-03-20 1997-03-27 1998-03-05"),
    ("19970902", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1998-02-13 1998-03-13 1998-11-13"),
    (
        "19961105",
        "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
        "1996-11-05 2000-11-07 2004-11-02",
    ),
    (
        "19970904",
        "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
        "1997-09-04 1997-10-07 1997-11-06",
    ),
    (
        "19970929",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
        "1997-09-29 1997-10-30 1997-11-27 1997-12-30 1998-01-29 1998-02-26",
    ),
    (
        "19970902",
        "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000",
        "1997-09-02 1997-09-02T12:00 1997-09-02T15:00",
    ),
    (
        "19970902",
        "FREQ=MINUTELY;INTERVAL=90;COUNT=4",
        "1997-09-02 1997-09-02T10:30 1997-09-02T12:00 1997-09-02T13:30",
    ),
    (
        "19970805",
        "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
        "1997-08-05 1997-08-10 1997-08-19 1997-08-24",
    ),
    (
        "19970805",
        "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
        "1997-08-05 1997-08-17 1997-08-19 1997-08-31",
    ),
]


@pytest.mark.parametrize(("start", "rule", "dates"), RFC_EXAMPLES)
def test_the_examples_of_the_rfc_come_out_as_printed_there(
    start: str, rule: str, dates: str
) -> None:
    expected = dates.split()

    text = f"DTSTART;TZID=America/New_York:{start}T090000\nRRULE:{rule}"

    assert times(text, len(expected)) == expected


def test_a_count_ends_the_rule() -> None:
    assert len(times(f"{START}RRULE:FREQ=DAILY;COUNT=10", 99)) == 10
    assert len(times(f"{START}RRULE:FREQ=MINUTELY;INTERVAL=90;COUNT=4", 99)) == 4


def test_the_search_begins_anywhere_and_keeps_the_phase_of_the_interval() -> None:
    rule = rrule.parse_rrule(f"{START}RRULE:FREQ=DAILY;INTERVAL=3", zone=NEW_YORK)
    start = datetime(1997, 9, 2, 9)  # noqa: DTZ001

    for wall in (datetime(2001, 1, 1), datetime(2026, 7, 1, 9, 0, 1)):  # noqa: DTZ001
        found = find_next_local(rule, to_wall_seconds(wall))
        assert found is not None
        assert wall <= from_wall_seconds(found)
        assert (from_wall_seconds(found) - start).days % 3 == 0


def test_dates_are_added_and_taken_away() -> None:
    text = (
        "DTSTART:20260601T090000\nRRULE:FREQ=DAILY;COUNT=5\n"
        "RDATE:20260610T090000,20260603T123000\nEXDATE:20260602T090000\n"
        "EXDATE;VALUE=DATE:20260604"
    )

    assert times(text, 10, UTC_ZONE) == (
        ["2026-06-01", "2026-06-03", "2026-06-03T12:30", "2026-06-05", "2026-06-10"]
    )


def test_a_whole_day_taken_from_a_rule_of_every_second_is_one_step_and_not_86400() -> None:
    text = "DTSTART:20260601T000000\nRRULE:FREQ=SECONDLY\nEXDATE;VALUE=DATE:20260602"
    rule = rrule.parse_rrule(text, zone=UTC_ZONE)

    found = find_next_local(rule, to_wall_seconds(datetime(2026, 6, 2)))  # noqa: DTZ001

    assert found is not None
    assert from_wall_seconds(found) == datetime(2026, 6, 3)  # noqa: DTZ001


def test_an_until_without_a_time_includes_its_day() -> None:
    assert times("DTSTART:20260601T090000\nRRULE:FREQ=DAILY;UNTIL=20260603") == (
        ["2026-06-01", "2026-06-02", "2026-06-03"]
    )


def test_the_canonical_text_is_local_folded_out_and_reads_back_as_the_same_rule() -> None:
    text = (
        "DTSTART:20260601T130000Z\r\nRRULE:freq=daily;byhour=9;\r\n until=20260701T130000Z\r\n"
        "EXDATE:20260603T130000Z"
    )

    rule = rrule.parse_rrule(text, zone=NEW_YORK)

    assert rule.text == (
        "DTSTART:20260601T090000\nRRULE:FREQ=DAILY;BYHOUR=9;UNTIL=20260701T090000\n"
        "EXDATE:20260603T090000"
    )
    assert rrule.parse_rrule(rule.text, zone=NEW_YORK) == rule


def test_a_bare_rule_takes_its_start_from_the_caller() -> None:
    rule = rrule.parse_rrule("FREQ=WEEKLY", zone=UTC_ZONE, start=datetime(2026, 6, 3))  # noqa: DTZ001

    assert rule.text == "DTSTART:20260603T000000\nRRULE:FREQ=WEEKLY"
    with pytest.raises(InvalidSchedule, match="a DTSTART line"):
        rrule.parse_rrule("FREQ=WEEKLY", zone=UTC_ZONE)


def test_the_zone_inside_the_text_is_found() -> None:
    assert rrule.read_timezone(START + "RRULE:FREQ=DAILY") == "America/New_York"
    assert rrule.read_timezone("DTSTART:20260601T090000Z\nRRULE:FREQ=DAILY") == "UTC"
    assert rrule.read_timezone("FREQ=DAILY") is None


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("", "RFC 5545 text"),
        ("FREQ=FORTNIGHTLY", "FREQ must be one of"),
        ("INTERVAL=2", "FREQ must be one of"),
        ("FREQ=DAILY;BYFOO=1", "known parts: FREQ"),
        ("FREQ=DAILY;BYHOUR=9;BYHOUR=10", "BYHOUR=… exactly once"),
        ("FREQ=DAILY;BYHOUR=24", "must be 0–23"),
        ("FREQ=DAILY;BYSECOND=60", "must be 0–59"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "must be 1–31, or negative"),
        ("FREQ=DAILY;INTERVAL=0", "must be 1–2922"),
        ("FREQ=YEARLY;INTERVAL=9", "must be 1–8"),
        ("FREQ=DAILY;COUNT=2;UNTIL=20300101", "use COUNT or UNTIL, not both"),
        ("FREQ=DAILY;COUNT=1001", "COUNT must be at most 1000"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=40", "reached within 30 years"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "not supported; remove BYMONTHDAY"),
        ("FREQ=MONTHLY;BYWEEKNO=3;BYDAY=MO", "not supported; remove BYWEEKNO"),
        ("FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=1", "not supported; remove BYSETPOS"),
        ("FREQ=YEARLY;BYWEEKNO=3", "requires BYDAY, the days of that week"),
        ("FREQ=WEEKLY;BYDAY=2MO", "require FREQ=MONTHLY or YEARLY"),
        ("FREQ=DAILY;BYDAY=XX", "days such as MO"),
        ("FREQ=DAILY;BYSETPOS=1", "another BY part"),
        (
            "FREQ=DAILY;BYHOUR=9;BYSETPOS=2",
            "a DAILY period with 1 times a day has no such position",
        ),
        ("FREQ=DAILY;WKST=8", "one of MO"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "no date matches"),
        ("FREQ=SECONDLY;INTERVAL=10;BYSECOND=5", "never reaches the given BYHOUR"),
        ("FREQ=HOURLY;INTERVAL=2;BYHOUR=9", "never reaches the given BYHOUR"),
        ("RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", "one RRULE line"),
        ("EXRULE:FREQ=DAILY", "DTSTART, RRULE, RDATE and EXDATE lines"),
        ("EXDATE:20260101T000000", "an RRULE or RDATE line"),
        ("RDATE;VALUE=PERIOD:20260101T000000/PT1H", "the only parameters are TZID"),
        ("RDATE:20260230T000000", "no such date"),
        ("RDATE:tomorrow", "a date or time such as"),
        ("RDATE:" + ",".join(["20260101"] * 513), "at most 512 dates"),
        ("DTSTART:20260101T000000\nDTSTART:20260102T000000\nRRULE:FREQ=DAILY", "one DTSTART"),
        ("DTSTART:19691231T235959\nRRULE:FREQ=DAILY", "must not be before 1970"),
        (
            "FREQ=DAILY\nEXDATE;TZID=Asia/Tokyo:20260101T000000",
            "must be the schedule's timezone, UTC",
        ),
        ("FREQ=DAILY;BYHOUR=" + ",".join(["9"] * 400), "at most 366 values"),
        ("FREQ=DAILY;BYDAY=" + "MO," * 3000, "at most 8192 characters"),
    ],
)
def test_what_cannot_be_read_or_would_be_slow_or_doubtful_is_refused(
    rule: str, wanted: str
) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        rrule.parse_rrule(rule, zone=UTC_ZONE, start=datetime(2026, 1, 1))  # noqa: DTZ001

    assert refused.value.field == "rrule"
    assert wanted in str(refused.value)


def test_more_times_a_day_than_minutes_belong_to_another_frequency() -> None:
    every = ",".join(map(str, range(60)))
    rule = f"FREQ=DAILY;BYHOUR=9;BYMINUTE={every};BYSECOND={every}"

    with pytest.raises(InvalidSchedule, match="at most 1440 times a day"):
        rrule.parse_rrule(rule, zone=UTC_ZONE, start=datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("FREQ=DAILY", "Every day at 00:00"),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYHOUR=9",
            "Every 2 weeks on Monday and Friday at 09:00",
        ),
        ("FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "Every month on the last Friday at 17:00"),
        ("FREQ=MONTHLY;BYMONTHDAY=1,-1", "Every month on days 1 and last of the month at 00:00"),
        (
            "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
            "Every month on Friday and only on day 13 of the month at 00:00",
        ),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1",
            "Every month on Monday and Tuesday at 00:00 (only the last of these in each month)",
        ),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            "Every month on the last weekday (Monday to Friday) of the month at 00:00",
        ),
        ("FREQ=YEARLY", "Every year on 1 January at 00:00"),
        ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25", "Every year on 25 December at 00:00"),
        (
            "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=-1",
            "Every year on day last of the month in December at 00:00",
        ),
        ("FREQ=DAILY;COUNT=5;BYHOUR=9", "Every day at 09:00, 5 times, until 2026-01-05 09:00"),
        ("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10", "Every 20 minutes in hours 9 and 10"),
        ("FREQ=HOURLY;INTERVAL=6", "Every 6 hours at minute 0"),
        ("FREQ=MINUTELY;BYSECOND=30", "Every minute at second 30"),
        (
            "FREQ=YEARLY;BYYEARDAY=100,-2",
            "Every year on days 100 and second to last of the year at 00:00",
        ),
        (
            "FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO",
            "Every year on Monday and only in week 1 of the year at 00:00",
        ),
        ("FREQ=MONTHLY;BYDAY=-2MO", "Every month on the second to last Monday at 00:00"),
        (
            "FREQ=YEARLY;BYDAY=20MO,22TU",
            "Every year on the 20th Monday and the 22nd Tuesday at 00:00",
        ),
        (
            "FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7",
            "Every day at 01:00 … 07:00 (7 times)",
        ),
        ("FREQ=SECONDLY;INTERVAL=5", "Every 5 seconds"),
        ("FREQ=DAILY;UNTIL=20270101", "Every day at 00:00, until 2027-01-01 23:59:59"),
        (
            "RRULE:FREQ=DAILY\nRDATE:20260105T120000\nEXDATE:20260106",
            "Every day at 00:00; and on 2026-01-05 12:00, except on 2026-01-06",
        ),
    ],
)
def test_a_rule_is_said_in_plain_english(rule: str, sentence: str) -> None:
    read = rrule.parse_rrule(rule, zone=UTC_ZONE, start=datetime(2026, 1, 1))  # noqa: DTZ001

    assert describe_rrule(read) == sentence


@pytest.mark.parametrize("year", [1, 1969, 1999, 2050])
def test_a_cursor_however_old_finds_the_first_time_of_a_rule(year: int) -> None:
    rule = rrule.parse_rrule("DTSTART:20500601T090000\nRRULE:FREQ=YEARLY", zone=UTC_ZONE)

    tick = rrule.find_next_tick(
        rule,
        UTC_ZONE,
        datetime(year, 1, 2, tzinfo=UTC),
        gap=DstGap.RUN_AFTER,
        overlap=DstOverlap.FIRST,
    )

    assert tick is not None
    assert tick.at == datetime(2050, 6, 1, 9, tzinfo=UTC)


def test_a_rule_ends_where_dates_end() -> None:
    rule = rrule.parse_rrule("DTSTART:20500601T090000\nRRULE:FREQ=SECONDLY", zone=UTC_ZONE)
    after = datetime.max.replace(tzinfo=UTC)

    assert (
        rrule.find_next_tick(rule, UTC_ZONE, after, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST)
        is None
    )


def test_ticks_of_a_rule_are_instants_of_its_zone() -> None:
    rule = rrule.parse_rrule(f"{START}RRULE:FREQ=DAILY", zone=NEW_YORK)

    def ticks(after: datetime):
        while True:
            tick = rrule.find_next_tick(
                rule, NEW_YORK, after, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST
            )
            assert tick is not None
            yield tick
            after = tick.at

    found = list(islice(ticks(datetime(2026, 3, 6, 20, tzinfo=UTC)), 3))

    assert [tick.at.hour for tick in found] == [14, 13, 13]
    assert {tick.local.hour for tick in found} == {9}
