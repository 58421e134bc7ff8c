"""Names the active steps of a graph run for explanations."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from rota.core.graphs import StepState
from rota.store.wait_explanations import GraphSubject

NAMED_STEPS_MAX: Final = 5


def find_live_steps(graph: GraphSubject) -> list[str]:
    """Return the names of the steps that have started and not ended."""
    steps = _steps(graph)
    live = (place for place, state in enumerate(graph.board) if state == StepState.LIVE)
    return [str(steps[place]["name"]) if place < len(steps) else f"{place}" for place in live]


def join_names(names: Sequence[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and 7 more`."""
    if len(names) > NAMED_STEPS_MAX:
        return f"{', '.join(names[:NAMED_STEPS_MAX])} and {len(names) - NAMED_STEPS_MAX} more"
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _steps(graph: GraphSubject) -> list[dict[str, Any]]:
    """Return the steps of the definition, or of the sub-graph that the run belongs to."""
    found: dict[str, Any] = msgspec.json.decode(graph.definition or '{"steps": []}')
    for place in graph.path:
        found = found["steps"][place]["graph"]
    steps: list[dict[str, Any]] = found["steps"]
    return steps
