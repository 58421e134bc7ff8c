"""Values that are known only when a graph runs. Room: sdk/graph.

Looking into one, calculating and comparing gives another: `found["rows"] > 3` is an expression, not
an answer. Asking for the answer here and now (`if`, `for`, `len`) is refused with what to do.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NoReturn

from rota.core.errors import InvalidInput

if TYPE_CHECKING:
    from rota.sdk.graph.steps import Step

NAMED: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")

ESCAPES: Final = str.maketrans({"\n": r"\n", "\r": r"\r", "\t": r"\t"})


class Value:
    """An expression. Its parts are texts, and steps whose names are settled when all are known."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: "str | Step") -> None:
        self._parts = parts

    # Any: to a type checker it is what the parameter wants that it is passed to.
    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise InvalidInput("key", key, "a text or a number: what is inside is JSON")
        if isinstance(key, str) and is_name(key):
            return Value(*self.parts, f".{key}")
        return Value(*self.parts, f"[{quoted(key) if isinstance(key, str) else key}]")

    def __getattr__(self, name: str) -> Any:
        # Python itself asks for names with underscores; they are none of a result.
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    @property
    def parts(self) -> "tuple[str | Step, ...]":
        return self._parts

    @property
    def text(self) -> str:
        """The expression, as the definition has it."""
        return "".join(part if isinstance(part, str) else place(part) for part in self.parts)

    @property
    def steps(self) -> "list[Step]":
        """The steps that it is about."""
        return [part for part in self.parts if not isinstance(part, str)]

    def __repr__(self) -> str:
        return f"<value {self.text}>"

    def __add__(self, other: object) -> "Value":
        return both(self, "+", other)

    def __radd__(self, other: object) -> "Value":
        return both(other, "+", self)

    def __sub__(self, other: object) -> "Value":
        return both(self, "-", other)

    def __rsub__(self, other: object) -> "Value":
        return both(other, "-", self)

    def __mul__(self, other: object) -> "Value":
        return both(self, "*", other)

    def __rmul__(self, other: object) -> "Value":
        return both(other, "*", self)

    def __truediv__(self, other: object) -> "Value":
        return both(self, "/", other)

    def __mod__(self, other: object) -> "Value":
        return both(self, "%", other)

    def __lt__(self, other: object) -> "Value":
        return both(self, "<", other)

    def __le__(self, other: object) -> "Value":
        return both(self, "<=", other)

    def __gt__(self, other: object) -> "Value":
        return both(self, ">", other)

    def __ge__(self, other: object) -> "Value":
        return both(self, ">=", other)

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]
        return both(self, "==", other)

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]
        return both(self, "!=", other)

    def __and__(self, other: object) -> "Value":
        return both(self, "and", other)

    def __or__(self, other: object) -> "Value":
        return both(self, "or", other)

    def __invert__(self) -> "Value":
        return Value("(not ", *self.parts, ")")

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:  # noqa: PLE0304 — there is no answer
        self._refuse(".when(…) on the step that depends on it; & and | instead of and and or")

    def __iter__(self) -> Iterator[Any]:
        self._refuse(".map(over=…) on the step that is to run for each of them")

    def __len__(self) -> NoReturn:  # noqa: PLE0303 — nor here
        self._refuse('.when("len(steps.name.result) > 3") with the expression as a text')

    def __call__(self, *_: object, **__: object) -> NoReturn:
        self._refuse("one of when, map, options, after, may_fail on a step")

    def __contains__(self, _: object) -> NoReturn:
        self._refuse('.when("x in steps.name.result") with the expression as a text')

    def _refuse(self, wanted: str) -> NoReturn:
        raise InvalidInput(
            "graph", self.text, f"a value that is known only when the graph runs: use {wanted}"
        )


def both(left: object, sign: str, right: object) -> Value:
    return Value("(", *parts_of(left), f" {sign} ", *parts_of(right), ")")


def parts_of(value: object) -> "tuple[str | Step, ...]":
    return value.parts if isinstance(value, Value) else (literal(value),)


def literal(value: object) -> str:
    """A value of Python as an expression writes it."""
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
            return quoted(value)
        case list() | tuple():
            return f"[{', '.join(map(literal, value))}]"
        case _:
            raise InvalidInput("graph", value, "null, true, false, a number, a text or a list")


def quoted(text: str) -> str:
    """A text in quotes, with what an expression has escapes for."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped.translate(ESCAPES)}"'


def is_name(key: str) -> bool:
    return bool(key) and not key[0].isdigit() and NAMED.issuperset(key)


def place(step: "Step") -> str:
    """Where expressions find a step."""
    name = step.draft.name
    return f"steps.{name}" if is_name(name) else f"steps[{quoted(name)}]"
