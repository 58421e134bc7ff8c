"""A schedule over months, with outages and clock changes, by the scheduler's own code (I3)."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.contract.schedule import read_schedule
from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import planning
from rota.sdk.app import App
from rota.sdk.testing import Simulation, simulate

BERLIN: dict[str, Any] = {"timezone": "Europe/Berlin"}
DAY = timedelta(days=1)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


def test_without_outages_every_tick_fires_on_time() -> None:
    seen = simulate("0 2 * * *", start="2026-03-01", end="2026-12-01", **BERLIN)

    assert len(seen.fired) == len(seen) == 275
    assert all(event.starts_at == event.at for event in seen)
    assert seen.fired[0].at == utc(2026, 3, 1, 1)
    assert [change.at for change in seen.changes] == [utc(2026, 3, 29, 1), utc(2026, 10, 25, 1)]
    assert seen.sentence.endswith("Europe/Berlin")


def test_a_time_that_the_clock_jumps_over_is_moved_and_marked() -> None:
    seen = simulate("30 2 * * *", start="2026-03-28", end="2026-03-31", **BERLIN)

    assert [event.at.hour for event in seen] == [1, 1, 0]
    assert seen.events[1].notes == ("moved from 02:30, which the clock jumped over",)


def test_a_time_that_is_left_out_for_a_gap_is_told_nevertheless() -> None:
    seen = simulate(
        {"cron": "30 2 * * *", "dst": {"gap": "skip"}, **BERLIN},
        start="2026-03-28",
        end="2026-03-31",
    )

    assert len(seen.fired) == 2
    (gap,) = seen.skipped
    assert (gap.reason, gap.local) == ("dst_gap", utc(2026, 3, 29, 2, 30).replace(tzinfo=None))
    assert gap.notes == ("02:30, which the clock jumped over",)


def test_a_rule_of_some_hours_that_follows_elapsed_time_tells_what_a_gap_takes() -> None:
    seen = simulate("*/20 2 * * *", start="2026-03-28", end="2026-03-31", **BERLIN)

    assert [event.at.day for event in seen.fired] == [28, 28, 28, 30, 30, 30]
    (gap,) = seen.skipped
    assert (gap.reason, gap.count) == ("dst_gap", 3)
    assert gap.local == utc(2026, 3, 29, 2).replace(tzinfo=None)
    assert gap.notes == ("3 times from 02:00 to 02:40 do not run: the clock jumps over them",)
    assert [change.at for change in seen.changes] == [utc(2026, 3, 29, 1)]


def test_a_rule_of_some_hours_that_follows_elapsed_time_tells_what_runs_twice() -> None:
    seen = simulate("*/20 2 * * *", start="2026-10-25", end="2026-10-26", **BERLIN)

    assert [event.at.hour for event in seen] == [0, 0, 0, 1, 1, 1]
    assert seen.events[0].notes == ("first of two occurrences of 02:00",)
    assert seen.events[3].notes == ("second of two occurrences of 02:00",)
    assert len(seen.changes) == 1


def test_a_rule_of_every_hour_has_nothing_to_tell_about_clock_changes() -> None:
    seen = simulate("*/20 * * * *", start="2026-03-29", end="2026-03-30", **BERLIN)

    assert len(seen.fired) == len(seen) == 69
    assert seen.changes == ()


def test_a_simulation_ends_where_calendars_leave_nothing() -> None:
    weekend = {"weekly": [{"start": "fri 18:00", "end": "mon 06:00"}]}
    seen = simulate(
        {"cron": "15 2 29 2 *", "timezone": "America/Nuuk", "calendars": ["weekend"]},
        start="2026-01-01",
        end="2400-01-01",
        calendars={"weekend": weekend},
    )

    assert len(seen.fired) > 20


def test_a_time_that_comes_twice_runs_once_or_twice_as_the_schedule_says() -> None:
    span = {"start": "2026-10-25", "end": "2026-10-26"}
    once = simulate("30 2 * * *", **span, **BERLIN)  # type: ignore[arg-type]
    both = simulate("30 2 * * *", **span, **BERLIN, dst={"overlap": "both"})  # type: ignore[arg-type]

    assert [event.notes for event in once] == [("02:30 occurs twice; only the first runs",)]
    assert [event.at.hour for event in both] == [0, 1]


@pytest.mark.parametrize(
    ("misfire", "runs", "missed", "coalesced"),
    [("once", 1, 0, 5), ("all", 6, 0, 0), ("skip", 0, 6, 0)],
)
def test_what_an_outage_leaves_is_dealt_with_by_the_misfire_policy(
    misfire: str, runs: int, missed: int, coalesced: int
) -> None:
    seen = simulate(
        "0 * * * *",
        start="2026-07-01",
        end="2026-07-02",
        outages=["2026-07-01T05:30/2026-07-01T11:30"],
        misfire=misfire,
    )

    assert len(seen.fired) == 18
    assert len(seen.caught_up) == runs
    assert sum(event.count for event in seen.missed) == missed
    assert sum(event.count for event in seen.coalesced) == coalesced
    assert all(event.starts_at == utc(2026, 7, 1, 11, 30) for event in seen.caught_up)


def test_a_short_outage_makes_a_tick_late_and_nothing_more() -> None:
    down = (utc(2026, 7, 1, 11, 59, 50), utc(2026, 7, 1, 12, 0, 40))
    seen = simulate("0 12 * * *", start=date(2026, 7, 1), end="2026-07-02", outages=[down])

    (event,) = seen.fired
    assert event.notes == ("starts 40 seconds late",)


def test_a_start_deadline_leaves_what_is_too_old() -> None:
    seen = simulate(
        "0 * * * *",
        start="2026-07-01",
        end="2026-07-01T12:00",
        outages=["2026-07-01T00:30/2026-07-01T06:30"],
        misfire={"on_outage": "all", "start_deadline": "2h"},
    )

    assert [event.at.hour for event in seen.caught_up] == [5, 6]
    (missed,) = seen.missed
    assert (missed.reason, missed.count) == ("start_deadline", 4)


def test_a_pace_that_reaches_into_the_next_outage_is_decided_again_after_it() -> None:
    seen = simulate(
        "0 * * * *",
        start="2026-07-01",
        end="2026-07-01T08:00",
        outages=["2026-07-01T00:30/2026-07-01T04:30", "2026-07-01T04:45/2026-07-01T05:30"],
        misfire={"on_outage": "all", "pace": "1/15m"},
    )

    assert [event.at.hour for event in seen.runs] == [0, 1, 2, 3, 4, 5, 6, 7]
    starts = [event.starts_at for event in seen.runs if event.starts_at]
    assert starts == sorted(starts)
    assert not any(utc(2026, 7, 1, 4, 45) <= start < utc(2026, 7, 1, 5, 30) for start in starts)


def test_a_calendar_passes_ticks_over() -> None:
    seen = simulate(
        {"cron": "0 12 * * *", "calendars": ["feast"]},
        start="2026-12-24",
        end="2026-12-28",
        calendars={"feast": {"dates": ["2026-12-25"]}},
    )

    assert [event.at.day for event in seen.fired] == [24, 26, 27]
    (skipped,) = seen.skipped
    assert (skipped.reason, skipped.at.day) == ("blackout", 25)


def test_a_fixed_delay_counts_from_the_end_of_each_run() -> None:
    seen = simulate({"fixed_delay": "10m"}, start="2026-07-01", end="2026-07-01T01:00", takes="5m")

    starts = [event.starts_at for event in seen.runs if event.starts_at]
    assert {after - before for before, after in pairwise(starts)} == {timedelta(minutes=15)}


def test_a_job_is_simulated_by_its_own_schedule() -> None:
    app = App("shop")

    @app.job(cron="0 9 * * 1-5", timezone="Europe/Berlin")
    def report() -> None: ...

    seen: Simulation = simulate(report, start="2026-07-01", end="2026-07-08")

    assert [event.local.isoweekday() for event in seen] == [3, 4, 5, 1, 2]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"schedule": "61 * * * *"}, "61"),
        ({"schedule": "* * * * *", "timezone": "Berlin"}, "timezone"),
        ({"schedule": 5}, "a cron expression, or an object"),
        ({"schedule": {"on_demand": True}}, "a schedule without times"),
        ({"schedule": "0 2 * * *", "misfire": "sometimes"}, "misfire.on_outage"),
        ({"schedule": "0 2 * * *", "colour": "red"}, "colour"),
        ({"schedule": "0 2 * * *", "start": "yesterday"}, "start"),
        ({"schedule": "0 2 * * *", "end": "2026-01-01"}, "end"),
        ({"schedule": "0 2 * * *", "outages": ["2026-07-01"]}, r"outages[0]"),
        ({"schedule": "0 2 * * *", "outages": ["2026-07-02/2026-07-01"]}, r"outages[0]"),
        ({"schedule": "0 2 * * *", "outages": ["then/2026-07-01"]}, r"outages[0].from"),
        ({"schedule": "0 2 * * *", "takes": "5"}, "takes"),
        ({"schedule": {"every": "1s"}}, "a shorter time"),
        ({"schedule": {"cron": "0 2 * * *", "calendars": ["none"]}}, "calendars"),
    ],
)
def test_what_is_wrong_is_one_sentence(given_: dict[str, object], said: str) -> None:
    usual = {"start": "2026-07-01", "end": "2026-07-03"}

    with pytest.raises(InvalidInput) as refused:
        simulate(**usual | given_)  # type: ignore[arg-type]

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@settings(max_examples=30)
@given(
    expression=st.sampled_from(["*/20 * * * *", "0 3 * * *", "30 2 * * 0", "15 1-4 25 10 *"]),
    downs=st.lists(st.tuples(st.integers(0, 5 * 1440), st.integers(1, 2000)), max_size=4),
    misfire=st.sampled_from(["once", "all", "skip"]),
)
def test_every_tick_is_accounted_for_exactly_once(
    expression: str, downs: list[tuple[int, int]], misfire: str
) -> None:
    start, end = utc(2026, 10, 23), utc(2026, 10, 28)
    minute = timedelta(minutes=1)
    outages = [(start + a * minute, start + (a + length) * minute) for a, length in downs]
    said = {"cron": expression, "misfire": {"on_outage": misfire, "max_catchup": 1000}, **BERLIN}

    seen = simulate(said, start=start, end=end, outages=outages)

    schedule = read_schedule(said, now=start)
    wanted = [
        each.tick.at
        for each in planning.plan_ticks(schedule, start - minute / 60, end - minute / 60)
    ]
    until = max([end, *(event.at + minute / 60 for event in seen)])
    more = [each.tick.at for each in planning.plan_ticks(schedule, start - minute / 60, until)]
    assert sum(event.count for event in seen) in {
        len(wanted),
        len([at for at in more if at < until]),
    }
    starts = [event.starts_at for event in seen.runs if event.starts_at]
    assert starts == sorted(starts)
    assert not any(a <= begun < b for begun in starts for a, b in outages)


def test_a_schedule_that_never_fires_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="never fire"):
        simulate("0 0 30 2 *", start="2026-07-01", end="2026-07-03")
