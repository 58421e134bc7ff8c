"""How many ticks fall when: counted, spread, and told to be an estimate where it is one."""

from datetime import UTC, datetime, timedelta

import pytest

from rota.core.time import plain
from rota.core.time.crowding import BUDGET, CHEAP, Alike, Span, crowding

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def alike(number: int = 1, **schedule: object) -> Alike:
    return Alike(schedule=plain.parse(schedule, now=NOON), number=number)


def span(length: timedelta, width: timedelta = MINUTE, since: datetime = NOON) -> Span:
    return Span(since=since, until=since + length, width=width)


def test_a_herd_is_one_high_part() -> None:
    found = crowding([alike(500, cron="0 * * * *"), alike(3, cron="30 * * * *")], span(HOUR))

    assert dict(found.parts) == {0: 500, 30: 3}
    assert found.each == [1, 1]
    assert not found.is_estimate


def test_the_first_instant_belongs_to_the_span_and_the_last_does_not() -> None:
    found = crowding([alike(cron="0 * * * *")], span(2 * HOUR, HOUR))

    assert dict(found.parts) == {0: 1, 1: 1}


def test_jitter_spreads_a_herd_evenly_over_its_window() -> None:
    found = crowding([alike(100, cron="0 * * * *", jitter="10m")], span(HOUR))

    assert dict(found.parts) == dict.fromkeys(range(10), 10)


def test_a_few_jobs_in_a_wide_window_are_still_all_counted() -> None:
    found = crowding([alike(7, cron="0 12 * * *", jitter="30m")], span(HOUR))

    assert sum(found.parts.values()) == 7
    assert max(found.parts.values()) == 1


def test_a_tick_before_the_span_may_reach_into_it_by_its_jitter() -> None:
    found = crowding([alike(60, cron="0 * * * *", jitter="60m")], span(MINUTE, since=NOON + MINUTE))

    assert dict(found.parts) == {0: 1}


def test_many_intervals_that_are_never_alike_are_still_seen_as_a_herd() -> None:
    anchored = [{"interval": "1h", "anchor": "2026-07-01T00:00:00Z"} for _ in range(1000)]
    found = crowding([alike(every=each) for each in anchored], span(DAY))

    assert dict(found.parts) == dict.fromkeys(range(0, 1440, 60), 1000)
    assert not found.is_estimate


@pytest.mark.parametrize("schedule", [{"every": "1s"}, {"cron": "* * * * * *"}], ids=str)
def test_more_ticks_than_the_budget_go_on_at_the_same_rate(schedule: dict[str, object]) -> None:
    week = 7 * DAY
    found = crowding([alike(2, **schedule)], span(week, HOUR))

    assert week.total_seconds() > CHEAP * BUDGET
    assert found.is_estimate
    assert sum(found.parts.values()) == pytest.approx(2 * week.total_seconds(), rel=0.05)
    assert len(found.parts) == 7 * 24


def test_what_follows_the_end_of_a_run_has_no_ticks_that_anybody_knows() -> None:
    found = crowding([alike(fixed_delay="5m")], span(DAY))

    assert not found.parts
    assert found.each == [0]


def test_a_schedule_whose_calendar_is_gone_is_left_out() -> None:
    lost = alike(cron="0 * * * *", calendars=["holidays"])

    found = crowding([lost, alike(cron="5 * * * *")], span(HOUR))

    assert dict(found.parts) == {5: 1}
    assert found.each == [0, 1]


def test_a_cap_on_runs_holds_here_too() -> None:
    capped = plain.parse({"cron": "* * * * *", "window": {"max_runs": 10}}, now=NOON)

    found = crowding([Alike(schedule=capped, number=1, fired=7)], span(HOUR))

    assert sum(found.parts.values()) == 3
