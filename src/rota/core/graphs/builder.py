"""Builds a graph from validated steps and checks its size.

step_draft.py validates each step, shape.py the dependencies. This module also checks that
expressions read ancestors only, because only those are final when a step starts.
"""

from collections.abc import Mapping, Sequence

from rota.core.errors import InvalidInput
from rota.core.graphs.graph import GRAPH_BYTES_MAX, GRAPH_STEPS_MAX, GraphStep, StepGraph
from rota.core.graphs.references import find_condition_parents, find_reads
from rota.core.graphs.serialization import to_graph_json
from rota.core.graphs.shape import GraphShape
from rota.core.graphs.step_draft import StepDraft


def build_graph(
    drafts: Sequence[StepDraft], shape: GraphShape, inner: Mapping[int, StepGraph]
) -> StepGraph:
    """Return the graph of these steps; `inner` maps step indexes to sub-graphs."""
    built = [
        _build_step(place, draft, shape, inner.get(place)) for place, draft in enumerate(drafts)
    ]
    return StepGraph(steps=tuple(built), step_indexes=shape.places, order=shape.order)


def check_graph_size(graph: StepGraph, field: str) -> StepGraph:
    """Reject a graph with too many steps, including sub-graphs, or too large a definition."""
    steps = _count_steps(graph)
    if steps > GRAPH_STEPS_MAX:
        wanted = f"expected at most {GRAPH_STEPS_MAX}, including sub-graphs"
        raise InvalidInput(field, f"{steps} steps", wanted)
    try:
        length = len(to_graph_json(graph).encode())
    except UnicodeEncodeError:
        raise InvalidInput(field, "a text", "must not contain lone surrogates") from None
    if length > GRAPH_BYTES_MAX:
        wanted = f"expected at most {GRAPH_BYTES_MAX // 1024} KB"
        raise InvalidInput(field, f"{length} bytes of JSON", wanted)
    return graph


def _build_step(
    place: int, draft: StepDraft, shape: GraphShape, inner: StepGraph | None
) -> GraphStep:
    reads = find_reads(place, draft, shape)
    return GraphStep(
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
        condition_parents=find_condition_parents(draft, shape),
        reads=reads,
    )


def _count_steps(graph: StepGraph) -> int:
    return sum(1 if step.graph is None else 1 + _count_steps(step.graph) for step in graph.steps)
