"""Encodes the states of all steps of a graph run as one character each.

The step states are a string with one character per step, such as `ssfkw`: small enough to store
with every change, and readable in a database row.
"""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from rota.core.graphs.graph import StepGraph
from rota.core.states import FINAL_STATES, RunState


class StepState(StrEnum):
    WAITING = "w"
    LIVE = "l"
    SUCCEEDED = "s"
    FAILED = "f"
    CANCELLED = "c"
    SKIPPED = "k"


OPEN_STEP_STATES: Final = frozenset({StepState.WAITING, StepState.LIVE})
FINAL_STEP_STATES: Final = frozenset(StepState) - OPEN_STEP_STATES
# The words that expressions, the API and the user interfaces use.
STEP_STATE_WORDS: Final[Mapping[str, str]] = {
    state.value: state.name.lower() for state in StepState
}


def initial_step_states(graph: StepGraph) -> str:
    return StepState.WAITING.value * len(graph.steps)


def step_state_of_run(run: RunState) -> StepState:
    """Convert the state of a step's run to a step state."""
    match run:
        case RunState.SUCCEEDED:
            return StepState.SUCCEEDED
        case RunState.CANCELLED:
            return StepState.CANCELLED
        case RunState.SKIPPED | RunState.MISSED | RunState.COALESCED:
            return StepState.SKIPPED
        case _:
            return StepState.FAILED if run in FINAL_STATES else StepState.LIVE


def count_step_states(step_states: str) -> dict[str, int]:
    """Count the steps in each state, by the state's word."""
    found = Counter(step_states)
    return {STEP_STATE_WORDS[state]: found[state] for state in STEP_STATE_WORDS if found[state]}


def cancel_waiting_steps(step_states: str) -> str:
    """Cancel all waiting steps and leave live steps to end."""
    return step_states.replace(StepState.WAITING, StepState.CANCELLED)


def find_steps_to_restart(graph: StepGraph, step_states: str) -> frozenset[int]:
    """Return the steps that another round repeats: failed and cancelled steps and all their
    descendants. Steps that were skipped because of them get another chance. Steps that ran because
    of them (an alarm, a clean-up) depended on an ending that no longer holds.
    """
    again: set[int] = set()
    for index in graph.order:
        if step_states[index] in {StepState.FAILED, StepState.CANCELLED} or not again.isdisjoint(
            graph.steps[index].needs
        ):
            again.add(index)
    return frozenset(again)


def restart_step_states(graph: StepGraph, step_states: str) -> str:
    """Return the step states of another round: repeated steps wait, the others keep their state."""
    again = find_steps_to_restart(graph, step_states)
    return "".join(
        StepState.WAITING.value if index in again else state
        for index, state in enumerate(step_states)
    )
