"""Recurrence rules where clocks change (S9, S16): the same vectors as cron's, in RRULE."""

from datetime import UTC, datetime
from itertools import pairwise
from time import process_time

import pytest

from rota.core.time import rrule, zones
from rota.core.time.tick import DstGap, DstOverlap, Tick

SPRING, AUTUMN = datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)


def ticks(
    rule: str,
    zone: str,
    day: datetime,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> list[Tick]:
    """The ticks on one local day."""
    place = zones.get_zone(zone)
    read = rrule.parse_rrule(f"DTSTART:20000101T000000\nRRULE:{rule}", zone=place)
    date = day.date()
    midnight = day.replace(tzinfo=place).astimezone(UTC)
    found = []
    tick = rrule.find_next_tick(read, place, midnight, gap=gap, overlap=overlap)
    while tick is not None and tick.at.astimezone(place).date() == date:
        found.append(tick)
        tick = rrule.find_next_tick(read, place, tick.at, gap=gap, overlap=overlap)
    return found


def utc(found: list[Tick]) -> list[str]:
    return [f"{tick.at:%H:%M}" for tick in found]


@pytest.mark.parametrize(
    ("gap", "expected"),
    [(DstGap.RUN_AFTER, ["01:00"]), (DstGap.SKIP, []), (DstGap.SHIFT, ["01:30"])],
)
def test_a_daily_time_in_the_gap_runs_after_it_or_is_skipped_or_shifted(
    gap: DstGap, expected: list[str]
) -> None:
    found = ticks("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "Europe/Berlin", SPRING, gap=gap)

    assert utc(found) == expected
    assert all(tick.note and tick.note.startswith("moved from 02:30") for tick in found)
    assert all(tick.local.hour == 2 for tick in found)


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        (DstOverlap.FIRST, ["00:30"]),
        (DstOverlap.SECOND, ["01:30"]),
        (DstOverlap.BOTH, ["00:30", "01:30"]),
    ],
)
def test_a_daily_time_in_the_overlap_runs_first_or_second_or_both(
    overlap: DstOverlap, expected: list[str]
) -> None:
    found = ticks("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "Europe/Berlin", AUTUMN, overlap=overlap)

    assert utc(found) == expected


def test_times_in_the_gap_that_land_on_one_instant_are_one_tick() -> None:
    assert utc(ticks("FREQ=DAILY;BYHOUR=2,3", "Europe/Berlin", SPRING)) == ["01:00"]
    assert utc(ticks("FREQ=DAILY;BYHOUR=2;BYMINUTE=15,45", "Europe/Berlin", SPRING)) == ["01:00"]


def test_where_a_real_time_and_a_moved_one_meet_the_real_one_gives_its_name() -> None:
    (tick,) = ticks("FREQ=DAILY;BYHOUR=2,3", "Europe/Berlin", SPRING)

    assert tick.local.hour == 3
    assert tick.note == "also covers 02:00, which the clock jumped over"


def test_a_shifted_time_keeps_its_place_behind_earlier_instants() -> None:
    found = ticks("FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30", "Europe/Berlin", SPRING, gap=DstGap.SHIFT)

    assert utc(found) == ["01:00", "01:30"]


def test_an_hourly_rule_follows_elapsed_time_in_both_directions() -> None:
    # 23 and 25 hours: nothing is moved, both hours of the overlap run.
    assert len(ticks("FREQ=HOURLY;BYMINUTE=15", "Europe/Berlin", SPRING)) == 23
    autumn = ticks("FREQ=HOURLY;BYMINUTE=15", "Europe/Berlin", AUTUMN)
    assert len(autumn) == 25
    assert utc(autumn)[1:4] == ["23:15", "00:15", "01:15"]
    assert all(
        (later.at - earlier.at).total_seconds() == 3600 for earlier, later in pairwise(autumn)
    )


def test_a_rule_of_every_second_never_stops_when_clocks_change() -> None:
    place = zones.get_zone("Europe/Berlin")
    read = rrule.parse_rrule("DTSTART:20260101T000000\nRRULE:FREQ=SECONDLY", zone=place)
    for change in (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)):
        after = change.replace(hour=0, minute=59, second=57)
        found = []
        for _ in range(6):
            tick = rrule.find_next_tick(
                read, place, after, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST
            )
            assert tick is not None
            found.append((tick.at - change).total_seconds())
            after = tick.at

        assert found == [-2, -1, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("zone", "day", "expected"),
    [
        # The clock jumps from 24:00 to 01:00: midnight is the first valid instant after.
        ("America/Santiago", datetime(2026, 9, 6, tzinfo=UTC), "01:00"),
        ("Africa/Cairo", datetime(2026, 4, 24, tzinfo=UTC), "01:00"),
    ],
)
def test_midnight_in_a_gap_runs_at_one(zone: str, day: datetime, expected: str) -> None:
    place = zones.get_zone(zone)
    read = rrule.parse_rrule("DTSTART:20260101T000000\nRRULE:FREQ=DAILY", zone=place)
    noon_before = day.replace(day=day.day - 1, hour=12)

    tick = rrule.find_next_tick(
        read, place, noon_before, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST
    )

    assert tick is not None
    assert tick.local == day.replace(tzinfo=None)
    assert f"{tick.at.astimezone(place):%H:%M}" == expected


def test_a_rule_whose_every_time_is_skipped_has_no_next_tick_and_says_so_at_once() -> None:
    place = zones.get_zone("Europe/Berlin")
    text = "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;BYHOUR=2;BYMINUTE=30"
    read = rrule.parse_rrule(f"DTSTART:20200101T000000\n{text}", zone=place)

    began = process_time()
    tick = rrule.find_next_tick(read, place, SPRING, gap=DstGap.SKIP, overlap=DstOverlap.FIRST)
    took = process_time() - began

    assert tick is None
    assert took < 0.2  # 2 ms here; to the end of datetime's years it would be seconds


def test_a_shift_of_half_an_hour_is_not_taken_for_a_whole_one() -> None:
    # Lord Howe: 02:00 becomes 02:30 on 4 October 2026.
    found = ticks(
        "FREQ=DAILY;BYHOUR=2;BYMINUTE=15", "Australia/Lord_Howe", datetime(2026, 10, 4, tzinfo=UTC)
    )

    place = zones.get_zone("Australia/Lord_Howe")
    assert [f"{tick.at.astimezone(place):%H:%M}" for tick in found] == ["02:30"]


def test_a_day_that_a_country_left_out_runs_at_the_start_of_the_next() -> None:
    # Samoa went from 29 to 31 December 2011.
    place = zones.get_zone("Pacific/Apia")
    read = rrule.parse_rrule("DTSTART:20111201T120000\nRRULE:FREQ=DAILY", zone=place)
    after = datetime(2011, 12, 29, 23, tzinfo=UTC)

    first = rrule.find_next_tick(read, place, after, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST)
    assert first is not None
    second = rrule.find_next_tick(
        read, place, first.at, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST
    )

    assert second is not None
    assert f"{first.local:%d %H:%M} {first.at.astimezone(place):%d %H:%M}" == "30 12:00 31 00:00"
    assert f"{second.local:%d %H:%M}" == "31 12:00"
