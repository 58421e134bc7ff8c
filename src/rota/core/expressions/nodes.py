"""Defines the syntax tree of an expression.

A chain such as `a + b + c` is one node, and so is a path such as `a.b[0]`. A long expression makes
a wide tree, never a deep one, so parsing and evaluation cannot exhaust the stack.
"""

from dataclasses import dataclass
from typing import TypeAlias, Union


@dataclass(frozen=True, slots=True)
class Literal:
    value: object
    at: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """A value and the keys to look up in it. For a name, the name is the first key."""

    base: "Node | None"
    keys: "tuple[Node, ...]"
    at: int


@dataclass(frozen=True, slots=True)
class ListLiteral:
    parts: "tuple[Node, ...]"
    at: int


@dataclass(frozen=True, slots=True)
class FunctionCall:
    name: str
    arguments: "tuple[Node, ...]"
    at: int


@dataclass(frozen=True, slots=True)
class Negation:
    """A leading `not` or minus."""

    sign: str
    operand: "Node"
    at: int


@dataclass(frozen=True, slots=True)
class ChainLink:
    sign: str
    node: "Node"
    at: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of one precedence, from left to right."""

    first: "Node"
    links: tuple[ChainLink, ...]
    at: int


Node: TypeAlias = Union["Literal", "Lookup", "ListLiteral", "FunctionCall", "Negation", "Chain"]


@dataclass(frozen=True, slots=True)
class ReadPath:
    """A path that the expression reads, as far as it is known without evaluation."""

    keys: tuple[str | int, ...]
    at: int
    # Whether further keys follow that depend on values.
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    text: str
    root: Node
    paths: tuple[ReadPath, ...]
