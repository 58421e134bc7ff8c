"""Builds a graph from validated steps and checks its size.

step_draft.py validates each step, shape.py the dependencies. This module also checks that
expressions read ancestors only, because only those are final when a step starts.
"""

from collections.abc import Mapping, Sequence

from rota.core.errors import InvalidInput
from rota.core.graphs.draft import StepDraft
from rota.core.graphs.graph import MOST_BYTES, MOST_STEPS, Graph, Step
from rota.core.graphs.plain import graph_json
from rota.core.graphs.references import asked_of, reads_of
from rota.core.graphs.shape import Shape


def build_graph(drafts: Sequence[StepDraft], shape: Shape, inner: Mapping[int, Graph]) -> Graph:
    """Return the graph of these steps; `inner` maps step indexes to sub-graphs."""
    built = [
        _build_step(place, draft, shape, inner.get(place)) for place, draft in enumerate(drafts)
    ]
    return Graph(steps=tuple(built), places=shape.places, order=shape.order)


def check_graph_size(graph: Graph, field: str) -> Graph:
    """Reject a graph with too many steps, including sub-graphs, or too large a definition."""
    steps = _count_steps(graph)
    if steps > MOST_STEPS:
        wanted = f"expected at most {MOST_STEPS}, including sub-graphs"
        raise InvalidInput(field, f"{steps} steps", wanted)
    try:
        length = len(graph_json(graph).encode())
    except UnicodeEncodeError:
        raise InvalidInput(field, "a text", "must not contain lone surrogates") from None
    if length > MOST_BYTES:
        wanted = f"expected at most {MOST_BYTES // 1024} KB"
        raise InvalidInput(field, f"{length} bytes of JSON", wanted)
    return graph


def _build_step(place: int, draft: StepDraft, shape: Shape, inner: Graph | None) -> Step:
    reads = reads_of(place, draft, shape)
    return Step(
        index=place,
        name=draft.name,
        kind=draft.kind,
        payload=draft.payload,
        needs=shape.needs[place],
        children=shape.children[place],
        when=draft.when,
        may_fail=draft.may_fail,
        map=draft.map,
        graph=inner,
        queue=draft.queue,
        priority=draft.priority,
        policy=draft.policy,
        asked=asked_of(draft, shape),
        reads=reads,
    )


def _count_steps(graph: Graph) -> int:
    return sum(1 if step.graph is None else 1 + _count_steps(step.graph) for step in graph.steps)
