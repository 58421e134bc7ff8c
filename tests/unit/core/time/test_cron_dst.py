"""The vectors of reference/semantics.md 3, and the odd zones of the world (S9; F08)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest

from rota.core.time import cron, zones
from rota.core.time.tick import DstGap, DstOverlap, Tick


def ticks_on(
    text: str,
    day: str,
    zone_name: str = "Europe/Berlin",
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> list[Tick]:
    """All ticks on one local day."""
    zone = zones.get_zone(zone_name)
    date = datetime.fromisoformat(day).date()
    after = datetime(date.year, date.month, date.day, tzinfo=UTC) - timedelta(days=2)
    found: list[Tick] = []
    for tick in cron.iterate_ticks(cron.parse_cron(text), zone, after, gap=gap, overlap=overlap):
        shown = tick.at.astimezone(zone).date()
        if shown > date:
            return found
        if shown == date:
            found.append(tick)
    return found


def walls(ticks: list[Tick], zone_name: str = "Europe/Berlin") -> list[str]:
    """The wall times of ticks, each with its offset."""
    zone = zones.get_zone(zone_name)
    return [f"{tick.at.astimezone(zone):%H:%M%z}".removesuffix("00") for tick in ticks]


GAP, OVERLAP = "2026-03-29", "2026-10-25"


@pytest.mark.parametrize(
    ("text", "in_spring", "in_autumn"),
    [
        ("30 2 * * *", ["03:00+02"], ["02:30+02"]),
        ("0 2,3 * * *", ["03:00+02"], ["02:00+02", "03:00+01"]),
        ("15,45 2 * * *", ["03:00+02"], ["02:15+02", "02:45+02"]),
        ("*/30 1-3 * * *", ["01:00+01", "01:30+01", "03:00+02", "03:30+02"],
         ["01:00+02", "01:30+02", "02:00+02", "02:30+02",
          "02:00+01", "02:30+01", "03:00+01", "03:30+01"]),
    ],
)  # fmt: skip
def test_the_vectors_of_both_days(text: str, in_spring: list[str], in_autumn: list[str]) -> None:
    assert walls(ticks_on(text, GAP)) == in_spring
    assert walls(ticks_on(text, OVERLAP)) == in_autumn


@pytest.mark.parametrize(
    ("text", "in_spring", "in_autumn"),
    [
        ("0 */2 * * *", ["00:00+01", "03:00+02", "04:00+02"], ["00:00+02", "02:00+02", "04:00+01"]),
        ("0 * * * *", ["00:00+01", "01:00+01", "03:00+02", "04:00+02"],
         ["00:00+02", "01:00+02", "02:00+02", "02:00+01", "03:00+01", "04:00+01"]),
    ],
)  # fmt: skip
def test_the_vectors_of_every_hour_and_every_other_hour(
    text: str, in_spring: list[str], in_autumn: list[str]
) -> None:
    assert walls(ticks_on(text, GAP))[: len(in_spring)] == in_spring
    assert walls(ticks_on(text, OVERLAP))[: len(in_autumn)] == in_autumn


def test_every_quarter_hour_follows_elapsed_time_through_both_days() -> None:
    spring, autumn = ticks_on("*/15 * * * *", GAP), ticks_on("*/15 * * * *", OVERLAP)

    assert (len(spring), len(autumn)) == (23 * 4, 25 * 4)
    for ticks in (spring, autumn):
        pairs = pairwise(ticks)
        assert {late.at - early.at for early, late in pairs} == {timedelta(minutes=15)}


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (DstGap.RUN_AFTER, ["03:00+02"]),
        (DstGap.SKIP, []),
        (DstGap.SHIFT, ["03:15+02", "03:45+02"]),
    ],
)
def test_the_rule_for_the_gap_is_followed(gap: DstGap, expected: list[str]) -> None:
    assert walls(ticks_on("15,45 2 * * *", GAP, gap=gap)) == expected


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        (DstOverlap.FIRST, ["02:15+02", "02:45+02"]),
        (DstOverlap.SECOND, ["02:15+01", "02:45+01"]),
        (DstOverlap.BOTH, ["02:15+02", "02:45+02", "02:15+01", "02:45+01"]),
    ],
)
def test_the_rule_for_the_overlap_is_followed(overlap: DstOverlap, expected: list[str]) -> None:
    assert walls(ticks_on("15,45 2 * * *", OVERLAP, overlap=overlap)) == expected


def test_a_moved_time_takes_its_place_among_the_times_after_the_gap() -> None:
    after_gap = ticks_on("10,50 2,3 * * *", GAP)
    shifted = ticks_on("10,50 2,3 * * *", GAP, gap=DstGap.SHIFT)

    assert walls(after_gap) == ["03:00+02", "03:10+02", "03:50+02"]
    assert walls(shifted) == ["03:10+02", "03:50+02"]
    assert shifted[0].note == "also covers 02:10, which the clock jumped over"


def test_times_that_fall_on_one_instant_are_one_tick_that_says_so() -> None:
    (both,) = ticks_on("0 2,3 * * *", GAP)
    (moved,) = ticks_on("15,45 2 * * *", GAP)
    (many,) = ticks_on("5,15,25,35,45 2 * * *", GAP)

    assert f"{both.local}" == "2026-03-29 03:00:00"
    assert both.note == "also covers 02:00, which the clock jumped over"
    assert f"{moved.local}" == "2026-03-29 02:15:00"
    assert moved.note == "moved from 02:15, which the clock jumped over; also covers 02:45"
    assert many.note is not None
    assert many.note.endswith("also covers 02:15, 02:25, and more")


def test_a_suppressed_fold_is_noted() -> None:
    (tick,) = ticks_on("30 2 * * *", OVERLAP)

    assert tick.note == "02:30 occurs twice; only the first runs"


@pytest.mark.parametrize(
    ("text", "interval_like"),
    [
        ("* 2 * * *", True),
        ("*/15 2 * * *", True),
        ("H/15 2 * * *", True),
        ("0/15 2 * * *", True),
        ("0-59 2 * * *", True),
        ("0-29,30-59 2 * * *", True),
        ("0 * * * *", True),
        ("0 */1 * * *", True),
        ("0 0-23 * * *", True),
        ("H * * * *", True),
        ("*/10 0 9 * * *", True),
        ("* 0 9 * * *", True),
        ("0 */2 * * *", False),
        ("0 9 * * *", False),
        ("15/15 9 * * *", False),
        ("0,30 9 * * *", False),
        ("H(0-29)/10 9 * * *", False),
        ("30 0 9 * * *", False),
        ("@hourly", True),
        ("@daily", False),
    ],
)
def test_an_expression_is_classed_once(text: str, interval_like: bool) -> None:
    assert cron.parse_cron(text).interval_like is interval_like


@pytest.mark.parametrize(
    ("text", "day", "zone", "expected"),
    [
        # 02:00 becomes 02:30 and, in autumn, 01:30.
        ("15 2 * * *", "2026-10-04", "Australia/Lord_Howe", ["02:30+11"]),
        ("45 1 * * *", "2026-04-05", "Australia/Lord_Howe", ["01:45+11"]),
        ("0 * * * *", "2026-10-04", "Australia/Lord_Howe",
         ["00:00+1030", "01:00+1030", "03:00+11"]),
        # Midnight is missing.
        ("0 0 * * *", "2026-09-06", "America/Santiago", ["01:00-03"]),
        ("0 0 * * *", "2026-04-24", "Africa/Cairo", ["01:00+03"]),
        ("0 0,1 * * *", "2026-09-06", "America/Santiago", ["01:00-03"]),
        # 23:00 to 24:00 comes twice there, on the day before.
        ("30 23 * * *", "2026-04-04", "America/Santiago", ["23:30-03"]),
        # The day after the missing one begins with what the missing day had.
        ("0 9 * * *", "2011-12-31", "Pacific/Apia", ["00:00+14", "09:00+14"]),
        ("0 9 * * *", "2011-12-29", "Pacific/Apia", ["09:00-10"]),
        # An hour back for Ramadan, and forward after it.
        ("30 2 * * *", "2026-02-15", "Africa/Casablanca", ["02:30+01"]),
        ("30 2 * * *", "2026-03-22", "Africa/Casablanca", ["03:00+01"]),
        # Winter is the exception by law.
        ("30 1 * * *", "2026-03-29", "Europe/Dublin", ["02:00+01"]),
        ("30 1 * * *", "2026-10-25", "Europe/Dublin", ["01:30+01"]),
    ],
)  # fmt: skip
def test_the_odd_zones(text: str, day: str, zone: str, expected: list[str]) -> None:
    assert walls(ticks_on(text, day, zone), zone)[:3] == expected


def test_a_day_that_never_was_shifts_to_the_next_one() -> None:
    ticks = ticks_on("0 9 * * *", "2011-12-31", "Pacific/Apia", gap=DstGap.SHIFT)

    assert walls(ticks, "Pacific/Apia") == ["09:00+14"]
    assert ticks[0].note == "also covers 2011-12-30 09:00, which the clock jumped over"


def test_a_start_in_the_second_fold_looks_forward() -> None:
    zone = zones.get_zone("Europe/Berlin")
    second_fold = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)

    tick = cron.find_next_tick(cron.parse_cron("30 2 * * *"), zone, second_fold)

    assert tick is not None
    assert tick.at == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_a_time_that_is_always_in_the_gap_has_no_next_tick_when_skipped() -> None:
    expression = cron.parse_cron("30 2 25-31 3 SUN", day_match=cron.DayMatch.ALL)
    zone, start = zones.get_zone("Europe/Berlin"), datetime(2026, 1, 1, tzinfo=UTC)

    assert cron.find_next_tick(expression, zone, start, gap=DstGap.SKIP) is None
    assert not cron.fires_within(expression, zone, start, gap=DstGap.SKIP)
    assert cron.fires_within(expression, zone, start)


def test_a_yearly_time_in_the_overlap_is_not_lost_to_its_second_pass() -> None:
    zone, start = zones.get_zone("Europe/Berlin"), datetime(2026, 10, 1, tzinfo=UTC)
    yearly = cron.parse_cron("30 2 25 10 *")

    second = cron.find_next_tick(yearly, zone, start, overlap=DstOverlap.SECOND)
    between = datetime(2026, 10, 25, 0, 45, tzinfo=UTC)
    both = cron.find_next_tick(yearly, zone, between, overlap=DstOverlap.BOTH)

    assert second is not None
    assert second.at == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert both == replace(second, note="second of two occurrences of 02:30")


def test_times_shifted_across_new_year_are_not_lost() -> None:
    # Kiritimati left out 31 December 1994; 15:00 lands in 1995 by any clock.
    zone, start = zones.get_zone("Pacific/Kiritimati"), datetime(1994, 12, 29, tzinfo=UTC)

    early = cron.iterate_ticks(cron.parse_cron("0 1,15 31 12 *"), zone, start, gap=DstGap.SHIFT)
    start = datetime(1995, 1, 1, 0, 30, tzinfo=UTC)
    late = cron.iterate_ticks(cron.parse_cron("0 1,15 31 12 *"), zone, start, gap=DstGap.SHIFT)

    shown = [f"{tick.at.astimezone(zone):%Y-%m-%d %H}" for tick in islice(early, 3)]
    assert shown == ["1995-01-01 01", "1995-01-01 15", "1995-12-31 01"]
    assert f"{next(late).at.astimezone(zone):%Y-%m-%d %H}" == "1995-01-01 15"
