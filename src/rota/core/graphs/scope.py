"""Provides the values that expressions of a graph can read.

input                         the payload of the graph run
graph.run_id  .scheduled_at  .attempt
steps.<name>.state            succeeded, failed, cancelled or skipped; null while the step is open
steps.<name>.result  .error   of a step that ended
steps.<name>.results          of a map, the results of its members in order
item, index                   in the payload of a map's member
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rota.core.graphs.graph import StepGraph
from rota.core.graphs.step_states import OPEN_STEP_STATES, STEP_STATE_WORDS

SCOPE_NAMES: Final = ("input", "steps", "graph")
MEMBER_SCOPE_NAMES: Final = (*SCOPE_NAMES, "item", "index")
STEP_FIELDS: Final = ("state", "result", "error", "results")
GRAPH_FIELDS: Final = ("run_id", "scheduled_at", "attempt")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphScope:
    """The engine's data about a graph run. The mappings are keyed by step index and may load values
    lazily; `find_needed_results` returns the steps that may be read.
    """

    input: object = None
    run_id: str = ""
    scheduled_at: str | None = None
    attempt: int = 1
    results: Mapping[int, object] = field(default_factory=dict)
    errors: Mapping[int, object] = field(default_factory=dict)
    members: Mapping[int, object] = field(default_factory=dict)

    def result(self, step: int) -> object:
        return self.results.get(step)


def build_environment(graph: StepGraph, step_states: str, scope: GraphScope) -> dict[str, object]:
    """Return the values of the names that expressions may use."""
    run = {
        "run_id": scope.run_id,
        "scheduled_at": scope.scheduled_at,
        "attempt": scope.attempt,
    }
    return {"input": scope.input, "graph": run, "steps": _Steps(graph, step_states, scope)}


class _Steps(Mapping[str, object]):
    """Steps by name, looked up lazily."""

    __slots__ = ("_board", "_graph", "_scope")

    def __init__(self, graph: StepGraph, board: str, scope: GraphScope) -> None:
        self._graph, self._board, self._scope = graph, board, scope

    def __getitem__(self, name: str) -> object:
        index = self._graph.step_indexes[name]
        state = self._board[index]
        if state in OPEN_STEP_STATES:
            return {}
        return _Ended(index, STEP_STATE_WORDS[state], self._scope)

    def __iter__(self) -> Iterator[str]:
        return iter(self._graph.step_indexes)

    def __len__(self) -> int:
        return len(self._graph.step_indexes)


class _Ended(Mapping[str, object]):
    __slots__ = ("_index", "_scope", "_state")

    def __init__(self, index: int, state: str, scope: GraphScope) -> None:
        self._index, self._state, self._scope = index, state, scope

    def __getitem__(self, part: str) -> object:
        match part:
            case "state":
                return self._state
            case "result":
                return self._scope.results.get(self._index)
            case "error":
                return self._scope.errors.get(self._index)
            case "results":
                return self._scope.members.get(self._index)
            case _:
                raise KeyError(part)

    def __iter__(self) -> Iterator[str]:
        return iter(STEP_FIELDS)

    def __len__(self) -> int:
        return len(STEP_FIELDS)
