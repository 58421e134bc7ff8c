"""Implements the arithmetic operators `+ - * / %` of expressions.

An operation on null gives null, so a missing value stays missing; a wrong type is an error.
"""

import math
from typing import cast

from rota.core.expressions.values import (
    MOST_LIST,
    MOST_NUMBER,
    MOST_TEXT,
    Bound,
    Failure,
    is_number,
    type_of,
)


def calculated(left: object, sign: str, right: object, bound: Bound) -> object:
    if left is None or right is None:
        return None
    if sign == "+":
        joined = _joined(left, right, bound)
        if joined is not None:
            return joined
    if not (is_number(left) and is_number(right)):
        raise Failure(f"cannot apply {sign} to {type_of(left)} and {type_of(right)}")
    try:
        return fitting(_number(cast("float", left), sign, cast("float", right)))
    except OverflowError:
        raise Failure("the number is too large") from None


def _joined(left: object, right: object, bound: Bound) -> object:
    """Concatenate two strings or two lists; None for other types."""
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > MOST_TEXT:
            raise Failure(f"the string is too long; at most {MOST_TEXT} characters")
        bound.pay((len(left) + len(right)) // 64)
        return left + right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) + len(right) > MOST_LIST:
            raise Failure(f"the list is too long; at most {MOST_LIST} members")
        bound.pay(len(left) + len(right))
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
            return _divided(left, sign, right)


def _divided(left: float, sign: str, right: float) -> float:
    if right == 0:
        raise Failure("division by zero")
    if sign == "%":
        return left % right
    # 6 / 2 is the integer 3, which a handler can use as an index, and not 3.0.
    whole = isinstance(left, int) and isinstance(right, int) and left % right == 0
    return left // right if whole else left / right


def fitting(number: float) -> float:
    if not (abs(number) < MOST_NUMBER and math.isfinite(number)):
        raise Failure("the number is too large")
    return number


def negative(value: object) -> object:
    if value is None:
        return None
    if not is_number(value):
        raise Failure(f"cannot negate {type_of(value)}")
    return -cast("float", value)
