"""When a violation opens an incident, when the incident ends, and when a subject flaps."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rota.core.alerts.finding import AlertPolicy, Severity
from rota.core.alerts.lifecycle import (
    FLAP_CHANGES,
    STEADY_AFTER,
    AlertPhase,
    AlertState,
    AlertTransition,
    end_state,
    judge_met,
    judge_time,
    judge_violation,
    rank_cause,
)

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
IDLE = AlertState(since=NOW)
AT_ONCE = AlertPolicy()


def violate(state: AlertState, now: datetime, policy: AlertPolicy = AT_ONCE) -> AlertState:
    return judge_violation(state, policy, at=now, now=now).state


def test_a_violation_opens_at_once_without_a_hold() -> None:
    decision = judge_violation(IDLE, AT_ONCE, at=NOW, now=NOW)

    assert decision.change is AlertTransition.OPENED
    assert (decision.state.phase, decision.state.opened) == (AlertPhase.FIRING, 1)


def test_a_violation_counts_from_the_time_it_was_found_at() -> None:
    policy = AlertPolicy(hold_for=2 * MINUTE)

    late = judge_violation(IDLE, policy, at=NOW - 3 * MINUTE, now=NOW)
    early = judge_violation(IDLE, policy, at=NOW, now=NOW)

    assert late.change is AlertTransition.OPENED
    assert (early.change, early.state.next_at) == (AlertTransition.STATE, NOW + 2 * MINUTE)


def test_time_opens_a_pending_violation_and_changes_nothing_before() -> None:
    pending = violate(IDLE, NOW, AlertPolicy(hold_for=2 * MINUTE))

    assert judge_time(pending, now=NOW + MINUTE).change is AlertTransition.NOTHING
    assert judge_time(pending, now=NOW + 2 * MINUTE).change is AlertTransition.OPENED


def test_meeting_an_expectation_without_a_violation_changes_nothing() -> None:
    assert judge_met(IDLE, AT_ONCE, now=NOW).change is AlertTransition.NOTHING


def test_several_successes_count_at_once() -> None:
    firing = violate(IDLE, NOW)
    policy = AlertPolicy(clear_successes=3)

    assert judge_met(firing, policy, now=NOW, times=2).change is AlertTransition.STATE
    assert judge_met(firing, policy, now=NOW, times=3).change is AlertTransition.RECOVERED


def test_slow_changes_are_not_flapping() -> None:
    state, now = IDLE, NOW
    for _ in range(10):
        state = violate(state, now)
        now += 25 * MINUTE
        decision = judge_met(state, AT_ONCE, now=now)
        assert decision.change is AlertTransition.RECOVERED
        state = decision.state
        now += 25 * MINUTE


def test_a_flapping_subject_that_stays_violated_is_steady_and_still_open() -> None:
    state = IDLE
    for minute in range(0, 8, 4):
        state = violate(state, NOW + minute * MINUTE)
        state = judge_met(state, AT_ONCE, now=NOW + (minute + 2) * MINUTE).state
    assert state.is_flapping
    violated = violate(state, NOW + 8 * MINUTE)

    decision = judge_time(violated, now=NOW + 8 * MINUTE + STEADY_AFTER)

    assert decision.change is AlertTransition.STEADY
    assert (decision.state.phase, decision.state.is_flapping) == (AlertPhase.FIRING, False)


def test_a_late_run_is_worse_than_a_failed_one_and_a_page_worse_than_both() -> None:
    failed = rank_cause(Severity.WARNING, "failure_streak")
    late = rank_cause(Severity.WARNING, "finish_by")

    assert failed < late < rank_cause(Severity.PAGE, "at_risk")


@given(
    st.lists(st.tuples(st.sampled_from(["bad", "good", "time"]), st.integers(0, 90)), max_size=60),
    st.integers(1, 3),
    st.integers(0, 10),
)
def test_incidents_open_and_end_in_turn_and_not_too_often(
    steps: list[tuple[str, int]], clear: int, hold: int
) -> None:
    policy = AlertPolicy(clear_successes=clear, hold_for=hold * MINUTE)
    state, now, is_open = IDLE, NOW, False
    changes: list[datetime] = []
    for what, minutes in steps:
        now += minutes * MINUTE
        if what == "bad":
            decision = judge_violation(state, policy, at=now, now=now)
        elif what == "good":
            decision = judge_met(state, policy, now=now)
        else:
            decision = judge_time(state, now=now)
        match decision.change:
            case AlertTransition.OPENED:
                assert not is_open
                is_open = True
                changes.append(now)
            case AlertTransition.RECOVERED:
                assert is_open
                is_open = False
                changes.append(now)
            case AlertTransition.EVIDENCE | AlertTransition.FLAPPING | AlertTransition.STEADY:
                assert is_open
            case _:
                pass
        state = decision.state
        assert (state.phase is AlertPhase.FIRING) == is_open
        in_an_hour = [at for at in changes if now - at < timedelta(hours=1)]
        # A steady end is a change too, half an hour after the last.
        assert len(in_an_hour) <= FLAP_CHANGES + 1


def test_an_end_by_hand_forgets_the_changes() -> None:
    state = end_state(violate(IDLE, NOW), NOW + MINUTE)

    assert (state.phase, state.changes, state.opened) == (AlertPhase.IDLE, (), 1)
