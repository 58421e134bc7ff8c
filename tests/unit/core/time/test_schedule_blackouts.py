"""What calendars do to ticks: skip, defer, advance (S15)."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.errors import InvalidSchedule
from rota.core.time.planning import PlannedTick, plan_next_tick, plan_ticks
from rota.core.time.schedule import SEARCH_HORIZON, Schedule

NOW = datetime(2026, 7, 2, tzinfo=UTC)  # a Thursday
FREEZE = read_calendar({"name": "freeze", "weekly": [{"start": "fri 18:00", "end": "mon 06:00"}]})
CALENDARS = {"freeze": FREEZE}


def schedule(on_blackout: str, **spec: object) -> Schedule:
    asked = {"cron": "0 */5 * * *", "calendars": ["freeze"], "on_blackout": on_blackout, **spec}
    return read_schedule({k: v for k, v in asked.items() if v is not None}, now=NOW, seed="acme/x")


def planned(made: Schedule, count: int, after: datetime = NOW) -> list[PlannedTick]:
    return list(islice(plan_ticks(made, after, after + SEARCH_HORIZON, calendars=CALENDARS), count))


def said(ticks: list[PlannedTick]) -> list[str]:
    return [f"{item.tick.at:%a %H:%M} -> {item.due_at:%a %H:%M:%S}" for item in ticks]


FRIDAY = datetime(2026, 7, 3, 11, tzinfo=UTC)


def test_skip_goes_on_after_the_blackout_and_says_what_it_passed_over() -> None:
    ticks = planned(schedule("skip"), 2, FRIDAY)

    assert said(ticks) == ["Fri 15:00 -> Fri 15:00:00", "Mon 10:00 -> Mon 10:00:00"]
    (passed,) = ticks[1].skipped
    assert (passed.first.at.hour, passed.blackout.name) == (20, "freeze")


def test_defer_runs_once_at_the_end_for_all_ticks_inside() -> None:
    ticks = planned(schedule("defer"), 3, FRIDAY)

    assert said(ticks) == [
        "Fri 15:00 -> Fri 15:00:00",
        "Mon 05:00 -> Mon 06:00:00",
        "Mon 10:00 -> Mon 10:00:00",
    ]
    assert ticks[1].notes == ("deferred to the end of freeze",)
    assert ticks[1].skipped[0].first.at == datetime(2026, 7, 3, 20, tzinfo=UTC)


def test_a_deferred_run_is_the_same_from_wherever_in_the_blackout_one_asks() -> None:
    made = schedule("defer")

    answers = {
        plan_next_tick(made, FRIDAY + timedelta(hours=hours), calendars=CALENDARS).tick.at  # type: ignore[union-attr]
        for hours in range(8, 60)
    }

    assert answers == {datetime(2026, 7, 6, 5, tzinfo=UTC)}


def test_a_tick_on_the_last_instant_of_the_wait_takes_the_deferred_ones_with_it() -> None:
    made = schedule("defer", cron="0 */6 * * *")

    ticks = planned(made, 3, FRIDAY)

    assert said(ticks) == [
        "Fri 12:00 -> Fri 12:00:00",
        "Mon 06:00 -> Mon 06:00:00",
        "Mon 12:00 -> Mon 12:00:00",
    ]


def test_deferred_runs_are_spread_by_jitter_too() -> None:
    made = schedule("defer", jitter={"window": "10m"})

    deferred = planned(made, 2, FRIDAY)[1]

    end = datetime(2026, 7, 6, 6, tzinfo=UTC)
    assert end < deferred.due_at < end + timedelta(minutes=10)


def test_a_deferral_past_the_end_of_validity_is_a_skip() -> None:
    made = schedule("defer", window={"end": "2026-07-05T00:00:00Z"})

    assert said(planned(made, 9, FRIDAY)) == ["Fri 15:00 -> Fri 15:00:00"]


def test_a_schedule_of_every_second_is_deferred_over_a_weekend_without_counting_it() -> None:
    made = schedule("defer", cron="* * * * * *")

    before = datetime(2026, 7, 3, 17, 59, 59, tzinfo=UTC)
    first, second = planned(made, 2, before)

    assert said([first, second]) == ["Mon 06:00 -> Mon 06:00:00", "Mon 06:00 -> Mon 06:00:01"]
    assert (second.tick.at - first.tick.at) == timedelta(seconds=1)


def test_advance_runs_once_just_before_the_blackout_and_then_after_it() -> None:
    ticks = planned(schedule("advance"), 3, FRIDAY)

    assert said(ticks) == [
        "Fri 15:00 -> Fri 15:00:00",
        "Fri 20:00 -> Fri 17:59:59",
        "Mon 10:00 -> Mon 10:00:00",
    ]
    assert ticks[2].skipped[0].first.at == datetime(2026, 7, 4, tzinfo=UTC)


def test_advance_cannot_go_back_in_time_so_a_job_made_in_a_blackout_waits() -> None:
    saturday = datetime(2026, 7, 4, 12, tzinfo=UTC)

    assert said(planned(schedule("advance"), 1, saturday)) == ["Mon 10:00 -> Mon 10:00:00"]


def test_jitter_does_not_carry_a_tick_into_a_blackout() -> None:
    made = schedule("skip", cron="59 17 * * FRI", jitter={"window": "30m"})

    for item in planned(made, 30):
        assert item.tick.at <= item.due_at < item.tick.at + timedelta(minutes=1)


@pytest.mark.parametrize(("on_blackout", "expected"), [("skip", "07:00"), ("defer", "06:00")])
def test_a_fixed_delay_goes_on_after_a_blackout(on_blackout: str, expected: str) -> None:
    made = schedule(on_blackout, cron=None, fixed_delay="1h")
    ended = datetime(2026, 7, 3, 17, 30, tzinfo=UTC)

    after = plan_next_tick(made, FRIDAY, calendars=CALENDARS, last_end=ended, fired=4)

    assert after is not None
    assert f"{after.due_at:%a %H:%M}" == f"Mon {expected}"


def test_a_calendar_that_leaves_no_time_free_is_an_error_and_not_a_silence() -> None:
    closed = read_calendar(
        {
            "name": "freeze",
            "weekly": [
                {"start": "mon 00:00", "end": "thu 00:00"},
                {"start": "thu 00:00", "end": "mon 00:00"},
            ],
        }
    )

    with pytest.raises(InvalidSchedule, match="leave time free"):
        plan_next_tick(schedule("skip"), NOW, calendars={"freeze": closed})


def test_a_cursor_however_old_is_no_reason_to_give_up() -> None:
    made = schedule("skip", cron="0 0 * * SAT,TUE", window={"start": "2026-07-03T12:00:00Z"})

    first = plan_next_tick(made, datetime(1970, 1, 1, tzinfo=UTC), calendars=CALENDARS)

    assert first is not None
    assert first.tick.at == datetime(2026, 7, 7, tzinfo=UTC)


def test_a_calendar_that_is_gone_is_an_error_and_does_not_open_the_blackout() -> None:
    with pytest.raises(InvalidSchedule, match="no such calendar; existing calendars: other"):
        plan_next_tick(schedule("skip"), NOW, calendars={"other": FREEZE})
