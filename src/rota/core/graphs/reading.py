"""Reads the definition of a graph, or says what is wrong with it and where. Room: core/graphs.

First each step by itself (step_reading.py), then how they hang together (shape.py), then what their
expressions name: only ancestors, because only those are final when a step starts.
"""

from collections.abc import Mapping
from typing import Any

from rota.core.documents import newer
from rota.core.errors import SHOWN, InvalidInput
from rota.core.graphs.graph import MOST_BYTES, MOST_LEVELS, MOST_STEPS, Graph, Step
from rota.core.graphs.plain import graph_json
from rota.core.graphs.references import asked_of, reads_of
from rota.core.graphs.shape import Shape, shaped
from rota.core.graphs.step_reading import Draft, read_step
from rota.core.graphs.templates import Allowance

NO_STEPS = "an object with steps, such as {steps: [{name: a, kind: shell}]}"


def read_graph(raw: Any, *, field: str = "graph") -> Graph:
    """A graph that can run; `InvalidInput` has the path of what cannot."""
    return _checked(_read(raw, field, Allowance(), level=1), field)


def read_stored_graph(raw: Any) -> Graph:
    """A graph from the database. Unknown fields are ignored: a definition is never written anew, so
    they stay. `NewerDocument` if the rest cannot run, such as a `when` that is not known.
    """
    try:
        return _checked(_read(raw, "graph", Allowance(is_stored=True), level=1), "graph")
    except InvalidInput as error:
        raise newer(error) from error


def _checked(graph: Graph, field: str) -> Graph:
    if _size(graph) > MOST_STEPS:
        raise InvalidInput(field, f"{_size(graph)} steps", f"at most {MOST_STEPS}, with sub-graphs")
    try:
        length = len(graph_json(graph).encode())
    except UnicodeEncodeError:
        raise InvalidInput(field, "a text", "text without lone surrogates") from None
    if length > MOST_BYTES:
        raise InvalidInput(field, f"{length} bytes of JSON", f"at most {MOST_BYTES // 1024} KB")
    return graph


def _read(raw: Any, field: str, allowance: Allowance, *, level: int) -> Graph:
    steps = _steps(raw, field, allowance, level)
    drafts = [
        read_step(step, f"{field}.steps[{place}]", allowance) for place, step in enumerate(steps)
    ]
    shape = shaped(drafts, field)
    inner = {
        place: _read(draft.graph, f"{draft.path}.graph", allowance, level=level + 1)
        for place, draft in enumerate(drafts)
        if draft.graph is not None
    }
    built = [_step(place, draft, shape, inner.get(place)) for place, draft in enumerate(drafts)]
    return Graph(steps=tuple(built), places=shape.places, order=shape.order)


def _steps(raw: Any, field: str, allowance: Allowance, level: int) -> list[Any]:
    if not isinstance(raw, Mapping):
        raise InvalidInput(field, raw, NO_STEPS)
    for key in raw:
        if key != "steps" and not allowance.is_stored:
            raise InvalidInput(f"{field}.{str(key)[:SHOWN]}", raw[key], "steps, and nothing else")
    steps = raw.get("steps")
    if not isinstance(steps, list | tuple) or not steps:
        raise InvalidInput(f"{field}.steps", steps, "a list of at least one step")
    if len(steps) > MOST_STEPS:
        raise InvalidInput(f"{field}.steps", f"{len(steps)} steps", f"at most {MOST_STEPS}")
    if level > MOST_LEVELS:
        raise InvalidInput(field, "a sub-graph", f"at most {MOST_LEVELS} graphs in each other")
    return list(steps)


def _step(place: int, draft: Draft, shape: Shape, inner: Graph | None) -> Step:
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


def _size(graph: Graph) -> int:
    return sum(1 if step.graph is None else 1 + _size(step.graph) for step in graph.steps)
