"""Expectations are checked against the schedule: the search finds what a slow one finds."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.alerts.conditions import (
    AtRisk,
    Condition,
    FinishBy,
    MaxDuration,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.validation import ConditionChecker
from rota.core.errors import InvalidInput
from rota.core.time.budget import SearchBudget
from rota.core.time.calendars import Calendar
from rota.core.time.planning import plan_next_tick
from rota.core.time.schedule import Schedule

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def build(cron: str, zone: str = "UTC") -> Schedule:
    return read_schedule({"cron": cron, "timezone": zone}, now=NOW)


@given(
    hours=st.sets(st.integers(0, 23), min_size=1, max_size=4),
    days=st.sets(st.integers(1, 7), min_size=1, max_size=4),
    limit=st.integers(1, 200),
)
@settings(max_examples=40, deadline=None)
def test_the_longest_gap_is_the_one_that_a_look_at_every_tick_finds(
    hours: set[int], days: set[int], limit: int
) -> None:
    schedule = build(
        f"0 {','.join(map(str, sorted(hours)))} * * {','.join(map(str, sorted(days)))}"
    )
    ticks: list[datetime] = []
    after = NOW
    while after < NOW + timedelta(days=22):
        planned = plan_next_tick(schedule, after)
        assert planned is not None
        after = planned.tick.at
        ticks.append(after)
    longest = max(later - earlier for earlier, later in pairwise(ticks))

    checker = ConditionChecker(schedule, NOW, budget=SearchBudget(100_000))
    found = checker.find_longest_gap(longer_than=limit * HOUR)

    assert (None if found is None else found.length) == (
        longest if longest > limit * HOUR else None
    )


def test_the_gap_includes_the_days_of_a_calendar() -> None:
    schedule = read_schedule({"cron": "0 2 * * *", "calendars": ["holidays"]}, now=NOW)
    holidays: Calendar = read_calendar(
        {"name": "holidays", "dates": ["2026-12-24", "2026-12-25", "2026-12-26"]}
    )
    checker = ConditionChecker(schedule, NOW, calendars={"holidays": holidays})

    with pytest.raises(InvalidInput) as caught:
        checker.check([SucceedEvery(every=26 * HOUR)])

    assert "Wed 2026-12-23 02:00 to Sun 2026-12-27 02:00 is 96 h" in str(caught.value)


def test_a_dense_schedule_is_checked_within_the_budget() -> None:
    checker = ConditionChecker(build("* * * * *"), NOW)

    assert checker.check([SucceedEvery(every=timedelta(minutes=2))]) == []


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_a_deadline_at_night_is_accepted_across_changes_of_the_clock(zone: str) -> None:
    schedule = build("30 1 * * *", zone)
    half_past_two = FinishBy(time_of_day=datetime(2026, 1, 1, 2, 30, tzinfo=UTC).time())

    assert ConditionChecker(schedule, NOW).check([half_past_two, AtRisk()]) == []


def test_a_job_that_runs_once_may_have_a_deadline() -> None:
    once = read_schedule({"at": "2026-12-01T02:00:00Z"}, now=NOW)
    conditions: list[Condition] = [
        StartWithin(within=HOUR),
        FinishBy(after=HOUR),
        SucceedEvery(every=HOUR),
    ]

    assert ConditionChecker(once, NOW).check(conditions) == []


def test_a_fixed_delay_needs_at_least_its_delay() -> None:
    schedule = read_schedule({"fixed_delay": "2h"}, now=NOW)

    with pytest.raises(InvalidInput, match="2 hours after the previous one ended"):
        ConditionChecker(schedule, NOW).check([SucceedEvery(every=HOUR)])
    assert ConditionChecker(schedule, NOW).check([SucceedEvery(every=3 * HOUR)]) == []


def test_a_limit_above_the_timeout_is_a_warning() -> None:
    checker = ConditionChecker(build("0 2 * * *"), NOW, timeout=HOUR)

    (warning,) = checker.check([MaxDuration(limit=2 * HOUR)])

    assert warning.startswith("max_duration: 2 hours is too long")
