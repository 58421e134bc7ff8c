"""What the expressions of a step name: other steps that are final by then, or it is refused.

Room: core/graphs.
"""

from collections.abc import Iterator
from typing import Final

from rota.core.errors import InvalidExpression
from rota.core.expressions import Expression, Path
from rota.core.graphs.draft import StepDraft
from rota.core.graphs.graph import Read
from rota.core.graphs.scope import OF_GRAPH, OF_STEP
from rota.core.graphs.shape import Shape
from rota.core.graphs.templates import Placed

# What tells that a condition has thought of its parent's failing.
MINDFUL: Final = ("state", "error")


def reads_of(place: int, draft: StepDraft, shape: Shape) -> frozenset[Read]:
    """Everything that a step reads of others; what it cannot read is refused."""
    return frozenset(
        read
        for placed in draft.expressions
        for path in placed.expression.paths
        for read in _read(place, placed, path, shape)
    )


def asked_of(draft: StepDraft, shape: Shape) -> frozenset[int]:
    """The steps whose state or error the condition reads."""
    if not isinstance(draft.when, Expression):
        return frozenset()
    return frozenset(
        shape.places[str(path.keys[1])]
        for path in draft.when.paths
        if path.keys[0] == "steps" and path.keys[2] in MINDFUL
    )


def _read(place: int, placed: Placed, path: Path, shape: Shape) -> Iterator[Read]:
    if path.keys[0] == "graph" and (len(path.keys) < 2 or path.keys[1] not in OF_GRAPH):
        raise _refusal(placed, path, f"graph. and one of {', '.join(OF_GRAPH)}")
    if path.keys[0] != "steps":
        return
    if len(path.keys) < 2:
        raise _refusal(placed, path, "steps. and the name of a step, written out")
    parent = shape.places.get(str(path.keys[1]))
    if parent is None:
        raise _refusal(placed, path, f"a step that there is, not {path.keys[1]}")
    if not shape.is_before(parent, place):
        wanted = f"a step that ends before this one starts; {path.keys[1]} must be in its needs"
        raise _refusal(placed, path, f"{wanted}, or in theirs")
    if len(path.keys) < 3 or path.keys[2] not in OF_STEP:
        raise _refusal(placed, path, f"one of {', '.join(OF_STEP)} of the step {path.keys[1]}")
    yield Read(parent, str(path.keys[2]))


def _refusal(placed: Placed, path: Path, wanted: str) -> InvalidExpression:
    text = placed.expression.text
    where = f"at character {path.at + 1}"
    return InvalidExpression(placed.field, text, f"{where}, {wanted}", path.at)
