"""Compares the values of expressions and limits the cost of an evaluation.

Values are JSON values, and types are strict: 1 is neither true nor "1".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# About ten milliseconds: the worker evaluates conditions between other work.
EVALUATION_STEPS_MAX: Final = 50_000
# A string or list that an expression builds may not be longer than a payload.
STRING_CHARACTERS_MAX: Final = 256 * 1024
LIST_MEMBERS_MAX: Final = 50_000
NUMBER_MAX: Final = 10**64
COMPARISON_DEPTH_MAX: Final = 64


@dataclass(eq=False)
class EvaluationFailure(Exception):  # never leaves this package
    """Why an operator or function failed; the evaluation adds the position."""

    reason: str


@dataclass(slots=True)
class EvaluationBudget:
    """The steps that an evaluation may still take."""

    left: int = EVALUATION_STEPS_MAX

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise EvaluationFailure("the evaluation takes too many steps")


def is_truthy(value: object) -> bool:
    """Return whether a value counts as true. null, false, 0 and empty values count as false."""
    return bool(value)


def describe_type(value: object) -> str:
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


def are_equal(left: object, right: object, budget: EvaluationBudget, depth: int = 0) -> bool:
    """Return whether two JSON values are equal, compared recursively."""
    budget.spend(1)
    if depth > COMPARISON_DEPTH_MAX:
        raise EvaluationFailure("the values are nested too deeply to compare")
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(
            are_equal(one, other, budget, depth + 1) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(
            are_equal(left[key], right[key], budget, depth + 1) for key in left
        )
    if is_number(left) and is_number(right):
        return left == right
    return type(left) is type(right) and left == right


def compare(left: object, sign: str, right: object) -> bool:
    """Compare two numbers or two strings; False for all other types."""
    if is_number(left) and is_number(right):
        return _compare(left, sign, right)  # type: ignore[arg-type]
    if isinstance(left, str) and isinstance(right, str):
        return _compare(left, sign, right)
    return False


def _compare(left: str | float, sign: str, right: str | float) -> bool:
    match sign:
        case "<":
            return left < right  # type: ignore[operator]
        case "<=":
            return left <= right  # type: ignore[operator]
        case ">":
            return left > right  # type: ignore[operator]
        case _:
            return left >= right  # type: ignore[operator]


def is_inside(value: object, container: object, budget: EvaluationBudget) -> bool:
    """Implement `in`: a substring, a member of a list or a key of an object."""
    match container:
        case None:
            return False
        case str():
            budget.spend(len(container) // 64 + 1)
            return isinstance(value, str) and value in container
        case list() | tuple():
            return any(are_equal(value, member, budget) for member in container)
        case Mapping():
            return isinstance(value, str) and value in container
        case _:
            raise EvaluationFailure(
                f"in expects a string, a list or an object, not {describe_type(container)}"
            )


def look_up_key(value: object, key: object) -> object:
    """Return the value under a key; null if it is missing."""
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101 # the first is fast
        return value.get(key) if isinstance(key, str) else None
    if isinstance(value, list | tuple) and isinstance(key, int) and not isinstance(key, bool):
        return value[key] if -len(value) <= key < len(value) else None
    return None
