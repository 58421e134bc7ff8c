"""Validates the fields of a single step.

contract/graph.py reads steps from documents; shape.py checks the dependencies between steps.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rota.core.errors import ExpressionFailed, InvalidInput
from rota.core.expressions import EvaluationBudget, Expression, evaluate
from rota.core.graphs.graph import FailureTolerance, StepCondition, StepMap
from rota.core.graphs.scope import SCOPE_NAMES
from rota.core.graphs.templates import (
    EMPTY_TEMPLATE,
    ExpressionAllowance,
    LocatedExpression,
    PayloadTemplate,
)

STEP_NAME_PATTERN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
STEP_NAME_FORMAT: Final = "1–64 letters, digits, _ or -, starting with a letter or _"
PERCENT_PATTERN: Final = re.compile(r"(\d{1,3}(?:\.\d{1,2})?)%", re.ASCII)
TOLERANCE_FORMAT: Final = "a number of members or a percentage such as 5%"
MAP_ITEMS_MAX: Final = 1_000_000
CONDITION_CHOICES: Final = {choice.value: choice for choice in StepCondition}
# The cost limit of a constant condition, which is evaluated while the graph is parsed.
CONSTANT_COST_MAX: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDraft:
    """A step before its dependencies are resolved. `path` is its location in the document."""

    path: str
    name: str
    kind: str
    needs: tuple[str, ...] = ()
    when: StepCondition | Expression = StepCondition.SUCCESS
    payload: PayloadTemplate = EMPTY_TEMPLATE
    map: StepMap | None = None
    may_fail: bool = False
    queue: str | None = None
    priority: int | None = None
    policy: Mapping[str, object] = field(default_factory=dict)

    @property
    def expressions(self) -> list[LocatedExpression]:
        """All expressions of the step, with their locations."""
        found = [*self.payload.expressions]
        if isinstance(self.when, Expression):
            found.append(LocatedExpression(f"{self.path}.when", self.when))
        if self.map is not None:
            found += _map_expressions(self.map, f"{self.path}.map")
        return found


def _map_expressions(map_: StepMap, path: str) -> Iterator[LocatedExpression]:
    if isinstance(map_.over, Expression):
        yield LocatedExpression(f"{path}.over", map_.over)
    elif map_.over is not None:
        yield from map_.over.expressions
    if map_.source is not None:
        yield from map_.source.payload.expressions


def check_step_name(name: str, path: str) -> str:
    """Reject a name that expressions could not refer to."""
    if not STEP_NAME_PATTERN.fullmatch(name):
        raise InvalidInput(path, name, f"expected {STEP_NAME_FORMAT}")
    return name


def check_needs(names: Sequence[str], path: str) -> tuple[str, ...]:
    """Reject a step that is listed twice."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            raise InvalidInput(f"{path}[{place}]", name, "listed twice; list each step once")
        seen.add(name)
    return tuple(names)


def parse_when(
    text: str, needs: Sequence[str], path: str, allowance: ExpressionAllowance
) -> StepCondition | Expression:
    """Parse a condition: one of the `When` choices, or an expression that can be true."""
    choice = CONDITION_CHOICES.get(text)
    if choice is StepCondition.FAILURE and not needs:
        raise InvalidInput(
            path, text, "requires needs: without a step that can fail, this step would never run"
        )
    if choice is not None:
        return choice
    expression = allowance.parse(text, names=SCOPE_NAMES, field=path)
    if not expression.paths and not _is_true(expression):
        raise InvalidInput(path, text, "the condition is never true, so the step would never run")
    return expression


def _is_true(constant: Expression) -> bool:
    try:
        return bool(evaluate(constant, {}, EvaluationBudget(CONSTANT_COST_MAX)))
    except ExpressionFailed:
        return False


def parse_tolerance(value: int | str, path: str) -> FailureTolerance:
    """Parse how many members of a map may fail: a number or a percentage such as 5%."""
    if isinstance(value, int):
        return FailureTolerance(count=value)
    found = PERCENT_PATTERN.fullmatch(value)
    if found is None or float(found[1]) > 100:
        raise InvalidInput(path, value, f"expected {TOLERANCE_FORMAT}")
    return FailureTolerance(percent=float(found[1]))
