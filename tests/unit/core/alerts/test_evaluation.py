"""Judgements of expectations, from facts alone."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rota.core.alerts.conditions import (
    DeadLetterCount,
    FailureRate,
    FailureStreak,
    FinishBy,
    MaxDuration,
    MissedTickCount,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.evaluation import (
    EndedRun,
    PlatformLag,
    TickRun,
    WatchedTick,
    compute_duration_limit,
    describe_error,
    judge_dead_letters,
    judge_finish,
    judge_missed_ticks,
    judge_rate,
    judge_start,
    judge_streak,
    judge_success_age,
    withhold_lateness,
)
from rota.core.alerts.finding import Verdict
from rota.core.states import RunState

AT = datetime(2026, 7, 1, 2, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
RUN = UUID(int=1)
MET, VIOLATED, UNKNOWN = Verdict.MET, Verdict.VIOLATED, Verdict.UNKNOWN
STATES = {
    ".": RunState.SUCCEEDED,
    "x": RunState.DEAD,
    "l": RunState.LOST,
    "e": RunState.EXPIRED,
    "m": RunState.MISSED,
    "s": RunState.SKIPPED,
    "c": RunState.CANCELLED,
}


def watch_tick(*, is_decided: bool = True, deadline: timedelta = 60 * MINUTE) -> WatchedTick:
    return WatchedTick(
        job="report", at=AT, due_at=AT, deadline=AT + deadline, is_decided=is_decided
    )


def make_run(
    state: str, *, created: float = 0, started: float | None = None, ended: float | None = None
) -> TickRun:
    return TickRun(
        run_id=RUN,
        state=RunState(state),
        created_at=AT + created * MINUTE,
        started_at=None if started is None else AT + started * MINUTE,
        finished_at=None if ended is None else AT + ended * MINUTE,
    )


def list_endings(states: str) -> list[EndedRun]:
    """Ended runs in the order of time, which judgements read backwards."""
    runs = [
        EndedRun(run_id=UUID(int=number + 1), state=STATES[state], finished_at=AT)
        for number, state in enumerate(states)
    ]
    return runs[::-1]


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (make_run("running", started=5), MET),
        (make_run("running", started=5.1), VIOLATED),
        (make_run("queued"), VIOLATED),
        (make_run("succeeded", started=1, ended=2), MET),
        (make_run("dead", started=6, ended=7), VIOLATED),
        (make_run("expired", ended=4), VIOLATED),
        (make_run("missed", ended=6), VIOLATED),
        (make_run("skipped", ended=0), None),
        (make_run("cancelled", ended=3), None),
        (make_run("cancelled", started=1, ended=3), MET),
        # Fired late by Rota: the time counts from the firing.
        (make_run("running", created=20, started=24), MET),
        (make_run("running", created=20, started=26), VIOLATED),
        (make_run("queued", created=20), None),
    ],
)
def test_a_start_is_judged_by_its_first_attempt(run: TickRun, verdict: Verdict | None) -> None:
    judgement = judge_start(StartWithin(within=5 * MINUTE), watch_tick(), run, now=AT + 21 * MINUTE)

    assert judgement.verdict == verdict


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (make_run("succeeded", started=1, ended=60), MET),
        (make_run("succeeded", started=1, ended=60.1), VIOLATED),
        (make_run("running", started=1), VIOLATED),
        (make_run("retrying", started=1), VIOLATED),
        (make_run("dead", started=1, ended=2), VIOLATED),
        (make_run("missed", ended=2), VIOLATED),
        (make_run("cancelled", started=1, ended=2), None),
        (make_run("coalesced", ended=2), None),
    ],
)
def test_a_finish_is_judged_by_success(run: TickRun, verdict: Verdict | None) -> None:
    finish_by = FinishBy(after=60 * MINUTE)

    assert judge_finish(finish_by, watch_tick(), run).verdict == verdict


def test_a_tick_without_a_run_is_unknown_until_it_is_decided() -> None:
    finish_by = FinishBy(after=60 * MINUTE)

    assert judge_finish(finish_by, watch_tick(is_decided=False), None).verdict is UNKNOWN
    assert judge_finish(finish_by, watch_tick(), None).verdict is None


@pytest.mark.parametrize(
    ("lag", "verdict"),
    [
        (PlatformLag(firing=timedelta(seconds=10)), VIOLATED),
        (PlatformLag(firing=timedelta(seconds=11)), UNKNOWN),
        (PlatformLag(relay=timedelta(seconds=61)), UNKNOWN),
    ],
)
def test_lateness_is_withheld_while_rota_is_behind(lag: PlatformLag, verdict: Verdict) -> None:
    late = judge_finish(FinishBy(after=60 * MINUTE), watch_tick(), make_run("queued"))
    fine = judge_finish(
        FinishBy(after=60 * MINUTE), watch_tick(), make_run("succeeded", started=1, ended=2)
    )

    assert withhold_lateness(late, lag).verdict is verdict
    assert withhold_lateness(fine, lag).verdict is MET


def test_the_age_of_a_success_counts_from_when_the_job_is_watched() -> None:
    every = SucceedEvery(every=60 * MINUTE)

    def judge(now: float, success: float | None) -> tuple[Verdict | None, datetime | None]:
        judgement = judge_success_age(
            every,
            job="report",
            last_success_at=None if success is None else AT + success * MINUTE,
            watched_since=AT,
            now=AT + now * MINUTE,
        )
        return judgement.verdict, judgement.recheck_at

    assert judge(59, None) == (MET, AT + 60 * MINUTE)
    assert judge(60, None) == (VIOLATED, None)
    assert judge(60, 10) == (MET, AT + 70 * MINUTE)
    assert judge(59, -500) == (MET, AT + 60 * MINUTE)
    assert judge(70, 10) == (VIOLATED, None)


@pytest.mark.parametrize(
    ("states", "verdict", "streak"),
    [
        ("", MET, 0),
        ("xx.", MET, 0),
        (".xx", None, 2),
        (".xle", VIOLATED, 3),
        ("xcxsx", VIOLATED, 3),
        ("xxxxx", VIOLATED, 5),
        ("xx.x", None, 1),
    ],
)
def test_a_streak_counts_failures_since_the_last_success(
    states: str, verdict: Verdict | None, streak: int
) -> None:
    judgement = judge_streak(FailureStreak(streak=3), list_endings(states), name="report")

    assert (judgement.verdict, judgement.streak) == (verdict, streak)


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        ("m", None),
        ("mm", VIOLATED),
        ("msm", VIOLATED),
        ("mmx", MET),
        ("mm.m", None),
        ("mms", VIOLATED),
    ],
)
def test_missed_ticks_count_until_one_runs(states: str, verdict: Verdict | None) -> None:
    judgement = judge_missed_ticks(MissedTickCount(count=2), list_endings(states), name="report")

    assert judgement.verdict == verdict


@pytest.mark.parametrize(
    ("ended", "failed", "verdict"),
    [
        (19, 19, MET),
        (20, 1, MET),
        (20, 2, VIOLATED),
        (0, 0, MET),
        (100, 9, MET),
        (100, 10, VIOLATED),
    ],
)
def test_a_rate_needs_enough_runs(ended: int, failed: int, verdict: Verdict) -> None:
    rate = FailureRate(rate=0.1, over=60 * MINUTE)

    assert judge_rate(rate, name="report", ended=ended, failed=failed).verdict is verdict


def test_dead_letters_count_within_their_window() -> None:
    condition = DeadLetterCount(count=2, over=60 * MINUTE)
    times = [AT, AT + 50 * MINUTE]

    at_once = judge_dead_letters(condition, times, name="mail", error=None, now=AT + 50 * MINUTE)
    later = judge_dead_letters(condition, times, name="mail", error=None, now=AT + 61 * MINUTE)

    assert at_once.verdict is VIOLATED
    assert at_once.recheck_at == AT + 110 * MINUTE
    assert later.verdict is MET


def test_a_relative_duration_needs_history_and_has_a_least_limit() -> None:
    condition = MaxDuration(times=2, at_least=5 * MINUTE)

    assert compute_duration_limit(condition, typical=MINUTE, samples=9) is None
    assert compute_duration_limit(condition, typical=MINUTE, samples=10) == 5 * MINUTE
    assert compute_duration_limit(condition, typical=4 * MINUTE, samples=10) == 8 * MINUTE
    assert compute_duration_limit(MaxDuration(limit=MINUTE), typical=None, samples=0) == MINUTE


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (None, None),
        ({"type": "ValueError", "message": "a\nb"}, "ValueError: a b"),
        ({"code": "start_deadline"}, "start_deadline"),
        ({"message": "x" * 500}, "x" * 300),
    ],
)
def test_an_error_is_one_short_line(reason: dict[str, str] | None, expected: str | None) -> None:
    assert describe_error(reason) == expected
