"""The rules of a backfill: who gets a run, what may follow what, how long it takes (S13)."""

from datetime import UTC, datetime, timedelta

import pytest

from rota.core.backfills import (
    BACKFILL_MOVES,
    FAILED_RUN_STATES,
    LIVE_RUNS_MAX,
    LIVE_RUNS_MIN,
    UNFINISHED_STATES,
    BackfillEvent,
    BackfillOrder,
    BackfillSelection,
    BackfillState,
    TickResult,
    advance_backfill,
    compute_due_at,
    compute_live_limit,
    estimate_duration,
    measure_pace,
    needs_run,
    rate_tick,
)
from rota.core.errors import IllegalMove
from rota.core.states import LIVE_STATES, RunState

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], TickResult.MISSING),
        (["missed"], TickResult.MISSING),
        (["skipped", "coalesced", "cancelled"], TickResult.MISSING),
        (["cancelled", "dead"], TickResult.FAILED),
        (["lost"], TickResult.FAILED),
        (["expired"], TickResult.FAILED),
        (["quarantined", "succeeded"], TickResult.RAN),
        (["dead", "succeeded", "dead"], TickResult.RAN),
        (["succeeded", "queued"], TickResult.ALIVE),
        (["blocked"], TickResult.ALIVE),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_a_tick_stands_as_the_best_of_its_runs(states: list[str], expected: TickResult) -> None:
    assert rate_tick(map(RunState, states)) is expected


def test_every_state_of_a_run_says_something_about_its_tick() -> None:
    alive = {state for state in RunState if rate_tick([state]) is TickResult.ALIVE}
    failed = {state for state in RunState if rate_tick([state]) is TickResult.FAILED}

    assert alive == LIVE_STATES
    assert failed == FAILED_RUN_STATES
    assert rate_tick([RunState.SUCCEEDED]) is TickResult.RAN


def test_what_is_alive_is_never_run_beside_itself() -> None:
    picked = {
        only: {each for each in TickResult if needs_run(only, each)} for only in BackfillSelection
    }

    assert picked == {
        BackfillSelection.MISSING: {TickResult.MISSING},
        BackfillSelection.FAILED: {TickResult.FAILED},
        BackfillSelection.ALL: {TickResult.MISSING, TickResult.FAILED, TickResult.RAN},
    }


def test_a_backfill_that_has_ended_cannot_be_moved() -> None:
    for state in BackfillState:
        for event in BackfillEvent:
            if (state, event) in BACKFILL_MOVES:
                assert state in UNFINISHED_STATES
                assert advance_backfill(state, event) in UNFINISHED_STATES
            else:
                with pytest.raises(IllegalMove):
                    advance_backfill(state, event)


def test_the_window_holds_several_times_what_runs_at_once_within_bounds() -> None:
    assert compute_live_limit(1) == LIVE_RUNS_MIN
    assert compute_live_limit(100) == 400
    assert compute_live_limit(1_000) == LIVE_RUNS_MAX


def test_how_long_runs_take_counts_in_rounds_of_those_that_run_at_once() -> None:
    assert estimate_duration(0, each=MINUTE, at_once=4) == timedelta(0)
    assert estimate_duration(4, each=MINUTE, at_once=4) == MINUTE
    assert estimate_duration(5, each=MINUTE, at_once=4) == 2 * MINUTE
    assert estimate_duration(5, each=None, at_once=4) is None


def test_a_pace_is_known_once_enough_have_ended() -> None:
    assert measure_pace(ended=19, busy=20 * MINUTE) is None
    assert measure_pace(ended=20, busy=timedelta(0)) is None
    assert measure_pace(ended=20, busy=20 * MINUTE) == MINUTE


def test_runs_of_a_batch_are_ready_in_their_order() -> None:
    """At one instant they would start by their ids, which is the oldest first."""
    newest = [compute_due_at(NOON, place, BackfillOrder.NEWEST) for place in range(3)]

    assert {compute_due_at(NOON, place, BackfillOrder.OLDEST) for place in range(3)} == {NOON}
    assert sorted(set(newest)) == newest
    assert newest[0] > NOON
