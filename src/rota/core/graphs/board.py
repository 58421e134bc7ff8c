"""The states of all steps of a graph run, one character each. Room: core/graphs.

A board is a text as long as the graph has steps: small enough to be written with every change, and
readable in a row of the database (`ssfkw` says it all).
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
# As people, expressions and the API say it.
WORDS: Final[Mapping[str, str]] = {state.value: state.name.lower() for state in StepState}


def first_board(graph: Graph) -> str:
    return StepState.WAITING.value * len(graph.steps)


def state_of(run: RunState) -> StepState:
    """What the state of a step's run is on the board."""
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
    """How many steps are in each state, by its word."""
    found = Counter(board)
    return {WORDS[state]: found[state] for state in WORDS if found[state]}


def cancelled_board(board: str) -> str:
    """Nothing starts any more: what waits is cancelled, what lives is left to end."""
    return board.replace(StepState.WAITING, StepState.CANCELLED)


def restarted(graph: Graph, board: str) -> frozenset[int]:
    """The steps that another round does again: those that failed or were cancelled, and everything
    behind them. What was skipped because of them gets its chance; what ran because of them (an
    alarm, a clean-up) was decided by an ending that is no longer true.
    """
    again: set[int] = set()
    for index in graph.order:
        if board[index] in {StepState.FAILED, StepState.CANCELLED} or not again.isdisjoint(
            graph.steps[index].needs
        ):
            again.add(index)
    return frozenset(again)


def restart(graph: Graph, board: str) -> str:
    """The board of another round: what is done again waits, the rest keeps its ending."""
    again = restarted(graph, board)
    return "".join(
        StepState.WAITING.value if index in again else state for index, state in enumerate(board)
    )
