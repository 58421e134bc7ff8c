"""Computes the final state, the result and the error of a graph run."""

from typing import Final

from rota.core.errors import InvalidInput
from rota.core.graphs.board import OPEN, StepState
from rota.core.graphs.graph import Graph
from rota.core.graphs.scope import Scope
from rota.core.states import RunState
from rota.core.submission import json_text

NAMED: Final = 5


def end_state(graph: Graph, board: str) -> RunState | None:
    """Return the final state of a graph run; None while a step is open."""
    if any(state in board for state in OPEN):
        return None
    if StepState.FAILED in board and _failed(graph, board):
        return RunState.DEAD
    if StepState.CANCELLED in board:
        return RunState.CANCELLED
    return RunState.SUCCEEDED


def graph_error(graph: Graph, board: str) -> str | None:
    """Return the error of a dead graph run: its failed steps."""
    failed = [graph.steps[index].name for index in _failed(graph, board)]
    if not failed:
        return None
    if len(failed) == 1:
        return f"step {failed[0]} failed"
    more = f" and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
    return f"{len(failed)} steps failed: {', '.join(failed[:NAMED])}{more}"


def last_steps(graph: Graph, board: str) -> list[int]:
    """Return the steps that succeeded and after which nothing ran. A skipped child, such as an
    alarm that was not needed, does not count.
    """
    return [
        step.index
        for step in graph.steps
        if board[step.index] == StepState.SUCCEEDED
        and all(board[child] == StepState.SKIPPED for child in step.children)
    ]


def graph_result(graph: Graph, board: str, scope: Scope) -> str | None:
    """Return the results of the last steps by name, as JSON; None if none has a result, or if the
    JSON is too large for a result.
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
