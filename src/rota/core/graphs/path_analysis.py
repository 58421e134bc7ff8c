"""Computes the critical path: the chain of steps that determined a graph run's duration."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from rota.core.graphs.graph import StepGraph


class StepTimes(NamedTuple):
    """When a step's run started and ended; for a step that still runs, the end is now."""

    started_at: datetime
    ended_at: datetime


def find_critical_path(graph: StepGraph, times: Mapping[int, StepTimes]) -> tuple[int, ...]:
    """Return the critical path from the first to the last step. It goes back from the step that
    ended last, each time to the parent that ended last, because its child waited for it. Steps
    without times (skipped, waiting) are left out.
    """
    if not times:
        return ()
    place: int | None = max(times, key=lambda index: (times[index].ended_at, index))
    path: list[int] = []
    while place is not None:
        path.append(place)
        place = _latest(graph, place, times)
    return tuple(reversed(path))


def _latest(graph: StepGraph, place: int, times: Mapping[int, StepTimes]) -> int | None:
    """Return the nearest ancestor with times that ended last."""
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
