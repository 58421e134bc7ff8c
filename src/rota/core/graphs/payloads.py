"""Builds the payloads of steps and map members from their templates."""

from collections.abc import Callable, Sequence

from rota.core.errors import InvalidInput
from rota.core.expressions import Expression, evaluate
from rota.core.graphs.graph import StepGraph, StepMap
from rota.core.graphs.scope import GraphScope, build_environment
from rota.core.graphs.templates import PayloadTemplate
from rota.core.secret_references import reject_references_from_data
from rota.core.submissions import encode_json


def find_result_reads(graph: StepGraph, index: int) -> frozenset[int]:
    """Return the steps whose result or error this step's condition, payload or map reads."""
    return frozenset(read.step for read in graph.steps[index].reads if read.part != "state")


def build_step_payload(
    graph: StepGraph, index: int, step_states: str, scope: GraphScope
) -> str | None:
    """Return the payload of a step as JSON; for a map over a source, the source's payload. Raises
    `ExpressionFailed` or `InvalidInput` if it cannot be built.
    """
    step = graph.steps[index]
    if step.map is None:
        return _text(step.payload, graph, step_states, scope)
    return (
        None
        if step.map.source is None
        else _text(step.map.source.payload, graph, step_states, scope)
    )


def find_map_items(
    graph: StepGraph, index: int, step_states: str, scope: GraphScope
) -> Sequence[object] | int | None:
    """Return the items of a map: a list, or n for 0 to n - 1; None for a source."""
    map_ = graph.steps[index].map
    if map_ is None or map_.over is None:
        return None
    found = _over(map_, build_environment(graph, step_states, scope))
    if isinstance(found, list | tuple):
        return found
    if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
        return found
    raise InvalidInput("map.over", found, "expected a list or a whole number of at least 0")


def _over(map_: StepMap, values: dict[str, object]) -> object:
    if isinstance(map_.over, Expression):
        return evaluate(map_.over, values)
    return None if map_.over is None else map_.over.fill(values)


def create_member_payload_builder(
    graph: StepGraph, index: int, step_states: str, scope: GraphScope
) -> Callable[[object, int], str | None]:
    """Return a function that builds the payload of a map member from its item and index. One
    function serves a whole batch, so members fill in only these two values. Default payload: the
    item.
    """
    step = graph.steps[index]
    if step.payload.raw is None:
        return lambda item, _: _payload_json(item, None)
    if step.payload.is_constant:
        text = encode_json(step.payload.raw, "payload")
        return lambda _, __: text
    values = build_environment(graph, step_states, scope)

    def payload(item: object, number: int) -> str | None:
        values["item"], values["index"] = item, number
        return _payload_json(step.payload.fill(values), step.payload.raw)

    return payload


def _text(template: PayloadTemplate, graph: StepGraph, board: str, scope: GraphScope) -> str | None:
    if template.is_constant:
        return encode_json(template.raw, "payload")
    return _payload_json(template.fill(build_environment(graph, board, scope)), template.raw)


def _payload_json(payload: object, template: object) -> str | None:
    """Return the payload as JSON. Only the template may reference secrets, the data may not."""
    text = encode_json(payload, "payload")
    return None if text is None else reject_references_from_data(text, template)
