"""Converts a graph to JSON for storage, display and comparison.

Fields with their default are omitted, so the result matches what the author wrote.
"""

from rota.core.expressions import Expression
from rota.core.graphs.graph import FailureTolerance, GraphStep, StepCondition, StepGraph, StepMap
from rota.core.graphs.templates import PayloadTemplate
from rota.core.submissions import encode_canonical


def to_plain_graph(graph: StepGraph) -> dict[str, object]:
    return {"steps": [_step(graph, step) for step in graph.steps]}


def to_graph_json(graph: StepGraph) -> str:
    """Return the canonical JSON, by which definitions are interned."""
    return encode_canonical(to_plain_graph(graph))


def _step(graph: StepGraph, step: GraphStep) -> dict[str, object]:
    plain: dict[str, object] = {"name": step.name}
    if step.graph is None:
        plain["kind"] = step.kind
    if step.needs:
        plain["needs"] = [graph.steps[parent].name for parent in step.needs]
    if step.when is not StepCondition.SUCCESS:
        plain["when"] = step.when.text if isinstance(step.when, Expression) else step.when.value
    if step.payload.raw is not None:
        plain["payload"] = step.payload.raw
    if step.map is not None:
        plain["map"] = _map(step.map)
    if step.graph is not None:
        plain["graph"] = to_plain_graph(step.graph)
    if step.may_fail:
        plain["may_fail"] = True
    options = {"queue": step.queue, "priority": step.priority, **step.policy}
    return plain | {key: value for key, value in options.items() if value is not None}


def _map(map_: StepMap) -> dict[str, object]:
    plain: dict[str, object] = {}
    if isinstance(map_.over, Expression):
        plain["over"] = map_.over.text
    elif isinstance(map_.over, PayloadTemplate):
        plain["over"] = map_.over.raw
    if map_.source is not None:
        payload = map_.source.payload.raw
        source = {"kind": map_.source.kind, "payload": payload}
        plain["source"] = {key: value for key, value in source.items() if value is not None}
    if map_.tolerate != FailureTolerance():
        percent = map_.tolerate.percent
        plain["tolerate"] = map_.tolerate.count if percent is None else f"{percent:g}%"
    if map_.at_once is not None:
        plain["at_once"] = map_.at_once
    return plain
