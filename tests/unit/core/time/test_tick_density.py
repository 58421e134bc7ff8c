"""How many ticks fall when: counted, spread, and told to be an estimate where it is one."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from rota.contract.schedule import read_schedule
from rota.core.time import planning
from rota.core.time.schedule import MICROSECOND
from rota.core.time.tick_density import (
    WALKED_TICKS_MAX,
    DensitySpan,
    ScheduleGroup,
    TickDensity,
    compute_tick_density,
)

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def alike(number: int = 1, **schedule: object) -> ScheduleGroup:
    return ScheduleGroup(schedule=read_schedule(schedule, now=NOON), size=number)


def span(length: timedelta, width: timedelta = MINUTE, since: datetime = NOON) -> DensitySpan:
    return DensitySpan(since=since, until=since + length, width=width)


def ticks(found: TickDensity) -> list[int]:
    return [each.ticks for each in found.groups]


def test_a_herd_is_one_high_part() -> None:
    found = compute_tick_density(
        [alike(500, cron="0 * * * *"), alike(3, cron="30 * * * *")], span(HOUR)
    )

    assert dict(found.parts) == {0: 500, 30: 3}
    assert ticks(found) == [1, 1]
    assert not found.is_estimate


def test_the_first_instant_belongs_to_the_span_and_the_last_does_not() -> None:
    found = compute_tick_density([alike(cron="0 * * * *")], span(2 * HOUR, HOUR))

    assert dict(found.parts) == {0: 1, 1: 1}


def test_jitter_is_counted_where_each_tick_will_start() -> None:
    herd = [
        ScheduleGroup(
            schedule=read_schedule({"cron": "0 * * * *", "jitter": "10m"}, now=NOON, seed=seed),
            size=1,
        )
        for seed in map(str, range(50))
    ]
    starts = [planning.plan_next_tick(each.schedule, NOON - MICROSECOND) for each in herd]

    found = compute_tick_density(herd, span(HOUR))

    assert dict(found.parts) == Counter(span(HOUR).part(each.due_at) for each in starts if each)
    assert len(found.parts) > 5
    assert not found.is_estimate


def test_a_tick_before_the_span_may_reach_into_it_by_its_jitter() -> None:
    late = alike(cron="0 * * * *", jitter="60m")
    (planned,) = planning.plan_ticks(late.schedule, NOON - MICROSECOND, NOON)
    minute = span(HOUR).part(planned.due_at)

    found = compute_tick_density([late], span(MINUTE, since=NOON + minute * MINUTE))

    assert minute > 0
    assert dict(found.parts) == {0: 1}


def test_many_intervals_that_are_never_alike_are_still_seen_as_a_herd() -> None:
    anchored = [{"interval": "1h", "anchor": "2026-07-01T00:00:00Z"} for _ in range(1000)]
    found = compute_tick_density([alike(every=each) for each in anchored], span(DAY))

    assert dict(found.parts) == dict.fromkeys(range(0, 1440, 60), 1000)
    assert not found.is_estimate


@pytest.mark.parametrize("schedule", [{"every": "1s"}, {"cron": "* * * * * *"}], ids=str)
def test_intervals_and_expressions_are_exact_however_many_ticks(
    schedule: dict[str, object],
) -> None:
    week = 7 * DAY
    found = compute_tick_density([alike(2, **schedule)], span(week, HOUR))

    assert dict(found.parts) == dict.fromkeys(range(7 * 24), 2 * 3600)
    assert ticks(found) == [week // SECOND]
    assert not found.is_estimate


def test_more_ticks_of_a_recurrence_than_the_budget_are_an_estimate_that_says_so() -> None:
    week = 7 * DAY
    rule = alike(2, rrule="DTSTART:20260701T000000\nRRULE:FREQ=SECONDLY;INTERVAL=5")
    found = compute_tick_density([rule, alike(cron="0 * * * *")], span(week, HOUR))

    assert week / (5 * SECOND) > WALKED_TICKS_MAX
    assert [each.is_estimate for each in found.groups] == [True, False]
    assert ticks(found)[0] == pytest.approx(week / (5 * SECOND), rel=0.05)
    assert ticks(found)[1] == 7 * 24


def test_what_follows_the_end_of_a_run_has_no_ticks_that_anybody_knows() -> None:
    found = compute_tick_density([alike(fixed_delay="5m")], span(DAY))

    assert not found.parts
    assert ticks(found) == [0]


def test_a_schedule_whose_calendar_is_gone_is_left_out() -> None:
    lost = alike(cron="0 * * * *", calendars=["holidays"])

    found = compute_tick_density([lost, alike(cron="5 * * * *")], span(HOUR))

    assert dict(found.parts) == {5: 1}
    assert ticks(found) == [0, 1]


def test_a_cap_on_runs_holds_here_too() -> None:
    capped = read_schedule({"cron": "* * * * *", "window": {"max_runs": 10}}, now=NOON)

    found = compute_tick_density([ScheduleGroup(schedule=capped, size=1, fired=7)], span(HOUR))

    assert sum(found.parts.values()) == 3


def test_ticks_before_the_span_use_up_the_cap() -> None:
    capped = read_schedule({"cron": "* * * * *", "window": {"max_runs": 10}}, now=NOON)
    group = ScheduleGroup(schedule=capped, size=1, fired=7, next_at=NOON)

    soon = compute_tick_density([group], span(HOUR, since=NOON + MINUTE))
    later = compute_tick_density([group], span(HOUR, since=NOON + HOUR))

    assert dict(soon.parts) == {0: 1, 1: 1}
    assert not later.parts
