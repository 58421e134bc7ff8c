"""Computes the final state, the result and the error of a graph run."""

from typing import Final

from rota.core.errors import InvalidInput
from rota.core.graphs.graph import StepGraph
from rota.core.graphs.scope import GraphScope
from rota.core.graphs.step_states import OPEN_STEP_STATES, StepState
from rota.core.states import RunState
from rota.core.submissions import encode_json

NAMED_STEPS_MAX: Final = 5


def find_end_state(graph: StepGraph, step_states: str) -> RunState | None:
    """Return the final state of a graph run; None while a step is open."""
    if any(state in step_states for state in OPEN_STEP_STATES):
        return None
    if StepState.FAILED in step_states and _failed(graph, step_states):
        return RunState.DEAD
    if StepState.CANCELLED in step_states:
        return RunState.CANCELLED
    return RunState.SUCCEEDED


def describe_graph_error(graph: StepGraph, step_states: str) -> str | None:
    """Return the error of a dead graph run: its failed steps."""
    failed = [graph.steps[index].name for index in _failed(graph, step_states)]
    if not failed:
        return None
    if len(failed) == 1:
        return f"step {failed[0]} failed"
    more = f" and {len(failed) - NAMED_STEPS_MAX} more" if len(failed) > NAMED_STEPS_MAX else ""
    return f"{len(failed)} steps failed: {', '.join(failed[:NAMED_STEPS_MAX])}{more}"


def find_last_steps(graph: StepGraph, step_states: str) -> list[int]:
    """Return the steps that succeeded and after which nothing ran. A skipped child, such as an
    alarm that was not needed, does not count.
    """
    return [
        step.index
        for step in graph.steps
        if step_states[step.index] == StepState.SUCCEEDED
        and all(step_states[child] == StepState.SKIPPED for child in step.children)
    ]


def build_graph_result(graph: StepGraph, step_states: str, scope: GraphScope) -> str | None:
    """Return the results of the last steps by name, as JSON; None if none has a result, or if the
    JSON is too large for a result.
    """
    found = {
        graph.steps[index].name: scope.result(index)
        for index in find_last_steps(graph, step_states)
        if scope.result(index) is not None
    }
    try:
        return encode_json(found or None, "result")
    except InvalidInput:
        return None


def _failed(graph: StepGraph, board: str) -> list[int]:
    return [
        index
        for index, state in enumerate(board)
        if state == StepState.FAILED and not graph.steps[index].may_fail
    ]
