"""How a graph run ends, with what result and for which reason. Room: core/graphs."""

from typing import Final

from rota.core.errors import InvalidInput
from rota.core.graphs.board import OPEN, StepState
from rota.core.graphs.graph import Graph
from rota.core.graphs.scope import Scope
from rota.core.states import RunState
from rota.core.submission import json_text

NAMED: Final = 5


def end_state(graph: Graph, board: str) -> RunState | None:
    """The state that a graph run ends in; None while a step is open."""
    if any(state in board for state in OPEN):
        return None
    if StepState.FAILED in board and _failed(graph, board):
        return RunState.DEAD
    if StepState.CANCELLED in board:
        return RunState.CANCELLED
    return RunState.SUCCEEDED


def graph_error(graph: Graph, board: str) -> str | None:
    """Which steps are the reason that a graph run is dead."""
    failed = [graph.steps[index].name for index in _failed(graph, board)]
    if not failed:
        return None
    if len(failed) == 1:
        return f"the step {failed[0]} failed"
    more = f" and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
    return f"{len(failed)} steps failed: {', '.join(failed[:NAMED])}{more}"


def last_steps(graph: Graph, board: str) -> list[int]:
    """The steps that succeeded and that nothing ran after: an alarm that was not needed does not
    make the step before it less of a last one.
    """
    return [
        step.index
        for step in graph.steps
        if board[step.index] == StepState.SUCCEEDED
        and all(board[child] == StepState.SKIPPED for child in step.children)
    ]


def graph_result(graph: Graph, board: str, scope: Scope) -> str | None:
    """The results of the last steps by name, as JSON; None if that is too large for a result, or
    if none of them has one.
    """
    found = {
        graph.steps[index].name: scope.result(index)
        for index in last_steps(graph, board)
        if scope.result(index) is not None
    }
    try:
        return json_text(found or None, "result")
    except InvalidInput:
        return None


def _failed(graph: Graph, board: str) -> list[int]:
    return [
        index
        for index, state in enumerate(board)
        if state == StepState.FAILED and not graph.steps[index].may_fail
    ]
