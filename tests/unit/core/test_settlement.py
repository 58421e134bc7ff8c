"""What an ending makes of its run (E2, E8, E9, E12), with retry delays (E8)."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from rota.core.errors import InvalidInput
from rota.core.outcome import (
    Cancelled,
    Failed,
    Failure,
    Guarantee,
    HandedBack,
    Outcome,
    Snoozed,
    Succeeded,
    WorkerLost,
)
from rota.core.policy import (
    DelayGrowth,
    RetryJitter,
    RetryPolicy,
    compute_delay,
    compute_delay_ceiling,
)
from rota.core.settlement import AttemptedRun, Settlement, settle_run
from rota.core.states import RunState

NOW = datetime(2026, 7, 1, tzinfo=UTC)
BOOM = Failed(failure=Failure(type="Boom", message="it broke"))
PLAIN = RetryPolicy(jitter=RetryJitter.NONE)


def settled(outcome: Outcome, *, policy: RetryPolicy = PLAIN, **given: object) -> Settlement:
    run = {"state": RunState.RUNNING, "failures": 0, "losses": 0}
    attempted = AttemptedRun(**{**run, "guarantee": Guarantee.AT_LEAST_ONCE, **given})  # type: ignore[arg-type]
    return settle_run(attempted, outcome, policy=policy, now=NOW, rng=Random(7))


def test_a_success_is_final() -> None:
    assert settled(Succeeded(result=1)).state is RunState.SUCCEEDED


def test_a_failure_is_retried_after_1_2_and_4_seconds_and_then_dead() -> None:
    ends = [settled(BOOM, failures=failures) for failures in range(4)]

    waits = [(end.ready_at - NOW).total_seconds() for end in ends if end.ready_at]
    assert waits == [1, 2, 4]
    assert [end.state for end in ends] == [RunState.RETRYING] * 3 + [RunState.DEAD]
    assert [end.failures for end in ends] == [1, 2, 3, 4]


def test_a_final_failure_is_not_retried() -> None:
    final = Failed(failure=BOOM.failure, final=True)

    assert settled(final).state is RunState.DEAD


def test_a_target_that_asks_for_more_time_gets_it() -> None:
    patient = Failed(failure=BOOM.failure, retry_after=timedelta(seconds=90))

    assert settled(patient).ready_at == NOW + timedelta(seconds=90)


def test_a_snooze_and_a_hand_back_cost_no_retry() -> None:
    snoozed = settled(Snoozed(delay=timedelta(minutes=5)), failures=3)
    handed = settled(HandedBack(), failures=3)

    assert (snoozed.state, snoozed.failures) == (RunState.QUEUED, 3)
    assert snoozed.ready_at == NOW + timedelta(minutes=5)
    assert (handed.state, handed.failures, handed.ready_at) == (RunState.QUEUED, 3, NOW)


def test_a_lost_worker_costs_no_retry_but_the_third_loss_quarantines() -> None:
    ends = [settled(WorkerLost(), losses=losses, failures=3) for losses in range(3)]

    assert [end.state for end in ends] == [
        RunState.QUEUED,
        RunState.QUEUED,
        RunState.QUARANTINED,
    ]
    assert {end.failures for end in ends} == {3}


def test_at_most_once_never_runs_twice() -> None:
    lost = settled(WorkerLost(), guarantee=Guarantee.AT_MOST_ONCE)
    failed = settled(BOOM, guarantee=Guarantee.AT_MOST_ONCE)

    assert lost.state is RunState.LOST
    assert failed.state is RunState.DEAD


def test_a_retry_past_the_deadline_expires_instead() -> None:
    end = settled(BOOM, deadline_at=NOW + timedelta(seconds=1))

    assert (end.state, end.ready_at) == (RunState.EXPIRED, None)


@pytest.mark.parametrize(
    "outcome",
    [Succeeded(), BOOM, Snoozed(delay=timedelta(1)), HandedBack(), WorkerLost(), Cancelled()],
)
def test_after_a_cancel_every_ending_is_cancelled(outcome: Outcome) -> None:
    end = settled(outcome, state=RunState.CANCELLING)

    assert (end.state, end.ready_at) == (RunState.CANCELLED, None)


def test_full_jitter_spreads_over_the_whole_delay_and_equal_over_its_upper_half() -> None:
    chance = Random(1)
    full = RetryPolicy(base_delay=timedelta(seconds=8), jitter=RetryJitter.FULL)
    equal = RetryPolicy(base_delay=timedelta(seconds=8), jitter=RetryJitter.EQUAL)

    fulls = [compute_delay(full, failures=1, rng=chance).total_seconds() for _ in range(2000)]
    equals = [compute_delay(equal, failures=1, rng=chance).total_seconds() for _ in range(2000)]

    assert 0 <= min(fulls) < 0.1
    assert 7.9 < max(fulls) < 8
    assert 4 <= min(equals) < 4.1
    assert 7.9 < max(equals) < 8


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (RetryPolicy(growth=DelayGrowth.CONSTANT, base_delay=timedelta(seconds=5)), [5, 5, 5]),
        (RetryPolicy(growth=DelayGrowth.LINEAR, base_delay=timedelta(seconds=5)), [5, 10, 15]),
        (RetryPolicy(max_delay=timedelta(seconds=3)), [1, 2, 3]),
        (
            RetryPolicy(
                growth=DelayGrowth.LIST, delays=(timedelta(seconds=9), timedelta(seconds=1))
            ),
            [9, 1, 1],
        ),
    ],
)
def test_delays_grow_as_the_policy_says(policy: RetryPolicy, expected: list[int]) -> None:
    assert [
        compute_delay_ceiling(policy, failures=n).total_seconds() for n in (1, 2, 3)
    ] == expected


def test_a_hundred_failures_do_not_overflow() -> None:
    policy = RetryPolicy(max_delay=timedelta(hours=24))

    assert compute_delay_ceiling(policy, failures=100) == timedelta(hours=24)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"max_retries": -1}, "retries.max"),
        ({"max_retries": 101}, "retries.max"),
        ({"base_delay": timedelta(days=2)}, "retries.base"),
        ({"max_delay": timedelta(seconds=-1)}, "retries.cap"),
        ({"growth": DelayGrowth.LIST}, "retries.delays"),
        ({"delays": (timedelta(1),)}, "retries.delays"),
    ],
)
def test_a_wrong_policy_is_refused_with_its_field(wrong: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        RetryPolicy(**wrong)  # type: ignore[arg-type]

    assert refused.value.field == field
