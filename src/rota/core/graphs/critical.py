"""The chain of steps that decided how long a graph run took. Room: core/graphs."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from rota.core.graphs.graph import Graph


class Times(NamedTuple):
    """When a step's run started and ended; of one that is still at work, the end is now."""

    started_at: datetime
    ended_at: datetime


def critical_path(graph: Graph, times: Mapping[int, Times]) -> tuple[int, ...]:
    """From the step that ended last back to the beginning, each time to the parent that ended last:
    it is what its child waited for. Steps without times (skipped, waiting) are passed over.
    """
    if not times:
        return ()
    place: int | None = max(times, key=lambda index: (times[index].ended_at, index))
    path: list[int] = []
    while place is not None:
        path.append(place)
        place = _latest(graph, place, times)
    return tuple(reversed(path))


def _latest(graph: Graph, place: int, times: Mapping[int, Times]) -> int | None:
    """The nearest ancestor with times that ended last."""
    best: int | None = None
    seen: set[int] = set()
    layer = list(graph.steps[place].needs)
    while layer:
        parent = layer.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent not in times:
            layer.extend(graph.steps[parent].needs)
        elif best is None or (times[parent].ended_at, parent) > (times[best].ended_at, best):
            best = parent
    return best
