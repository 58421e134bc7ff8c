"""The rules of a backfill: who gets a run, what may follow what, how long it takes (S13)."""

from datetime import UTC, datetime, timedelta

import pytest

from rota.core.backfills import (
    FAILURES,
    LARGEST_WINDOW,
    MOVES,
    SMALLEST_WINDOW,
    UNFINISHED,
    BackfillEvent,
    BackfillState,
    Only,
    Order,
    Standing,
    advance,
    due_at,
    pace,
    standing,
    takes,
    wants,
    window,
)
from rota.core.errors import IllegalMove
from rota.core.states import LIVE, RunState

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], Standing.MISSING),
        (["missed"], Standing.MISSING),
        (["skipped", "coalesced", "cancelled"], Standing.MISSING),
        (["cancelled", "dead"], Standing.FAILED),
        (["lost"], Standing.FAILED),
        (["expired"], Standing.FAILED),
        (["quarantined", "succeeded"], Standing.RAN),
        (["dead", "succeeded", "dead"], Standing.RAN),
        (["succeeded", "queued"], Standing.ALIVE),
        (["blocked"], Standing.ALIVE),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_a_tick_stands_as_the_best_of_its_runs(states: list[str], expected: Standing) -> None:
    assert standing(map(RunState, states)) is expected


def test_every_state_of_a_run_says_something_about_its_tick() -> None:
    alive = {state for state in RunState if standing([state]) is Standing.ALIVE}
    failed = {state for state in RunState if standing([state]) is Standing.FAILED}

    assert alive == LIVE
    assert failed == FAILURES
    assert standing([RunState.SUCCEEDED]) is Standing.RAN


def test_what_is_alive_is_never_run_beside_itself() -> None:
    picked = {only: {each for each in Standing if wants(only, each)} for only in Only}

    assert picked == {
        Only.MISSING: {Standing.MISSING},
        Only.FAILED: {Standing.FAILED},
        Only.ALL: {Standing.MISSING, Standing.FAILED, Standing.RAN},
    }


def test_a_backfill_that_has_ended_cannot_be_moved() -> None:
    for state in BackfillState:
        for event in BackfillEvent:
            if (state, event) in MOVES:
                assert state in UNFINISHED
                assert advance(state, event) in UNFINISHED
            else:
                with pytest.raises(IllegalMove):
                    advance(state, event)


def test_the_window_holds_several_times_what_runs_at_once_within_bounds() -> None:
    assert window(1) == SMALLEST_WINDOW
    assert window(100) == 400
    assert window(1_000) == LARGEST_WINDOW


def test_how_long_runs_take_counts_in_rounds_of_those_that_run_at_once() -> None:
    assert takes(0, each=MINUTE, at_once=4) == timedelta(0)
    assert takes(4, each=MINUTE, at_once=4) == MINUTE
    assert takes(5, each=MINUTE, at_once=4) == 2 * MINUTE
    assert takes(5, each=None, at_once=4) is None


def test_a_pace_is_known_once_enough_have_ended() -> None:
    assert pace(ended=19, busy=20 * MINUTE) is None
    assert pace(ended=20, busy=timedelta(0)) is None
    assert pace(ended=20, busy=20 * MINUTE) == MINUTE


def test_runs_of_a_batch_are_ready_in_their_order() -> None:
    """At one instant they would start by their ids, which is the oldest first."""
    newest = [due_at(NOON, place, Order.NEWEST) for place in range(3)]

    assert {due_at(NOON, place, Order.OLDEST) for place in range(3)} == {NOON}
    assert sorted(set(newest)) == newest
    assert newest[0] > NOON
