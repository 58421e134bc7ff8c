"""A graph, its steps, and how large they may be. Room: core/graphs.

Steps know each other by their place in the graph: a board, a run and a mark carry that number, and
the name only stands in the definition.
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
# A graph in a graph in a graph: deeper ones are drawn by nobody.
MOST_LEVELS: Final = 5
MOST_AT_ONCE: Final = 100_000
# What a step may say about its attempts; the rest it has from the graph's job.
POLICY: Final = ("retries", "timeout", "deadline", "grace", "guarantee", "target")


class When(StrEnum):
    """What the parents must have come to, all of them being final."""

    SUCCESS = "success"
    FAILURE = "failure"
    ALWAYS = "always"
    NONE_FAILED = "none_failed"


class Read(NamedTuple):
    """What an expression reads of another step: `state`, `result`, `error` or `results`."""

    step: int
    part: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How many members of a map may fail: a number, or a share of all."""

    count: int = 0
    percent: float | None = None

    def bears(self, failed: int, total: int) -> bool:
        """Whether so many failures are still fine."""
        return failed <= self.most(total)

    def most(self, total: int) -> int:
        if self.percent is None:
            return self.count
        # A hair more, so that 5 % of 20 is 1 whatever binary fractions make of it.
        return math.floor(total * self.percent / 100 + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The job whose handler yields the items of a map."""

    kind: str
    payload: Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """A step with many members: over a list or a number, or over what a source yields."""

    over: Expression | Template | None = None
    source: Source | None = None
    tolerate: Tolerance = field(default_factory=Tolerance)
    at_once: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One node. `policy` is what it says of its own, `asked` the parents whose state or error its
    condition reads, and `reads` all that its condition, payload and map read.
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
    """`order` has every step behind those it needs."""

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
