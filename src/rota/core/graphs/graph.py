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
from rota.core.graphs.templates import Template

KIND: Final = "graph"
MOST_STEPS: Final = 1_000
MOST_EDGES: Final = 5_000
MOST_DEPTH: Final = 100
MOST_CHILDREN: Final = 500
MOST_BYTES: Final = 1024 * 1024
# Levels of nested graphs.
MOST_LEVELS: Final = 5
MOST_AT_ONCE: Final = 100_000
# Policy fields that a step may set itself; all others come from the graph's job.
POLICY: Final = ("retries", "timeout", "deadline", "grace", "guarantee", "target")


class When(StrEnum):
    """The condition on the final states of all parents."""

    SUCCESS = "success"
    FAILURE = "failure"
    ALWAYS = "always"
    NONE_FAILED = "none_failed"


class Read(NamedTuple):
    """A field of another step that an expression reads: `state`, `result`, `error` or `results`."""

    step: int
    part: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How many members of a map may fail: a number or a percentage."""

    count: int = 0
    percent: float | None = None

    def bears(self, failed: int, total: int) -> bool:
        """Return whether this number of failures is tolerated."""
        return failed <= self.most(total)

    def most(self, total: int) -> int:
        if self.percent is None:
            return self.count
        # The epsilon makes 5 % of 20 equal 1 despite floating-point errors.
        return math.floor(total * self.percent / 100 + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The job whose handler yields the items of a map."""

    kind: str
    payload: Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """A step with many members: over a list, a number, or the items of a source."""

    over: Expression | Template | None = None
    source: Source | None = None
    tolerate: Tolerance = field(default_factory=Tolerance)
    at_once: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One node of a graph. `policy` holds its own policy fields, `asked` the parents whose state or
    error its condition reads, and `reads` everything that its condition, payload and map read.
    """

    index: int
    name: str
    kind: str
    payload: Template
    needs: tuple[int, ...] = ()
    children: tuple[int, ...] = ()
    when: When | Expression = When.SUCCESS
    may_fail: bool = False
    map: Map | None = None
    graph: "Graph | None" = None
    queue: str | None = None
    priority: int | None = None
    policy: Mapping[str, object] = field(default_factory=dict)
    asked: frozenset[int] = frozenset()
    reads: frozenset[Read] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A validated graph. `order` is a topological order of its steps."""

    steps: tuple[Step, ...]
    places: Mapping[str, int]
    order: tuple[int, ...]

    @property
    def roots(self) -> tuple[int, ...]:
        return tuple(step.index for step in self.steps if not step.needs)

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(step.index for step in self.steps if not step.children)

    def step(self, name: str) -> Step:
        return self.steps[self.places[name]]
