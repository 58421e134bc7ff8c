"""Missed ticks: an outage, a pause, an edit (S11, S14; failure modes F03, F04, F07)."""

from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any
from uuid import UUID

import pytest

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.ids import derive_tick_run_id
from rota.core.states import RunState
from rota.core.time.misfire import (
    CatchUpDecision,
    MisfireOutcome,
    MisfireReason,
    ScheduleProgress,
    build_history_row,
    decide_catch_up,
    decide_single_tick,
    settle_replaced_schedule,
)
from rota.core.time.planning import PlannedTick
from rota.core.time.policies import CatchUp, MisfireCause
from rota.core.time.schedule import Schedule
from rota.core.time.tick import Tick

START = datetime(2026, 7, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def schedule(cron: str = "0 * * * *", *, rest: object = None, **misfire: object) -> Schedule:
    spec = {"cron": cron, "misfire": misfire, **(rest if isinstance(rest, dict) else {})}
    return read_schedule(spec, now=START, seed="acme/x")


def after(out: timedelta, made: Schedule, **given: object) -> CatchUpDecision:
    return decide_catch_up(made, ScheduleProgress(cursor=START), START + out, **given)  # type: ignore[arg-type]


def hours(decision: CatchUpDecision) -> list[int]:
    return [(planned.tick.at - START) // HOUR for planned in decision.runs]


def rows(decision: CatchUpDecision) -> list[tuple[str, str, int]]:
    return [(row.outcome.value, row.reason.value, row.count) for row in decision.records]


def test_nothing_due_is_nothing_decided() -> None:
    decision = after(timedelta(minutes=59), schedule())

    assert decision == CatchUpDecision(runs=(), records=(), cursor=START)


def test_a_tick_that_is_due_just_now_runs_whatever_the_policy() -> None:
    for choice in CatchUp:
        decision = after(HOUR + timedelta(seconds=3), schedule(on_outage=choice.value))

        assert hours(decision) == [1]
        assert decision.records == ()
        assert decision.cursor == START + HOUR


def test_a_failover_of_seconds_loses_no_tick_of_a_job_that_runs_every_second() -> None:
    for choice in CatchUp:
        decision = after(timedelta(seconds=7), schedule("* * * * * *", on_outage=choice.value))

        assert len(decision.runs) == 7
        assert decision.records == ()


def test_once_runs_the_latest_and_points_the_others_to_it() -> None:
    decision = after(timedelta(hours=5, minutes=30), schedule())

    assert hours(decision) == [5]
    (row,) = decision.records
    assert (row.outcome, row.count, row.at_least) == (MisfireOutcome.COALESCED, 4, False)
    assert (row.first, row.last) == (START + HOUR, START + 4 * HOUR)
    assert row.into == START + 5 * HOUR
    assert decision.cursor == START + 5 * HOUR


def test_all_runs_every_one_in_order() -> None:
    decision = after(timedelta(hours=5, minutes=30), schedule(on_outage="all"))

    assert hours(decision) == [1, 2, 3, 4, 5]
    assert decision.records == ()


def test_all_is_capped_to_the_newest_and_the_rest_is_one_row() -> None:
    decision = after(26 * HOUR, schedule(on_outage="all", max_catchup=10))

    assert hours(decision) == list(range(17, 27))
    assert rows(decision) == [("coalesced", "caught_up", 16)]
    assert decision.records[0].into == START + 17 * HOUR


def test_skip_records_what_is_late_as_missed_and_runs_what_is_on_time() -> None:
    decision = after(5 * HOUR + timedelta(seconds=30), schedule(on_outage="skip"))

    assert hours(decision) == [5]
    assert rows(decision) == [("missed", "outage", 4)]
    assert decision.cursor == START + 5 * HOUR


def test_late_after_says_what_on_time_means() -> None:
    made = schedule(on_outage="skip", late_after="PT2H")

    assert hours(after(timedelta(hours=5, minutes=30), made)) == [4, 5]


@pytest.mark.parametrize("choice", ["once", "all", "skip"])
def test_a_tick_past_its_start_deadline_is_missed_and_never_silent(choice: str) -> None:
    made = schedule("0 0 * * *", on_outage=choice, start_deadline="PT30M")

    decision = after(timedelta(hours=25), made)

    assert decision.runs == ()
    ((outcome, reason, count),) = rows(decision)
    assert (outcome, count) == ("missed", 1)
    assert reason == ("outage" if choice == "skip" else "start_deadline")
    assert decision.cursor == START + 24 * HOUR


def test_a_deadline_splits_the_missed_from_those_that_still_run() -> None:
    made = schedule(on_outage="all", start_deadline="PT2H", max_catchup=100)

    decision = after(timedelta(hours=10, minutes=30), made)

    assert hours(decision) == [9, 10]
    assert rows(decision) == [("missed", "start_deadline", 8)]


def test_a_deadline_and_once_and_the_coalesced_between_them() -> None:
    decision = after(timedelta(hours=10, minutes=30), schedule(start_deadline="PT4H"))

    assert hours(decision) == [10]
    assert rows(decision) == [("missed", "start_deadline", 6), ("coalesced", "caught_up", 3)]


def test_a_pause_is_recorded_and_not_run_not_even_its_last_second() -> None:
    decision = after(5 * HOUR + timedelta(seconds=1), schedule(), cause=MisfireCause.RESUME)

    assert decision.runs == ()
    assert rows(decision) == [("paused", "pause", 5)]
    assert decision.cursor == START + 5 * HOUR


def test_a_resume_may_ask_for_the_missed_ones_once() -> None:
    decision = after(
        timedelta(hours=5, minutes=30), schedule(), cause=MisfireCause.RESUME, choice=CatchUp.ONCE
    )

    assert hours(decision) == [5]
    assert rows(decision) == [("coalesced", "caught_up", 4)]


def test_a_resume_with_a_deadline_calls_the_late_ones_paused_because_they_were() -> None:
    made = schedule(on_resume="all", start_deadline="PT2H")

    decision = after(timedelta(hours=5, minutes=30), made, cause=MisfireCause.RESUME)

    assert hours(decision) == [4, 5]
    assert rows(decision) == [("paused", "start_deadline", 3)]


def test_an_edit_never_fires_the_past() -> None:
    now = timedelta(hours=5, seconds=1)

    decision = after(now, schedule(), cause=MisfireCause.EDIT)

    assert decision.runs == ()
    assert rows(decision) == [("skipped", "edit", 5)]
    assert decision.cursor == START + now


def test_an_edit_may_be_told_to() -> None:
    decision = after(
        timedelta(hours=5, minutes=30), schedule(), cause=MisfireCause.EDIT, choice=CatchUp.ONCE
    )

    assert hours(decision) == [5]
    assert decision.cursor == START + timedelta(hours=5, minutes=30)


def test_what_is_due_under_the_old_schedule_at_an_edit_still_runs() -> None:
    now = START + HOUR + timedelta(seconds=2)

    decision = settle_replaced_schedule(schedule(), ScheduleProgress(cursor=START), now)

    assert hours(decision) == [1]
    assert decision.cursor == now


def test_a_jittered_tick_in_flight_at_an_edit_stays() -> None:
    made = schedule(rest={"jitter": {"window": "30m"}})
    flying = after(2 * HOUR, made, choice=CatchUp.ALL).runs[0]
    assert flying.due_at > START + HOUR + timedelta(seconds=5)
    now = START + HOUR + timedelta(seconds=5)

    decision = settle_replaced_schedule(made, ScheduleProgress(cursor=START), now)

    assert decision.runs == (flying,)
    assert decision.cursor == now


def test_a_jittered_tick_is_not_due_before_its_jittered_time() -> None:
    made = schedule(rest={"jitter": {"window": "30m"}})
    first = after(2 * HOUR, made, choice=CatchUp.ALL).runs[0]

    early = decide_catch_up(
        made, ScheduleProgress(cursor=START), first.due_at - timedelta(milliseconds=1)
    )
    on_time = decide_catch_up(made, ScheduleProgress(cursor=START), first.due_at)

    assert early == CatchUpDecision(runs=(), records=(), cursor=START)
    assert on_time.runs == (first,)


def test_pace_spreads_what_is_caught_up_and_leaves_its_identity() -> None:
    made = schedule(on_outage="all", pace="10/min")
    now = START + timedelta(hours=5, minutes=30)

    decision = decide_catch_up(made, ScheduleProgress(cursor=START), now)

    assert hours(decision) == [1, 2, 3, 4, 5]
    assert [(planned.due_at - now).total_seconds() for planned in decision.runs] == [
        0,
        6,
        12,
        18,
        24,
    ]


def test_the_run_cap_holds_for_catching_up() -> None:
    made = schedule(on_outage="all", rest={"window": {"max_runs": 5}})
    now = START + timedelta(hours=9, minutes=30)

    decision = decide_catch_up(made, ScheduleProgress(cursor=START, fired=3), now)
    done = decide_catch_up(made, ScheduleProgress(cursor=START, fired=5), now)

    assert hours(decision) == [8, 9]
    assert rows(decision) == [("coalesced", "caught_up", 7)]
    assert done == CatchUpDecision(runs=(), records=(), cursor=START)


CALENDARS = {
    "night": read_calendar(
        {"name": "night", "recurring": [{"rrule": "FREQ=DAILY;BYHOUR=2", "length": "PT4H"}]}
    )
}


def test_blacked_out_ticks_are_skipped_and_not_missed() -> None:
    made = schedule(on_outage="all", rest={"calendars": ["night"]})

    decision = after(timedelta(hours=8, minutes=30), made, calendars=CALENDARS)

    assert hours(decision) == [1, 6, 7, 8]
    (row,) = decision.records
    assert (row.outcome, row.reason, row.count) == (
        MisfireOutcome.SKIPPED,
        MisfireReason.BLACKOUT,
        4,
    )
    assert (row.first, row.last) == (START + 2 * HOUR, START + 5 * HOUR)


def test_a_late_run_does_not_start_in_a_blackout_that_has_begun_since() -> None:
    made = schedule(rest={"calendars": ["night"]})

    decision = after(timedelta(hours=3, minutes=30), made, calendars=CALENDARS)

    (planned,) = decision.runs
    assert planned.tick.at == START + HOUR
    assert planned.due_at == START + 6 * HOUR
    assert planned.notes == ("postponed to the end of night",)


def test_a_run_on_time_is_not_put_off_by_a_blackout_that_begins_the_moment_after() -> None:
    made = schedule("50 59 1 * * *", rest={"calendars": ["night"]})
    now = timedelta(hours=2, seconds=5)

    decision = after(now, made, calendars=CALENDARS)

    assert decision.runs[0].due_at == START + timedelta(hours=1, minutes=59, seconds=50)


def test_a_fixed_delay_has_one_tick_to_catch_up_with() -> None:
    made = read_schedule({"fixed_delay": "1h"}, now=START)
    progress = ScheduleProgress(cursor=START + HOUR, fired=1, last_end=START + 2 * HOUR)

    decision = decide_catch_up(made, progress, START + timedelta(days=3))
    paused = decide_catch_up(made, progress, START + timedelta(days=3), cause=MisfireCause.RESUME)

    assert hours(decision) == [3]
    assert decision.records == ()
    assert rows(paused) == [("paused", "pause", 1)]


@pytest.mark.parametrize("cron", ["* * * * * *", "* * * * *", "@every 1s"])
@pytest.mark.parametrize("choice", list(CatchUp))
@pytest.mark.parametrize("out", [timedelta(hours=26), timedelta(days=3000)])
def test_no_outage_is_too_long(cron: str, choice: CatchUp, out: timedelta) -> None:
    made = schedule(cron)
    after(timedelta(hours=1), made, choice=choice)  # the zone's years are worked out once

    began = process_time()
    decision = after(out, made, choice=choice)
    took = process_time() - began

    assert len(decision.runs) <= 100
    assert decision.cursor == START + out
    (row,) = decision.records
    assert row.count > 100
    # 2 to 10 ms here; an enumeration of 3,000 days of seconds would be an hour.
    assert took < 0.25


def test_an_interval_is_counted_exactly_and_a_cron_says_at_least() -> None:
    exact = after(26 * HOUR, schedule("@every 1s")).records[0]
    bounded = after(26 * HOUR, schedule("* * * * * *")).records[0]

    assert (exact.count, exact.at_least) == (26 * 3600 - 1, False)
    assert (bounded.count, bounded.at_least) == (200, True)
    assert (bounded.first, bounded.last) == (exact.first, exact.last)


def test_a_record_is_stored_under_its_last_tick_with_a_reason() -> None:
    job_id = UUID(int=7)
    coalesced = after(3 * HOUR, schedule(on_outage="once")).records[0]
    paused = after(3 * HOUR, schedule(), cause=MisfireCause.RESUME).records[0]
    many = after(26 * HOUR, schedule("* * * * * *")).records[0]

    row = build_history_row(job_id, coalesced)

    assert (row.id, row.tick_at) == (derive_tick_run_id(job_id, START + 2 * HOUR), START + 2 * HOUR)
    assert row.state is RunState.COALESCED
    assert row.reason == {
        "code": "caught_up",
        "count": 2,
        "first": "2026-07-01T01:00:00Z",
        "last": "2026-07-01T02:00:00Z",
        "into": str(derive_tick_run_id(job_id, START + 3 * HOUR)),
    }
    held = build_history_row(job_id, paused)
    assert (held.state, held.reason["code"]) == (RunState.SKIPPED, "paused")
    assert build_history_row(job_id, many).reason["at_least"] is True


@pytest.mark.parametrize(
    ("options", "minutes"),
    [
        ({}, 31),
        ({"late_after": "5m"}, 35),
        ({"start_deadline": "30s"}, 30.5),
        ({"start_deadline": "10m"}, 31),
        # With a pace, each tick is postponed in turn: lateness counts from its own time.
        ({"on_outage": "all", "pace": "1/min"}, 1),
    ],
)
def test_a_tick_is_late_after_its_tolerance(options: dict[str, Any], minutes: float) -> None:
    policy = schedule(**options).misfire

    late_at = policy.compute_late_at(START, START + timedelta(minutes=30))

    assert late_at == START + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("options", "late", "reason"),
    [
        ({}, timedelta(days=1), None),
        ({"on_outage": "skip"}, timedelta(minutes=1), None),
        ({"on_outage": "skip"}, timedelta(minutes=2), "outage"),
        ({"start_deadline": "5m"}, timedelta(minutes=5), None),
        ({"start_deadline": "5m"}, timedelta(minutes=6), "start_deadline"),
    ],
)
def test_a_tick_that_its_schedule_no_longer_has_is_decided_alone(
    options: dict[str, Any], late: timedelta, reason: str | None
) -> None:
    gone = PlannedTick(tick=Tick(at=START, local=START.replace(tzinfo=None)), due_at=START)

    decision = decide_single_tick(schedule(**options), gone, START + late)

    assert decision.runs == ((gone,) if reason is None else ())
    assert rows(decision) == ([] if reason is None else [("missed", reason, 1)])
    assert decision.cursor == START
