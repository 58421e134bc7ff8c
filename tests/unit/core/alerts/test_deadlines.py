"""When the run of a tick must have succeeded, also on the days on which the clock changes."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.alerts.conditions import FinishBy
from rota.core.alerts.deadlines import compute_finish_deadline
from rota.core.time.zones import get_zone

HALF_PAST_TWO = FinishBy(time_of_day=time(2, 30))
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Gaza",
)


def at(text: str, zone: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=get_zone(zone)).astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "tick", "deadline"),
    [
        # A day without a change.
        ("Europe/Berlin", "2027-03-10T01:00", "2027-03-10T01:30+00:00"),
        ("Europe/Berlin", "2027-03-10T02:30", "2027-03-11T01:30+00:00"),
        ("Europe/Berlin", "2027-03-10T22:00", "2027-03-11T01:30+00:00"),
        # 02:30 does not exist: as long after the jump, 03:30 local.
        ("Europe/Berlin", "2027-03-28T01:00", "2027-03-28T01:30+00:00"),
        ("America/New_York", "2027-03-14T01:00", "2027-03-14T07:30+00:00"),
        # The clock jumps by half an hour, from 02:00 to 02:30.
        ("Australia/Lord_Howe", "2027-10-03T01:00", "2027-10-02T15:30+00:00"),
        # The clock jumps at midnight; 02:30 exists.
        ("America/Santiago", "2027-09-04T22:00", "2027-09-05T05:30+00:00"),
        ("Asia/Gaza", "2027-03-27T01:00", "2027-03-27T00:30+00:00"),
        # 02:30 occurs twice: the first one.
        ("Europe/Berlin", "2027-10-31T01:00", "2027-10-31T00:30+00:00"),
        ("America/New_York", "2027-11-07T00:30", "2027-11-07T07:30+00:00"),
        ("Australia/Lord_Howe", "2027-04-04T01:00", "2027-04-03T16:00+00:00"),
        ("America/Santiago", "2027-04-03T20:00", "2027-04-04T06:30+00:00"),
        ("Asia/Gaza", "2027-10-30T00:30", "2027-10-30T00:30+00:00"),
    ],
)
def test_half_past_two_on_both_days_of_the_year(zone: str, tick: str, deadline: str) -> None:
    found = compute_finish_deadline(at(tick, zone), get_zone(zone), HALF_PAST_TWO)

    assert found == datetime.fromisoformat(deadline)


def test_a_tick_between_the_two_occurrences_has_the_second_as_its_deadline() -> None:
    zone = get_zone("Europe/Berlin")
    # 02:10 the second time, after the clock was set back.
    tick = datetime(2027, 10, 31, 1, 10, tzinfo=UTC)

    found = compute_finish_deadline(tick, zone, HALF_PAST_TWO)

    assert found == datetime(2027, 10, 31, 1, 30, tzinfo=UTC)


def test_a_duration_counts_elapsed_time_across_a_change_of_the_clock() -> None:
    tick = at("2027-03-28T01:00", "Europe/Berlin")
    finish_by = FinishBy(after=timedelta(hours=3, minutes=30))

    found = compute_finish_deadline(tick, get_zone("Europe/Berlin"), finish_by)

    assert found - tick == timedelta(hours=3, minutes=30)


@given(
    zone=st.sampled_from(ZONES),
    tick=st.datetimes(datetime(2024, 1, 1), datetime(2032, 1, 1)),  # noqa: DTZ001
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
)
def test_a_deadline_is_after_its_tick_and_within_about_a_day(
    zone: str, tick: datetime, hour: int, minute: int
) -> None:
    start = tick.replace(tzinfo=UTC)
    finish_by = FinishBy(time_of_day=time(hour, minute))

    found = compute_finish_deadline(start, get_zone(zone), finish_by)

    assert start < found <= start + timedelta(hours=26)
    local = found.astimezone(get_zone(zone))
    gap = timedelta(hours=local.hour - hour, minutes=local.minute - minute)
    assert gap in {timedelta(0), timedelta(minutes=30), timedelta(hours=1), timedelta(hours=-23)}
