"""Implements the arithmetic operators `+ - * / %` of expressions.

An operation on null gives null, so a missing value stays missing; a wrong type is an error.
"""

import math
from typing import cast

from rota.core.expressions.values import (
    LIST_MEMBERS_MAX,
    NUMBER_MAX,
    STRING_CHARACTERS_MAX,
    EvaluationBudget,
    EvaluationFailure,
    describe_type,
    is_number,
)


def calculate(left: object, sign: str, right: object, budget: EvaluationBudget) -> object:
    if left is None or right is None:
        return None
    if sign == "+":
        joined = _concatenate(left, right, budget)
        if joined is not None:
            return joined
    if not (is_number(left) and is_number(right)):
        raise EvaluationFailure(
            f"cannot apply {sign} to {describe_type(left)} and {describe_type(right)}"
        )
    try:
        return check_magnitude(_number(cast("float", left), sign, cast("float", right)))
    except OverflowError:
        raise EvaluationFailure("the number is too large") from None


def _concatenate(left: object, right: object, bound: EvaluationBudget) -> object:
    """Concatenate two strings or two lists; None for other types."""
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > STRING_CHARACTERS_MAX:
            raise EvaluationFailure(
                f"the string is too long; at most {STRING_CHARACTERS_MAX} characters"
            )
        bound.spend((len(left) + len(right)) // 64)
        return left + right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) + len(right) > LIST_MEMBERS_MAX:
            raise EvaluationFailure(f"the list is too long; at most {LIST_MEMBERS_MAX} members")
        bound.spend(len(left) + len(right))
        return [*left, *right]
    return None


def _number(left: float, sign: str, right: float) -> float:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return _divide(left, sign, right)


def _divide(left: float, sign: str, right: float) -> float:
    if right == 0:
        raise EvaluationFailure("division by zero")
    if sign == "%":
        return left % right
    # 6 / 2 is the integer 3, which a handler can use as an index, and not 3.0.
    whole = isinstance(left, int) and isinstance(right, int) and left % right == 0
    return left // right if whole else left / right


def check_magnitude(number: float) -> float:
    if not (abs(number) < NUMBER_MAX and math.isfinite(number)):
        raise EvaluationFailure("the number is too large")
    return number


def negate(value: object) -> object:
    if value is None:
        return None
    if not is_number(value):
        raise EvaluationFailure(f"cannot negate {describe_type(value)}")
    return -cast("float", value)
