"""Zones come from the wheel, and a local time has zero, one or two instants (S9; F08, F09)."""

import zoneinfo
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from rota.core.errors import InvalidSchedule
from rota.core.time import zones
from rota.core.time.tick import DstGap, DstOverlap

BERLIN = zones.get_zone("Europe/Berlin")
APIA = zones.get_zone("Pacific/Apia")


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def instants(
    local: str,
    zone: str = "Europe/Berlin",
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> list[str]:
    ticks = zones.resolve_local_time(wall(local), zones.get_zone(zone), gap=gap, overlap=overlap)
    return [f"{tick.at:%m-%d %H:%M}Z" for tick in ticks]


def test_an_unknown_zone_is_refused_with_the_name_that_was_meant() -> None:
    with pytest.raises(InvalidSchedule) as refused:
        zones.get_zone("europe/berlln")

    assert refused.value.field == "timezone"
    assert refused.value.value == "europe/berlln"
    assert "Europe/Berlin" in refused.value.wanted


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../zones", "zone.tab", "Europe", "U" * 65, "UTC\0"]
)
def test_what_is_no_zone_of_the_wheel_is_refused(name: str) -> None:
    with pytest.raises(InvalidSchedule, match="IANA time zone name"):
        zones.get_zone(name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Factory", "Factory is a placeholder, not a zone"),
        ("CEST", "CEST applies to part of the year only"),
        ("EDT", "EDT applies to part of the year only"),
        ("BST", "BST applies to part of the year only"),
        ("cest", "cest applies to part of the year only"),
        ("GMT+2", "two hours ahead of UTC is Etc/GMT-2"),
        ("UTC+2", "two hours ahead of UTC is Etc/GMT-2"),
        ("utc+02:00", "two hours ahead of UTC is Etc/GMT-2"),
        ("+02:00", "two hours ahead of UTC is Etc/GMT-2"),
        ("-0500", "five hours behind UTC is Etc/GMT+5"),
        ("UTC-5", "five hours behind UTC is Etc/GMT+5"),
        ("+00:00", "use UTC"),
        ("+05:30", "an offset is not a zone"),
        ("+15", "an offset is not a zone"),
        ("Z", "use UTC"),
        ("local", "name the zone"),
        ("localtime", "name the zone"),
        ("system", "name the zone"),
    ],
)
def test_what_is_often_written_for_a_zone_is_refused_with_what_to_write(
    name: str, hint: str
) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        zones.get_zone(name)

    assert hint in refused.value.wanted
    assert "did you mean" not in refused.value.wanted


@pytest.mark.parametrize("name", ["EST", "CET", "GMT", "Z" * 3, "Etc/GMT-2", "UTC"])
def test_names_that_the_wheel_knows_stay_zones(name: str) -> None:
    known = name in zones.zone_names()

    assert known == (name != "ZZZ")
    if known:
        assert zones.get_zone(name).key == name


@pytest.fixture
def lying_machine(tmp_path: Path) -> Iterator[None]:
    """A machine whose own time zone files say that Cocos keeps UTC."""
    (tmp_path / "Indian").mkdir()
    utc = files("tzdata").joinpath("zoneinfo", "UTC").read_bytes()
    (tmp_path / "Indian" / "Cocos").write_bytes(utc)
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([str(tmp_path)])
    yield
    zoneinfo.reset_tzpath(before)


def test_a_zone_is_not_looked_for_on_the_machine(lying_machine: None) -> None:
    noon = wall("2026-01-01 12:00")

    ours = noon.replace(tzinfo=zones.get_zone("Indian/Cocos")).utcoffset()
    machines = noon.replace(tzinfo=zoneinfo.ZoneInfo.no_cache("Indian/Cocos")).utcoffset()

    assert ours == timedelta(hours=6, minutes=30)
    assert machines == timedelta(0)


def test_a_zone_is_read_once() -> None:
    assert zones.get_zone("Asia/Kolkata") is zones.get_zone("Asia/Kolkata")


def test_the_version_of_the_rules_is_the_wheels() -> None:
    year, letter = zones.tzdata_version()[:4], zones.tzdata_version()[4:]

    assert int(year) >= 2026
    assert letter.isalpha()


def test_an_ordinary_time_is_one_instant_without_a_note() -> None:
    (tick,) = zones.resolve_local_time(
        wall("2026-07-01 09:30"), BERLIN, gap=DstGap.SKIP, overlap=DstOverlap.SECOND
    )

    assert tick.at.isoformat() == "2026-07-01T07:30:00+00:00"
    assert tick.local == wall("2026-07-01 09:30")
    assert tick.note is None


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (DstGap.RUN_AFTER, ["03-29 01:00Z"]),
        (DstGap.SHIFT, ["03-29 01:30Z"]),
        (DstGap.SKIP, []),
    ],
)
def test_a_time_in_the_gap_follows_its_rule(gap: DstGap, expected: list[str]) -> None:
    assert instants("2026-03-29 02:30", gap=gap) == expected


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        (DstOverlap.FIRST, ["10-25 00:30Z"]),
        (DstOverlap.SECOND, ["10-25 01:30Z"]),
        (DstOverlap.BOTH, ["10-25 00:30Z", "10-25 01:30Z"]),
    ],
)
def test_a_time_in_the_overlap_follows_its_rule(overlap: DstOverlap, expected: list[str]) -> None:
    assert instants("2026-10-25 02:30", overlap=overlap) == expected


@pytest.mark.parametrize(
    ("local", "zone", "expected"),
    [
        # Half an hour: 02:00 to 02:30.
        ("2026-10-04 02:15", "Australia/Lord_Howe", ["10-03 15:30Z"]),
        # Midnight itself is missing.
        ("2026-09-06 00:00", "America/Santiago", ["09-06 04:00Z"]),
        ("2026-04-24 00:00", "Africa/Cairo", ["04-23 22:00Z"]),
        # A whole day is missing.
        ("2011-12-30 09:00", "Pacific/Apia", ["12-30 10:00Z"]),
        # Winter time is the exception there, by law; the clocks go as in London.
        ("2026-03-29 01:30", "Europe/Dublin", ["03-29 01:00Z"]),
        # Set back for Ramadan, forward after it.
        ("2026-03-22 02:30", "Africa/Casablanca", ["03-22 02:00Z"]),
    ],
)
def test_a_missing_time_runs_at_the_first_instant_after_the_gap(
    local: str, zone: str, expected: list[str]
) -> None:
    assert instants(local, zone) == expected


def test_the_half_hour_that_comes_twice_is_told_apart() -> None:
    both = instants("2026-04-05 01:45", "Australia/Lord_Howe", overlap=DstOverlap.BOTH)

    assert both == ["04-04 14:45Z", "04-04 15:15Z"]


def test_notes_say_what_happened() -> None:
    (moved,) = zones.resolve_local_time(
        wall("2026-03-29 02:30"), BERLIN, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST
    )
    (first,) = zones.resolve_local_time(
        wall("2026-10-25 02:30"), BERLIN, gap=DstGap.SKIP, overlap=DstOverlap.FIRST
    )
    (another_day,) = zones.resolve_local_time(
        wall("2011-12-30 09:00"), APIA, gap=DstGap.SHIFT, overlap=DstOverlap.FIRST
    )

    assert moved.note == "moved from 02:30, which the clock jumped over"
    assert moved.local == wall("2026-03-29 02:30")
    assert first.note == "02:30 occurs twice; only the first runs"
    assert another_day.note == "moved from 2011-12-30 09:00, which the clock jumped over"


def test_the_second_of_two_times_carries_the_fold() -> None:
    first, second = zones.resolve_local_time(
        wall("2026-10-25 02:30"), BERLIN, gap=DstGap.SKIP, overlap=DstOverlap.BOTH
    )

    assert (first.local.fold, second.local.fold) == (0, 1)
    assert second.at - first.at == timedelta(hours=1)
    assert first.note == "first of two occurrences of 02:30"
    assert second.note == "second of two occurrences of 02:30"


def test_a_fraction_of_a_second_is_kept() -> None:
    local = wall("2026-10-25 02:30:00.250000")

    (tick,) = zones.resolve_local_time(local, BERLIN, gap=DstGap.SKIP, overlap=DstOverlap.SECOND)

    assert tick.at.microsecond == 250_000


def test_a_time_a_moment_into_the_gap_runs_when_the_gap_ends() -> None:
    local = wall("2026-03-29 02:59:59.999999")

    (tick,) = zones.resolve_local_time(
        local, BERLIN, gap=DstGap.RUN_AFTER, overlap=DstOverlap.FIRST
    )

    assert tick.at.isoformat() == "2026-03-29T01:00:00+00:00"
