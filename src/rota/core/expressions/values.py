"""Compares the values of expressions and limits the cost of an evaluation.

Values are JSON values, and types are strict: 1 is neither true nor "1".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# About ten milliseconds: the worker evaluates conditions between other work.
MOST_STEPS: Final = 50_000
# A string or list that an expression builds may not be longer than a payload.
MOST_TEXT: Final = 256 * 1024
MOST_LIST: Final = 50_000
MOST_NUMBER: Final = 10**64
MOST_DEPTH: Final = 64


@dataclass(eq=False)
class Failure(Exception):  # never leaves this package
    """Why an operator or function failed; the evaluation adds the position."""

    reason: str


@dataclass(slots=True)
class Bound:
    """The steps that an evaluation may still take."""

    left: int = MOST_STEPS

    def pay(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Failure("the evaluation takes too many steps")


def truth(value: object) -> bool:
    """Return whether a value counts as true. null, false, 0 and empty values count as false."""
    return bool(value)


def type_of(value: object) -> str:
    """Return the name of a value's type for an error message."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(left: object, right: object, bound: Bound, depth: int = 0) -> bool:
    """Return whether two JSON values are equal, compared recursively."""
    bound.pay(1)
    if depth > MOST_DEPTH:
        raise Failure("the values are nested too deeply to compare")
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(
            equal(one, other, bound, depth + 1) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(
            equal(left[key], right[key], bound, depth + 1) for key in left
        )
    if is_number(left) and is_number(right):
        return left == right
    return type(left) is type(right) and left == right


def ordered(left: object, sign: str, right: object) -> bool:
    """Compare two numbers or two strings; False for all other types."""
    if is_number(left) and is_number(right):
        return _ordered(left, sign, right)  # type: ignore[arg-type]
    if isinstance(left, str) and isinstance(right, str):
        return _ordered(left, sign, right)
    return False


def _ordered(left: str | float, sign: str, right: str | float) -> bool:
    match sign:
        case "<":
            return left < right  # type: ignore[operator]
        case "<=":
            return left <= right  # type: ignore[operator]
        case ">":
            return left > right  # type: ignore[operator]
        case _:
            return left >= right  # type: ignore[operator]


def inside(value: object, whole: object, bound: Bound) -> bool:
    """Implement `in`: a substring, a member of a list or a key of an object."""
    match whole:
        case None:
            return False
        case str():
            bound.pay(len(whole) // 64 + 1)
            return isinstance(value, str) and value in whole
        case list() | tuple():
            return any(equal(value, member, bound) for member in whole)
        case Mapping():
            return isinstance(value, str) and value in whole
        case _:
            raise Failure(f"in expects a string, a list or an object, not {type_of(whole)}")


def at_key(value: object, key: object) -> object:
    """Return the value under a key; null if there is none."""
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101 # the first is fast
        return value.get(key) if isinstance(key, str) else None
    if isinstance(value, list | tuple) and isinstance(key, int) and not isinstance(key, bool):
        return value[key] if -len(value) <= key < len(value) else None
    return None
