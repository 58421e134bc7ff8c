"""The steps of a graph run as an explanation names them. Room: flow/observe."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from rota.core.graphs import StepState
from rota.store.waiting import GraphSubject

NAMED: Final = 5


def live_steps(graph: GraphSubject) -> list[str]:
    """The names of the steps that have begun and not ended."""
    steps = _steps(graph)
    live = (place for place, state in enumerate(graph.board) if state == StepState.LIVE)
    return [str(steps[place]["name"]) if place < len(steps) else f"{place}" for place in live]


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and 7 more`."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _steps(graph: GraphSubject) -> list[dict[str, Any]]:
    """Those of the definition, or of the sub-graph in it that the run is of."""
    found: dict[str, Any] = msgspec.json.decode(graph.definition or '{"steps": []}')
    for place in graph.path:
        found = found["steps"][place]["graph"]
    steps: list[dict[str, Any]] = found["steps"]
    return steps
