"""What an expression is made of. Room: core/expressions.

A chain such as `a + b + c` is one node, and so is a path such as `a.b[0]`: what is long is wide
here and never deep, so that neither reading nor evaluating can run out of stack.
"""

from dataclasses import dataclass
from typing import TypeAlias, Union


@dataclass(frozen=True, slots=True)
class Literal:
    value: object
    at: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """A value and the keys that lead into it; of a name, the name is the first key."""

    of: "Node | None"
    keys: "tuple[Node, ...]"
    at: int


@dataclass(frozen=True, slots=True)
class Listing:
    parts: "tuple[Node, ...]"
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: "tuple[Node, ...]"
    at: int


@dataclass(frozen=True, slots=True)
class Negation:
    """`not` or a minus in front."""

    sign: str
    of: "Node"
    at: int


@dataclass(frozen=True, slots=True)
class Link:
    sign: str
    node: "Node"
    at: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of one rank, from left to right."""

    first: "Node"
    links: tuple[Link, ...]
    at: int


Node: TypeAlias = Union["Literal", "Lookup", "Listing", "Call", "Negation", "Chain"]


@dataclass(frozen=True, slots=True)
class Path:
    """Something that the expression reads, as far as it can be known without evaluating it."""

    keys: tuple[str | int, ...]
    at: int
    # Whether there are keys behind these that depend on values.
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    text: str
    root: Node
    paths: tuple[Path, ...]
