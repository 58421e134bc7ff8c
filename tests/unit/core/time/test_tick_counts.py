"""Ticks that are counted are the ticks that are walked, whatever the rules and the clocks do."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.time.planning import plan_ticks
from rota.core.time.schedule import MICROSECOND, Schedule
from rota.core.time.tick_density import DensitySpan, ScheduleGroup, compute_tick_density

CREATED = datetime(2026, 1, 1, 0, 0, 7, tzinfo=UTC)
HOUR, MINUTE, DAY = timedelta(hours=1), timedelta(minutes=1), timedelta(days=1)
HOLIDAYS = read_calendar(
    {
        "name": "holidays",
        "timezone": "Europe/Berlin",
        "weekly": [{"start": "sat 18:00", "end": "sun 06:30"}],
        "yearly": ["03-29"],
    }
)
# Around both changes of the clocks, a new year, and the one zone whose clocks move by half an hour.
STARTS = (
    datetime(2026, 3, 27, 23, 17, 3, 250_000, tzinfo=UTC),
    datetime(2026, 10, 23, 0, 0, tzinfo=UTC),
    datetime(2026, 12, 30, 22, 0, tzinfo=UTC),
    datetime(2026, 4, 3, 12, 30, tzinfo=UTC),
)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
RULES: tuple[dict[str, object], ...] = (
    {"cron": "30 2 * * *"},
    {"cron": "*/20 1-3 * * *"},
    {"cron": "*/7 * * * *"},
    {"cron": "*/40 15 2,3 * * *"},
    {"cron": "0 0 1 * FRI"},
    {"cron": "0 12 L * *"},
    {"every": "7m"},
    {"every": "97s"},
    {"cron": ["*/5 * * * *", "0 2 * * *"], "every": "10m", "at": "2026-03-29T01:00:00Z"},
)
EDGES = tuple(product(("run_after", "skip", "shift"), ("first", "second", "both")))


def walk(schedule: Schedule, span: DensitySpan) -> Counter[int]:
    """The same by asking the planner for one tick after the other."""
    ahead = plan_ticks(
        schedule,
        span.since - MICROSECOND,
        span.until - MICROSECOND,
        calendars={"holidays": HOLIDAYS},
    )
    return Counter(span.part(each.due_at) for each in ahead)


def count(schedule: Schedule, span: DensitySpan) -> Counter[int]:
    found = compute_tick_density(
        [ScheduleGroup(schedule=schedule, size=1)], span, calendars={"holidays": HOLIDAYS}
    )
    assert not found.is_estimate
    assert found.groups[0].ticks == found.parts.total()
    return found.parts


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_count_is_the_walk_of_the_planner(rule: dict[str, object]) -> None:
    """S12, I2: in every zone and for every answer to a change of the clocks."""
    choose = random.Random(str(rule))
    for timezone, start in product(ZONES, STARTS):
        gap, overlap = choose.choice(EDGES)
        calendars = choose.choice(([], ["holidays"]))
        schedule = read_schedule(
            {
                **rule,
                "timezone": timezone,
                "dst": {"gap": gap, "overlap": overlap},
                "calendars": calendars,
            },
            now=CREATED,
        )
        width, length = choose.choice(((MINUTE, DAY), (HOUR, 4 * DAY)))
        span = DensitySpan(since=start, until=start + length, width=width)

        assert count(schedule, span) == walk(schedule, span), (timezone, start, gap, overlap)


@pytest.mark.parametrize(("gap", "overlap"), EDGES)
def test_every_answer_to_a_change_of_the_clocks_is_counted(gap: str, overlap: str) -> None:
    """S12"""
    for cron, month in product(("*/10 1-3 * * *", "30 2 * * *", "0 3 * * *"), (3, 10)):
        schedule = read_schedule(
            {"cron": cron, "timezone": "Europe/Berlin", "dst": {"gap": gap, "overlap": overlap}},
            now=CREATED,
        )
        start = datetime(2026, month, 24, tzinfo=UTC)
        span = DensitySpan(since=start, until=start + 7 * DAY, width=MINUTE)

        assert count(schedule, span) == walk(schedule, span)


def test_a_combined_schedule_counts_an_instant_once() -> None:
    schedule = read_schedule({"cron": ["* * * * * *", "*/5 * * * *"], "every": "1m"}, now=CREATED)
    start = datetime(2026, 5, 1, tzinfo=UTC)

    found = count(schedule, DensitySpan(since=start, until=start + HOUR, width=MINUTE))

    assert found == dict.fromkeys(range(60), 60)


def test_a_window_bounds_the_count() -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    window = {"start": "2026-05-01T00:10:00Z", "end": "2026-05-01T00:13:00Z"}
    schedule = read_schedule({"every": "30s", "window": window}, now=CREATED)

    found = count(schedule, DensitySpan(since=start, until=start + HOUR, width=MINUTE))

    assert found == {10: 2, 11: 2, 12: 2}


@pytest.mark.parametrize("on_blackout", ["defer", "advance"])
def test_ticks_that_a_calendar_moves_are_counted_where_they_start(on_blackout: str) -> None:
    schedule = read_schedule(
        {"every": "1h", "calendars": ["holidays"], "on_blackout": on_blackout}, now=CREATED
    )
    friday = datetime(2026, 5, 1, tzinfo=UTC)
    week = DensitySpan(since=friday, until=friday + 7 * DAY, width=MINUTE)
    expected = walk(schedule, week)

    for hours in range(0, 7 * 24, 5):
        since = friday + hours * HOUR
        span = DensitySpan(since=since, until=since + HOUR, width=MINUTE)
        part = week.part(since)
        assert count(schedule, span) == {
            place - part: number for place, number in expected.items() if part <= place < part + 60
        }
