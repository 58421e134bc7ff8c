"""The ticks of a past range, from either end and in parts of any size, are those that there are."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.time import planning
from rota.core.time.past_ticks import PastTicks
from rota.core.time.schedule import MICROSECOND

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
CALENDARS = {
    "quiet": read_calendar({"name": "quiet", "dates": ["2026-06-20", "2026-06-27"]}),
}
SCHEDULES = [
    {"cron": "* * * * *"},
    {"cron": "*/7 3-5 * * 1-5", "timezone": "Europe/Berlin"},
    {"cron": "30 2 * * *", "timezone": "America/New_York"},
    {"cron": "0 0 1 * *"},
    {"cron": "15 * * * *", "jitter": "10m"},
    {"cron": "0 * * * *", "calendars": ["quiet"]},
    {"cron": "0 * * * *", "calendars": ["quiet"], "on_blackout": "defer"},
    {"rrule": "FREQ=DAILY;BYHOUR=6,18;BYMINUTE=0;BYSECOND=0"},
]


def past_of(schedule: dict[str, object], since: datetime, until: datetime) -> PastTicks:
    read = read_schedule(schedule, now=NOW, seed="x")
    return PastTicks(schedule=read, since=since, until=until, calendars=CALENDARS)


def all_ticks(past: PastTicks) -> list[datetime]:
    ahead = planning.plan_ticks(
        past.schedule, past.since - MICROSECOND, past.until - MICROSECOND, calendars=past.calendars
    )
    return [planned.tick.at for planned in ahead]


schedules = st.sampled_from(SCHEDULES)
spans = st.tuples(
    st.integers(min_value=0, max_value=60 * 24 * 15), st.integers(min_value=0, max_value=60 * 36)
)


@given(schedule=schedules, span=spans, most=st.integers(min_value=1, max_value=400))
@settings(max_examples=60, deadline=None)
def test_parts_from_the_oldest_on_are_all_ticks_once(
    schedule: dict[str, object], span: tuple[int, int], most: int
) -> None:
    until = NOW - timedelta(minutes=span[0])
    whole = past_of(schedule, until - timedelta(minutes=span[1]), until)
    found: list[datetime] = []
    past = whole
    while past.since != whole.until:
        part = past.read_oldest(most)
        assert len(part.ticks) <= most
        found += part.ticks
        past = past_of(schedule, part.reached, whole.until)

    assert found == all_ticks(whole)


@given(schedule=schedules, span=spans, most=st.integers(min_value=1, max_value=400))
@settings(max_examples=60, deadline=None)
def test_parts_from_the_newest_on_are_all_ticks_once_backwards(
    schedule: dict[str, object], span: tuple[int, int], most: int
) -> None:
    until = NOW - timedelta(minutes=span[0])
    whole = past_of(schedule, until - timedelta(minutes=span[1]), until)
    found: list[datetime] = []
    past = whole
    while past.until != whole.since:
        part = past.read_newest(most)
        assert len(part.ticks) <= most
        found += part.ticks
        past = past_of(schedule, whole.since, part.reached)

    assert found == all_ticks(whole)[::-1]


@pytest.mark.parametrize(
    ("cron", "days", "there"),
    [
        ("* * * * *", 365, 525_600),
        ("* 3-5 * * 1-5", 364, 46_800),
        ("* * 7 * * *", 28, 100_800),
        ("* * * * * *", 365, 31_536_000),
    ],
    ids=["every minute", "in nights of weeks", "an hour of seconds a day", "every second"],
)
def test_a_range_with_too_many_ticks_is_guessed_well(cron: str, days: int, there: int) -> None:
    past = past_of({"cron": cron}, NOW - timedelta(days=days), NOW)

    guess = past.count(5_000)

    assert guess.is_estimate
    assert guess.ticks == pytest.approx(there, rel=0.25)


def test_a_range_with_as_many_ticks_as_are_counted_is_counted() -> None:
    past = past_of({"cron": "* * * * *"}, NOW - timedelta(minutes=600), NOW)

    assert past.count(600) == (600, False)
    assert past.count(599).is_estimate


def test_an_empty_range_has_no_ticks() -> None:
    past = past_of({"cron": "* * * * *"}, NOW, NOW)

    assert (past.read_oldest(10), past.read_newest(10)) == (((), NOW), ((), NOW))
    assert past.count(10) == (0, False)
