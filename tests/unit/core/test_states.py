"""The table of states: what follows what, and what never does."""

import pytest

from rota.core.errors import IllegalMove
from rota.core.states import (
    CLAIMED_STATES,
    DEAD_LETTER_STATES,
    FINAL_STATES,
    INITIAL_STATES,
    JOB_MOVES,
    LIVE_STATES,
    RUN_MOVES,
    WAITING_STATES,
    JobEvent,
    JobState,
    RunEvent,
    RunState,
    advance_job,
    advance_run,
    list_run_changes,
)


def test_every_run_state_is_either_alive_or_final() -> None:
    assert set(RunState) == LIVE_STATES | FINAL_STATES
    assert not LIVE_STATES & FINAL_STATES
    assert WAITING_STATES | CLAIMED_STATES < LIVE_STATES
    assert DEAD_LETTER_STATES < FINAL_STATES


def test_nothing_follows_a_final_state() -> None:
    assert not {old for old, _ in RUN_MOVES} & FINAL_STATES


def test_every_state_can_be_reached_and_every_live_one_can_end() -> None:
    reached = set(INITIAL_STATES)
    while more := {new for old, new in list_run_changes() if old in reached} - reached:
        reached |= more
    ends = set(FINAL_STATES)
    while more := {old for old, new in list_run_changes() if new in ends} - ends:
        ends |= more

    assert reached == set(RunState)
    assert ends == set(RunState)


def test_a_run_that_was_asked_to_cancel_can_only_end_as_cancelled() -> None:
    following = {new for (old, _), new in RUN_MOVES.items() if old is RunState.CANCELLING}

    assert following == {RunState.CANCELLING, RunState.CANCELLED}


def test_every_ending_a_running_run_can_have_a_cancelling_one_can_have_too() -> None:
    running = {event for old, event in RUN_MOVES if old is RunState.RUNNING}
    cancelling = {event for old, event in RUN_MOVES if old is RunState.CANCELLING}

    assert running == cancelling


def test_only_a_waiting_run_is_claimed() -> None:
    claimed = {old for old, event in RUN_MOVES if event is RunEvent.CLAIM}

    assert claimed == WAITING_STATES


def test_an_illegal_move_names_the_thing_the_state_and_the_event() -> None:
    with pytest.raises(IllegalMove, match=r"run is succeeded; only .* can be cancelled"):
        advance_run(RunState.SUCCEEDED, RunEvent.CANCEL)
    states = "paused, quarantined or finished"
    with pytest.raises(IllegalMove, match=f"job is deleted; only {states} jobs can be resumed"):
        advance_job(JobState.DELETED, JobEvent.RESUME)


def test_legal_moves_lead_where_the_table_says() -> None:
    assert advance_run(RunState.RUNNING, RunEvent.RETRY) is RunState.RETRYING
    assert advance_job(JobState.PAUSED, JobEvent.RESUME) is JobState.ACTIVE
    assert all(advance_job(old, event) is new for (old, event), new in JOB_MOVES.items())
