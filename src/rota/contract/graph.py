"""Reads graphs, from input and from the database.

The structs have the fields, types, bounds, defaults and descriptions; core/graphs checks names,
cycles, expressions and templates. Omitted fields of a step are not written out, so the API returns
a graph as its author wrote it (core/graphs/serialization.py).
"""

from collections.abc import Mapping

from msgspec import to_builtins

from rota.contract.documents import read_input, read_stored
from rota.contract.graph_fields import (
    NEST_WANTED,
    GraphDocument,
    MapDocument,
    MapSourceDocument,
    StepDocument,
)
from rota.contract.policy import read_policy, read_stored_policy
from rota.core.errors import InvalidInput
from rota.core.expressions import Expression
from rota.core.graphs.builder import build_graph, check_graph_size
from rota.core.graphs.graph import (
    GRAPH_KIND,
    GRAPH_LEVELS_MAX,
    STEP_POLICY_FIELDS,
    FailureTolerance,
    MapSource,
    StepCondition,
    StepGraph,
    StepMap,
)
from rota.core.graphs.scope import MEMBER_SCOPE_NAMES, SCOPE_NAMES
from rota.core.graphs.shape import build_shape
from rota.core.graphs.step_draft import (
    StepDraft,
    check_needs,
    check_step_name,
    parse_tolerance,
    parse_when,
)
from rota.core.graphs.templates import ExpressionAllowance, PayloadTemplate, compile_template
from rota.core.lanes import parse_priority
from rota.core.stored_documents import to_newer_document
from rota.core.submissions import check_name, check_visible_name, prefix_errors


def read_graph(value: object, *, field: str = "graph") -> StepGraph:
    """Read a graph from input; `InvalidInput` has the path of the wrong field."""
    try:
        document = read_input(GraphDocument, value, path=field)
    except RecursionError:
        raise InvalidInput(field, "sub-graph", NEST_WANTED) from None
    return check_graph_size(_build(document, field, ExpressionAllowance(), 1), field)


def read_stored_graph(value: object) -> StepGraph:
    """Read a graph from the database. Unknown fields are ignored; a stored definition is never
    rewritten, so they are kept. Raises `NewerDocument` if the rest cannot run, for example if a
    `when` is unknown.
    """
    with prefix_errors("graph"):
        document = read_stored(GraphDocument, value).document
    try:
        return check_graph_size(
            _build(document, "graph", ExpressionAllowance(is_stored=True), 1), "graph"
        )
    except InvalidInput as error:
        raise to_newer_document(error) from error


def _build(
    document: GraphDocument, field: str, allowance: ExpressionAllowance, level: int
) -> StepGraph:
    if level > GRAPH_LEVELS_MAX:
        raise InvalidInput(field, "sub-graph", NEST_WANTED)
    drafts = [
        _build_step(step, f"{field}.steps[{place}]", allowance)
        for place, step in enumerate(document.steps)
    ]
    shape = build_shape(drafts, field)
    inner = {
        place: _build(step.graph, f"{drafts[place].path}.graph", allowance, level + 1)
        for place, step in enumerate(document.steps)
        if step.graph is not None
    }
    return build_graph(drafts, shape, inner)


def _build_step(document: StepDocument, path: str, allowance: ExpressionAllowance) -> StepDraft:
    """Check everything about a step that does not depend on other steps."""
    needs = check_needs(document.needs or (), f"{path}.needs")
    map_ = None
    if document.map is not None:
        map_ = _build_map(document.map, f"{path}.map", allowance)
    names = SCOPE_NAMES if map_ is None else MEMBER_SCOPE_NAMES
    when: StepCondition | Expression = StepCondition.SUCCESS
    if document.when is not None:
        when = parse_when(document.when, needs, f"{path}.when", allowance)
    return StepDraft(
        path=path,
        name=check_step_name(document.name, f"{path}.name"),
        kind=_check_kind(document, path),
        needs=needs,
        when=when,
        payload=compile_template(
            document.payload, names=names, field=f"{path}.payload", allowance=allowance
        ),
        map=map_,
        may_fail=bool(document.may_fail),
        queue=None if document.queue is None else check_name(document.queue, f"{path}.queue"),
        priority=_check_priority(document.priority, path),
        policy=_check_policy(document, path, allowance),
    )


def _check_kind(document: StepDocument, path: str) -> str:
    kind = document.kind
    if document.graph is not None:
        if kind not in {None, GRAPH_KIND}:
            raise InvalidInput(
                f"{path}.kind", kind, "a step with `graph` must not have another kind"
            )
        if document.map is not None:
            wanted = "a step with `graph` must not have a map"
            raise InvalidInput(f"{path}.map", to_builtins(document.map), wanted)
        return GRAPH_KIND
    if kind == GRAPH_KIND:
        raise InvalidInput(f"{path}.kind", kind, "give the sub-graph in the field `graph` instead")
    return check_visible_name(kind, f"{path}.kind")


def _build_map(document: MapDocument, path: str, allowance: ExpressionAllowance) -> StepMap:
    if (document.over is None) == (document.source is None):
        raise InvalidInput(path, to_builtins(document), "expected either `over` or `source`")
    source = tolerate = None
    if document.source is not None:
        source = _build_source(document.source, f"{path}.source", allowance)
    if document.tolerate is not None:
        tolerate = parse_tolerance(document.tolerate, f"{path}.tolerate")
    return StepMap(
        over=_build_over(document.over, f"{path}.over", allowance),
        source=source,
        tolerate=tolerate or FailureTolerance(),
        at_once=document.at_once,
    )


def _build_over(
    value: object, path: str, allowance: ExpressionAllowance
) -> Expression | PayloadTemplate | None:
    if value is None:
        return None
    if isinstance(value, str):
        return allowance.parse(value, names=SCOPE_NAMES, field=path)
    return compile_template(value, names=SCOPE_NAMES, field=path, allowance=allowance)


def _build_source(
    document: MapSourceDocument, path: str, allowance: ExpressionAllowance
) -> MapSource:
    payload = compile_template(
        document.payload, names=SCOPE_NAMES, field=f"{path}.payload", allowance=allowance
    )
    return MapSource(kind=check_visible_name(document.kind, f"{path}.kind"), payload=payload)


def _check_priority(value: int | str | None, path: str) -> int | None:
    if value is None:
        return None
    with prefix_errors(path):
        return parse_priority(value)


def _check_policy(
    document: StepDocument, path: str, allowance: ExpressionAllowance
) -> Mapping[str, object]:
    """Return the policy fields of the step as they were written, after checking them."""
    own = {
        key: value for key in STEP_POLICY_FIELDS if (value := getattr(document, key)) is not None
    }
    if own:
        with prefix_errors(path):
            (read_stored_policy if allowance.is_stored else read_policy)(own)
    return own
