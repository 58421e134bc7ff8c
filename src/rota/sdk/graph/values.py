"""Defines placeholders for values that are known only when a graph runs.

Indexing, arithmetic and comparison give another placeholder: `found["rows"] > 3` is an expression,
not a bool. Python constructs that need the actual value (`if`, `for`, `len`) raise an error that
names the alternative.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NoReturn

from rota.core.errors import InvalidInput

if TYPE_CHECKING:
    from rota.sdk.graph.steps import Step

NAME_CHARACTERS: Final = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
)

ESCAPES: Final = str.maketrans({"\n": r"\n", "\r": r"\r", "\t": r"\t"})


class Value:
    """An expression. Its parts are strings, and steps whose names are inserted at the end."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: "str | Step") -> None:
        self._parts = parts

    # Any: a type checker accepts it for a parameter of any type.
    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise InvalidInput("key", key, "expected a string or an integer")
        if isinstance(key, str) and is_name(key):
            return Value(*self.parts, f".{key}")
        return Value(*self.parts, f"[{quote_string(key) if isinstance(key, str) else key}]")

    def __getattr__(self, name: str) -> Any:
        # Python itself looks up names with underscores; they are never fields of a result.
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    @property
    def parts(self) -> "tuple[str | Step, ...]":
        return self._parts

    @property
    def text(self) -> str:
        """The expression as written in the definition."""
        return "".join(
            part if isinstance(part, str) else step_expression(part) for part in self.parts
        )

    @property
    def steps(self) -> "list[Step]":
        """The steps that the expression refers to."""
        return [part for part in self.parts if not isinstance(part, str)]

    def __repr__(self) -> str:
        return f"<value {self.text}>"

    def __add__(self, other: object) -> "Value":
        return combine_values(self, "+", other)

    def __radd__(self, other: object) -> "Value":
        return combine_values(other, "+", self)

    def __sub__(self, other: object) -> "Value":
        return combine_values(self, "-", other)

    def __rsub__(self, other: object) -> "Value":
        return combine_values(other, "-", self)

    def __mul__(self, other: object) -> "Value":
        return combine_values(self, "*", other)

    def __rmul__(self, other: object) -> "Value":
        return combine_values(other, "*", self)

    def __truediv__(self, other: object) -> "Value":
        return combine_values(self, "/", other)

    def __mod__(self, other: object) -> "Value":
        return combine_values(self, "%", other)

    def __lt__(self, other: object) -> "Value":
        return combine_values(self, "<", other)

    def __le__(self, other: object) -> "Value":
        return combine_values(self, "<=", other)

    def __gt__(self, other: object) -> "Value":
        return combine_values(self, ">", other)

    def __ge__(self, other: object) -> "Value":
        return combine_values(self, ">=", other)

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]
        return combine_values(self, "==", other)

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]
        return combine_values(self, "!=", other)

    def __and__(self, other: object) -> "Value":
        return combine_values(self, "and", other)

    def __or__(self, other: object) -> "Value":
        return combine_values(self, "or", other)

    def __invert__(self) -> "Value":
        return Value("(not ", *self.parts, ")")

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:  # noqa: PLE0304 — the value is unknown
        self._refuse(".when(…) on the step that depends on it, and & and | instead of and and or")

    def __iter__(self) -> Iterator[Any]:
        self._refuse(".map(over=…) on the step that runs for each item")

    def __len__(self) -> NoReturn:  # noqa: PLE0303 — the value is unknown
        self._refuse('an expression in a string: .when("len(steps.name.result) > 3")')

    def __call__(self, *_: object, **__: object) -> NoReturn:
        self._refuse("when, map, options, after or may_fail on a step")

    def __contains__(self, _: object) -> NoReturn:
        self._refuse('an expression in a string: .when("x in steps.name.result")')

    def _refuse(self, alternative: str) -> NoReturn:
        wanted = f"the value is known only when the graph runs; use {alternative}"
        raise InvalidInput("graph", self.text, wanted)


def combine_values(left: object, operator: str, right: object) -> Value:
    return Value("(", *expression_parts(left), f" {operator} ", *expression_parts(right), ")")


def expression_parts(value: object) -> "tuple[str | Step, ...]":
    return value.parts if isinstance(value, Value) else (write_literal(value),)


def write_literal(value: object) -> str:
    """Write a Python value as a literal of the expression language."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return json.dumps(value)
        case str():
            return quote_string(value)
        case list() | tuple():
            return f"[{', '.join(map(write_literal, value))}]"
        case _:
            wanted = "expected None, a bool, a number, a string or a list"
            raise InvalidInput("graph", value, wanted)


def quote_string(text: str) -> str:
    """Quote and escape a string for an expression."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped.translate(ESCAPES)}"'


def is_name(key: str) -> bool:
    return bool(key) and not key[0].isdigit() and NAME_CHARACTERS.issuperset(key)


def step_expression(step: "Step") -> str:
    """The expression that refers to a step."""
    name = step.draft.name
    return f"steps.{name}" if is_name(name) else f"steps[{quote_string(name)}]"
