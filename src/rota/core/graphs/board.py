"""Encodes the states of all steps of a graph run as one character each.

The step states are a string with one character per step, such as `ssfkw`: small enough to store
with every change, and readable in a database row.
"""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from rota.core.graphs.graph import Graph
from rota.core.states import FINAL as FINAL_RUN
from rota.core.states import RunState


class StepState(StrEnum):
    WAITING = "w"
    LIVE = "l"
    SUCCEEDED = "s"
    FAILED = "f"
    CANCELLED = "c"
    SKIPPED = "k"


OPEN: Final = frozenset({StepState.WAITING, StepState.LIVE})
FINAL: Final = frozenset(StepState) - OPEN
# The words that expressions, the API and the user interfaces use.
WORDS: Final[Mapping[str, str]] = {state.value: state.name.lower() for state in StepState}


def first_board(graph: Graph) -> str:
    return StepState.WAITING.value * len(graph.steps)


def state_of(run: RunState) -> StepState:
    """Convert the state of a step's run to a step state."""
    match run:
        case RunState.SUCCEEDED:
            return StepState.SUCCEEDED
        case RunState.CANCELLED:
            return StepState.CANCELLED
        case RunState.SKIPPED | RunState.MISSED | RunState.COALESCED:
            return StepState.SKIPPED
        case _:
            return StepState.FAILED if run in FINAL_RUN else StepState.LIVE


def counts(board: str) -> dict[str, int]:
    """Count the steps in each state, by the state's word."""
    found = Counter(board)
    return {WORDS[state]: found[state] for state in WORDS if found[state]}


def cancelled_board(board: str) -> str:
    """Cancel all waiting steps and leave live steps to end."""
    return board.replace(StepState.WAITING, StepState.CANCELLED)


def restarted(graph: Graph, board: str) -> frozenset[int]:
    """Return the steps that another round repeats: failed and cancelled steps and all their
    descendants. Steps that were skipped because of them get another chance. Steps that ran because
    of them (an alarm, a clean-up) depended on an ending that no longer holds.
    """
    again: set[int] = set()
    for index in graph.order:
        if board[index] in {StepState.FAILED, StepState.CANCELLED} or not again.isdisjoint(
            graph.steps[index].needs
        ):
            again.add(index)
    return frozenset(again)


def restart(graph: Graph, board: str) -> str:
    """Return the step states of another round: repeated steps wait, the others keep their state."""
    again = restarted(graph, board)
    return "".join(
        StepState.WAITING.value if index in again else state for index, state in enumerate(board)
    )
