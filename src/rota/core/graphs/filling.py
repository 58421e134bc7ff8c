"""Builds the payloads of steps and map members from their templates."""

from collections.abc import Callable, Sequence

from rota.core.binding import only_written
from rota.core.errors import InvalidInput
from rota.core.expressions import Expression, evaluate
from rota.core.graphs.graph import Graph, Map
from rota.core.graphs.scope import Scope, environment
from rota.core.graphs.templates import Template
from rota.core.submission import json_text


def needs_results(graph: Graph, index: int) -> frozenset[int]:
    """Return the steps whose result or error this step's condition, payload or map reads."""
    return frozenset(read.step for read in graph.steps[index].reads if read.part != "state")


def payload_for(graph: Graph, index: int, board: str, scope: Scope) -> str | None:
    """Return the payload of a step as JSON; for a map over a source, the source's payload. Raises
    `ExpressionFailed` or `InvalidInput` if it cannot be built.
    """
    step = graph.steps[index]
    if step.map is None:
        return _text(step.payload, graph, board, scope)
    return None if step.map.source is None else _text(step.map.source.payload, graph, board, scope)


def items_for(graph: Graph, index: int, board: str, scope: Scope) -> Sequence[object] | int | None:
    """Return the items of a map: a list, or n for 0 to n - 1; None for a source."""
    map_ = graph.steps[index].map
    if map_ is None or map_.over is None:
        return None
    found = _over(map_, environment(graph, board, scope))
    if isinstance(found, list | tuple):
        return found
    if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
        return found
    raise InvalidInput("map.over", found, "expected a list or a whole number of at least 0")


def _over(map_: Map, values: dict[str, object]) -> object:
    if isinstance(map_.over, Expression):
        return evaluate(map_.over, values)
    return None if map_.over is None else map_.over.fill(values)


def member_payloads(
    graph: Graph, index: int, board: str, scope: Scope
) -> Callable[[object, int], str | None]:
    """Return a function that builds the payload of a map member from its item and index. One
    function serves a whole batch, so members fill in only these two values. Default payload: the
    item.
    """
    step = graph.steps[index]
    if step.payload.raw is None:
        return lambda item, _: _payload_json(item, None)
    if step.payload.is_constant:
        text = json_text(step.payload.raw, "payload")
        return lambda _, __: text
    values = environment(graph, board, scope)

    def payload(item: object, number: int) -> str | None:
        values["item"], values["index"] = item, number
        return _payload_json(step.payload.fill(values), step.payload.raw)

    return payload


def _text(template: Template, graph: Graph, board: str, scope: Scope) -> str | None:
    if template.is_constant:
        return json_text(template.raw, "payload")
    return _payload_json(template.fill(environment(graph, board, scope)), template.raw)


def _payload_json(payload: object, template: object) -> str | None:
    """Return the payload as JSON. Only the template may reference secrets, the data may not."""
    text = json_text(payload, "payload")
    return None if text is None else only_written(text, template)
