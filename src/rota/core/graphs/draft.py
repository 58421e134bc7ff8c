"""A step that is right by itself, and what its fields mean. Room: core/graphs.

How a step is written as a document is contract/graph.py; how steps hang together is shape.py.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rota.core.errors import ExpressionFailed, InvalidInput
from rota.core.expressions import Bound, Expression, evaluate
from rota.core.graphs.graph import Map, Tolerance, When
from rota.core.graphs.scope import NAMES
from rota.core.graphs.templates import NOTHING, Allowance, Placed, Template

STEP_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
STEP_NAME_WANTED: Final = "letters, digits, _ and -, a letter or _ first, at most 64 of them"
PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,2})?)%", re.ASCII)
TOLERANCE_WANTED: Final = "a number of members, or a share such as 5%"
MAP_ITEMS_MAX: Final = 1_000_000
WHENS: Final = {choice.value: choice for choice in When}
# What a condition may cost that reads nothing: it is asked while the graph is read.
CONSTANT_COST_MAX: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDraft:
    """A step before it knows the others. `path` says where it stands."""

    path: str
    name: str
    kind: str
    needs: tuple[str, ...] = ()
    when: When | Expression = When.SUCCESS
    payload: Template = NOTHING
    map: Map | None = None
    may_fail: bool = False
    queue: str | None = None
    priority: int | None = None
    policy: Mapping[str, object] = field(default_factory=dict)

    @property
    def expressions(self) -> list[Placed]:
        """Each expression of the step, with where it stands."""
        found = [*self.payload.expressions]
        if isinstance(self.when, Expression):
            found.append(Placed(f"{self.path}.when", self.when))
        if self.map is not None:
            found += _map_expressions(self.map, f"{self.path}.map")
        return found


def _map_expressions(map_: Map, path: str) -> Iterator[Placed]:
    if isinstance(map_.over, Expression):
        yield Placed(f"{path}.over", map_.over)
    elif map_.over is not None:
        yield from map_.over.expressions
    if map_.source is not None:
        yield from map_.source.payload.expressions


def check_step_name(name: str, path: str) -> str:
    """Refuse a name that expressions could not refer to."""
    if not STEP_NAME.fullmatch(name):
        raise InvalidInput(path, name, STEP_NAME_WANTED)
    return name


def check_needs(names: Sequence[str], path: str) -> tuple[str, ...]:
    """Refuse a step that is named twice."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            raise InvalidInput(f"{path}[{place}]", name, "each step once")
        seen.add(name)
    return tuple(names)


def parse_when(
    text: str, needs: Sequence[str], path: str, allowance: Allowance
) -> When | Expression:
    """Read a condition: one of the choices, or an expression that can be true."""
    choice = WHENS.get(text)
    if choice is When.FAILURE and not needs:
        raise InvalidInput(path, text, "steps in needs that can fail, or it would never run")
    if choice is not None:
        return choice
    expression = allowance.parse(text, names=NAMES, field=path)
    if not expression.paths and not _is_true(expression):
        raise InvalidInput(path, text, "a condition that can be true, or it would never run")
    return expression


def _is_true(constant: Expression) -> bool:
    try:
        return bool(evaluate(constant, {}, Bound(CONSTANT_COST_MAX)))
    except ExpressionFailed:
        return False


def parse_tolerance(value: int | str, path: str) -> Tolerance:
    """Read how many members of a map may fail: a number, or a share such as 5%."""
    if isinstance(value, int):
        return Tolerance(count=value)
    found = PERCENT.fullmatch(value)
    if found is None or float(found[1]) > 100:
        raise InvalidInput(path, value, TOLERANCE_WANTED)
    return Tolerance(percent=float(found[1]))
