"""Checks which other steps the expressions of a step read: only steps that are final by then."""

from collections.abc import Iterator
from typing import Final

from rota.core.errors import InvalidExpression
from rota.core.expressions import Expression, ReadPath
from rota.core.graphs.graph import StepRead
from rota.core.graphs.scope import GRAPH_FIELDS, STEP_FIELDS
from rota.core.graphs.shape import GraphShape
from rota.core.graphs.step_draft import StepDraft
from rota.core.graphs.templates import LocatedExpression

# A condition that reads one of these fields handles a failed parent itself.
FAILURE_FIELDS: Final = ("state", "error")


def find_reads(place: int, draft: StepDraft, shape: GraphShape) -> frozenset[StepRead]:
    """Return everything that a step reads from others. Raises `InvalidExpression` if it cannot."""
    return frozenset(
        read
        for placed in draft.expressions
        for path in placed.expression.paths
        for read in _read(place, placed, path, shape)
    )


def find_condition_parents(draft: StepDraft, shape: GraphShape) -> frozenset[int]:
    """Return the steps whose state or error the condition reads."""
    if not isinstance(draft.when, Expression):
        return frozenset()
    return frozenset(
        shape.places[str(path.keys[1])]
        for path in draft.when.paths
        if path.keys[0] == "steps" and path.keys[2] in FAILURE_FIELDS
    )


def _read(
    place: int, placed: LocatedExpression, path: ReadPath, shape: GraphShape
) -> Iterator[StepRead]:
    if path.keys[0] == "graph" and (len(path.keys) < 2 or path.keys[1] not in GRAPH_FIELDS):
        raise _refusal(
            placed, path, f"expected graph. followed by one of {', '.join(GRAPH_FIELDS)}"
        )
    if path.keys[0] != "steps":
        return
    if len(path.keys) < 2:
        raise _refusal(placed, path, "expected steps. followed by the literal name of a step")
    parent = shape.places.get(str(path.keys[1]))
    if parent is None:
        raise _refusal(placed, path, f"no such step: {path.keys[1]}")
    if not shape.is_ancestor(parent, place):
        wanted = f"{path.keys[1]} may not have ended yet; add it to needs, directly or indirectly"
        raise _refusal(placed, path, wanted)
    if len(path.keys) < 3 or path.keys[2] not in STEP_FIELDS:
        raise _refusal(
            placed,
            path,
            f"expected steps.{path.keys[1]}. followed by one of {', '.join(STEP_FIELDS)}",
        )
    yield StepRead(parent, str(path.keys[2]))


def _refusal(placed: LocatedExpression, path: ReadPath, wanted: str) -> InvalidExpression:
    text = placed.expression.text
    where = f"at character {path.at + 1}"
    return InvalidExpression(placed.field, text, f"{where}: {wanted}", path.at)
