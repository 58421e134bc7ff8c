"""Defines a graph, its steps and their limits.

Steps refer to each other by their index in the graph. Step states, runs and step completions use
that index; the name appears only in the definition.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from rota.core.expressions import Expression
from rota.core.graphs.templates import PayloadTemplate

GRAPH_KIND: Final = "graph"
GRAPH_STEPS_MAX: Final = 1_000
GRAPH_EDGES_MAX: Final = 5_000
GRAPH_DEPTH_MAX: Final = 100
STEP_CHILDREN_MAX: Final = 500
GRAPH_BYTES_MAX: Final = 1024 * 1024
# Levels of nested graphs.
GRAPH_LEVELS_MAX: Final = 5
MAP_AT_ONCE_MAX: Final = 100_000
# Policy fields that a step may set itself; all others come from the graph's job.
STEP_POLICY_FIELDS: Final = ("retries", "timeout", "deadline", "grace", "guarantee", "target")


class StepCondition(StrEnum):
    """The condition on the final states of all parents."""

    SUCCESS = "success"
    FAILURE = "failure"
    ALWAYS = "always"
    NONE_FAILED = "none_failed"


class StepRead(NamedTuple):
    """A field of another step that an expression reads: `state`, `result`, `error` or `results`."""

    step: int
    part: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureTolerance:
    """How many members of a map may fail: a number or a percentage."""

    count: int = 0
    percent: float | None = None

    def allows(self, failed: int, total: int) -> bool:
        """Return whether this number of failures is tolerated."""
        return failed <= self.max_failures(total)

    def max_failures(self, total: int) -> int:
        if self.percent is None:
            return self.count
        # The epsilon makes 5 % of 20 equal 1 despite floating-point errors.
        return math.floor(total * self.percent / 100 + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSource:
    """The job whose handler yields the items of a map."""

    kind: str
    payload: PayloadTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMap:
    """A step with many members: over a list, a number, or the items of a source."""

    over: Expression | PayloadTemplate | None = None
    source: MapSource | None = None
    tolerate: FailureTolerance = field(default_factory=FailureTolerance)
    at_once: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStep:
    """One node of a graph. `policy` holds its own policy fields, `asked` the parents whose state or
    error its condition reads, and `reads` everything that its condition, payload and map read.
    """

    index: int
    name: str
    kind: str
    payload: PayloadTemplate
    needs: tuple[int, ...] = ()
    children: tuple[int, ...] = ()
    when: StepCondition | Expression = StepCondition.SUCCESS
    may_fail: bool = False
    map: StepMap | None = None
    graph: "StepGraph | None" = None
    queue: str | None = None
    priority: int | None = None
    policy: Mapping[str, object] = field(default_factory=dict)
    condition_parents: frozenset[int] = frozenset()
    reads: frozenset[StepRead] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGraph:
    """A validated graph. `order` is a topological order of its steps."""

    steps: tuple[GraphStep, ...]
    step_indexes: Mapping[str, int]
    order: tuple[int, ...]

    @property
    def roots(self) -> tuple[int, ...]:
        return tuple(step.index for step in self.steps if not step.needs)

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(step.index for step in self.steps if not step.children)

    def step(self, name: str) -> GraphStep:
        return self.steps[self.step_indexes[name]]
