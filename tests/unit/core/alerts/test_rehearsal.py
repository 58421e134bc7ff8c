"""A rehearsal opens the incidents and counts the messages that operation would have."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from rota.core.alerts.conditions import (
    Condition,
    DeadLetterCount,
    Expectation,
    FailureRate,
    FailureStreak,
    FinishBy,
    MaxDuration,
    MissedTickCount,
    NoWorker,
    StartWithin,
    SucceedEvery,
)
from rota.core.alerts.finding import AlertPolicy, Severity
from rota.core.alerts.rehearsal import (
    PastRun,
    RehearsedIncident,
    SubjectReplay,
    count_messages,
    explain_unseen,
)
from rota.core.alerts.routes import RouteStep
from rota.core.states import RunState
from rota.core.time.zones import get_zone

START = datetime(2026, 11, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
SUCCESS = PastRun(
    run_id=uuid4(),
    state=RunState.SUCCEEDED,
    is_tick=True,
    scheduled_at=START,
    due_at=START,
    created_at=START,
    started_at=START,
    finished_at=START + MINUTE,
)


def at_hour(number: float, state: RunState = RunState.SUCCEEDED, **changes: object) -> PastRun:
    tick = START + number * HOUR
    moved = replace(
        SUCCESS,
        run_id=uuid4(),
        state=state,
        scheduled_at=tick,
        due_at=tick,
        created_at=tick,
        started_at=tick,
        finished_at=tick + MINUTE,
    )
    return replace(moved, **changes)  # type: ignore[arg-type]


def replay(
    condition: Condition, *runs: PastRun, hours: int = 24, policy: AlertPolicy | None = None
) -> list[RehearsedIncident]:
    expectation = Expectation(
        id=uuid4(), tenant_id=1, name="x", condition=condition, policy=policy or AlertPolicy()
    )
    subject = SubjectReplay(expectation=expectation, name="job", since=START, zone=get_zone("UTC"))
    for run in runs:
        subject.add(run)
    subject.finish(START + hours * HOUR)
    return subject.incidents


DEAD, MISSED = RunState.DEAD, RunState.MISSED


def test_a_streak_opens_one_incident_and_a_success_ends_it() -> None:
    runs = [at_hour(0), at_hour(1, DEAD), at_hour(2, DEAD), at_hour(3, DEAD), at_hour(4)]

    (incident,) = replay(FailureStreak(streak=2), *runs)

    assert incident.opened_at == START + 2 * HOUR + MINUTE
    assert incident.ended_at == START + 4 * HOUR + MINUTE
    assert "2 runs in a row failed" in incident.title


def test_a_violation_that_does_not_last_opens_nothing() -> None:
    policy = AlertPolicy(hold_for=2 * HOUR)
    short = [at_hour(0, DEAD), at_hour(1)]
    long = [at_hour(0, DEAD), at_hour(3)]

    assert replay(FailureStreak(streak=1), *short, policy=policy) == []
    (incident,) = replay(FailureStreak(streak=1), *long, policy=policy)
    assert incident.opened_at == START + 2 * HOUR + MINUTE


def test_a_rate_is_judged_only_with_enough_runs() -> None:
    condition = FailureRate(rate=0.5, over=3 * HOUR, at_least=3)
    runs = [at_hour(0, DEAD), at_hour(1, DEAD), at_hour(2), at_hour(3), at_hour(4), at_hour(5)]

    (incident,) = replay(condition, *runs)

    assert incident.opened_at == START + 2 * HOUR + MINUTE
    assert incident.ended_at == START + 3 * HOUR + MINUTE


def test_a_late_tick_is_an_incident_from_its_deadline_until_it_is_made_good() -> None:
    late = at_hour(2, started_at=START + 3 * HOUR, finished_at=START + 8 * HOUR)
    runs = [at_hour(0), late]

    (start,) = replay(StartWithin(within=10 * MINUTE), *runs)
    (finish,) = replay(FinishBy(after=HOUR), *runs)

    assert (start.opened_at, start.ended_at) == (
        START + 2 * HOUR + 10 * MINUTE,
        START + 3 * HOUR,
    )
    assert (finish.opened_at, finish.ended_at) == (START + 3 * HOUR, START + 8 * HOUR)


def test_a_job_that_stops_succeeding_is_an_incident_even_without_runs() -> None:
    condition = SucceedEvery(every=6 * HOUR)

    (never,) = replay(condition)
    (stopped,) = replay(condition, at_hour(0), at_hour(5), at_hour(6, DEAD))
    (late,) = replay(condition, at_hour(0), at_hour(9), at_hour(14), at_hour(19))

    assert (never.opened_at, never.ended_at) == (START + 6 * HOUR, None)
    assert stopped.opened_at == START + 11 * HOUR + MINUTE
    assert (late.opened_at, late.ended_at) == (
        START + 6 * HOUR + MINUTE,
        START + 9 * HOUR + MINUTE,
    )


def test_a_run_that_lasts_much_longer_than_its_history_is_an_incident() -> None:
    condition = MaxDuration(times=2, at_least=MINUTE)
    usual = [at_hour(number) for number in range(12)]
    long = at_hour(12, finished_at=START + 12 * HOUR + 5 * MINUTE)

    assert replay(condition, *usual) == []
    (incident,) = replay(condition, *usual, long)
    assert incident.title == "job: a run lasted 5 minutes, more than 2 minutes"


def test_dead_letters_of_one_error_end_when_none_came_for_the_window() -> None:
    condition = DeadLetterCount(count=2, over=2 * HOUR)
    runs = [
        at_hour(0, DEAD, letter="a"),
        at_hour(1, DEAD, letter="b"),
        at_hour(1.5, DEAD, letter="a"),
    ]

    (incident,) = replay(condition, *runs)

    assert incident.opened_at == START + 1.5 * HOUR + MINUTE
    assert incident.ended_at == START + 3.5 * HOUR + MINUTE


def test_missed_ticks_count_in_a_row() -> None:
    runs = [at_hour(0, MISSED), at_hour(1), at_hour(2, MISSED), at_hour(3, MISSED), at_hour(4)]

    (incident,) = replay(MissedTickCount(count=2), *runs)

    assert incident.opened_at == START + 3 * HOUR + MINUTE


def test_what_history_does_not_show_is_explained() -> None:
    assert "live figures" in (explain_unseen(NoWorker()) or "")
    assert explain_unseen(FailureStreak(streak=1)) is None


@pytest.mark.parametrize(
    ("steps", "messages"),
    [
        # One message when it opens, one when it ends.
        ((RouteStep(channels=("chat",)),), 2),
        ((RouteStep(channels=("chat", "mail")),), 4),
        ((RouteStep(channels=("chat",), recovery=False),), 1),
        # Every hour from 0:00 to 3:30.
        ((RouteStep(channels=("chat",), repeat=HOUR),), 5),
        ((RouteStep(channels=("oncall",), after=2 * HOUR),), 2),
        ((RouteStep(channels=("oncall",), after=9 * HOUR),), 0),
        ((RouteStep(channels=("oncall",), severity=Severity.PAGE),), 0),
    ],
)
def test_messages_follow_the_steps_of_the_route(
    steps: tuple[RouteStep, ...], messages: int
) -> None:
    incident = RehearsedIncident(opened_at=START, ended_at=START + 3.5 * HOUR, title="x")

    sent = count_messages([incident], steps, severity=Severity.WARNING, until=START + 24 * HOUR)

    assert sent == messages


def test_a_thousand_incidents_at_once_are_few_messages() -> None:
    incidents = [
        RehearsedIncident(
            opened_at=START + timedelta(seconds=number),
            ended_at=START + HOUR + timedelta(seconds=number),
            title="x",
        )
        for number in range(1000)
    ]
    steps = (RouteStep(channels=("chat",)),)

    sent = count_messages(incidents, steps, severity=Severity.WARNING, until=START + 24 * HOUR)

    assert 2 <= sent <= 12
