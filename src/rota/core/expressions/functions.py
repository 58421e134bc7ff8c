"""Defines the functions that expressions may call.

Like operators, they return null for null. Exceptions are functions about null, such as `exists`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from rota.core.expressions.arithmetic import calculate, check_magnitude
from rota.core.expressions.values import (
    EvaluationBudget,
    EvaluationFailure,
    compare,
    describe_type,
    is_inside,
    is_number,
    is_truthy,
)

Arguments: TypeAlias = Sequence[object]
ARGUMENTS_MAX: Final = 50


class Function(NamedTuple):
    """The minimum and maximum number of arguments, and the implementation."""

    min_arguments: int
    max_arguments: int
    call: Callable[[Arguments, EvaluationBudget], object]

    @property
    def arity(self) -> str:
        if self.min_arguments == self.max_arguments:
            return f"{self.min_arguments} argument{'' if self.min_arguments == 1 else 's'}"
        return f"{self.min_arguments} to {self.max_arguments} arguments"


def _len(arguments: Arguments, _: EvaluationBudget) -> object:
    value = arguments[0]
    if value is None:
        return None
    if isinstance(value, str | list | tuple | Mapping):
        return len(value)
    raise EvaluationFailure(
        f"len expects a string, a list or an object, not {describe_type(value)}"
    )


def _texts(arguments: Arguments, name: str, bound: EvaluationBudget) -> list[str] | None:
    """Return the arguments, which must be strings; None if one is null."""
    if None in arguments:
        return None
    for value in arguments:
        if not isinstance(value, str):
            raise EvaluationFailure(f"{name} expects a string, not {describe_type(value)}")
    found = [str(value) for value in arguments]
    bound.spend(sum(map(len, found)) // 64 + 1)
    return found


def _lower(arguments: Arguments, bound: EvaluationBudget) -> object:
    found = _texts(arguments, "lower", bound)
    return None if found is None else found[0].lower()


def _upper(arguments: Arguments, bound: EvaluationBudget) -> object:
    found = _texts(arguments, "upper", bound)
    return None if found is None else found[0].upper()


def _starts_with(arguments: Arguments, bound: EvaluationBudget) -> object:
    found = _texts(arguments, "starts_with", bound)
    return None if found is None else found[0].startswith(found[1])


def _ends_with(arguments: Arguments, bound: EvaluationBudget) -> object:
    found = _texts(arguments, "ends_with", bound)
    return None if found is None else found[0].endswith(found[1])


def _contains(arguments: Arguments, bound: EvaluationBudget) -> object:
    return None if arguments[0] is None else is_inside(arguments[1], arguments[0], bound)


def _like(arguments: Arguments, bound: EvaluationBudget) -> object:
    found = _texts(arguments, "like", bound)
    return None if found is None else matches_pattern(found[0], found[1], bound)


def matches_pattern(text: str, pattern: str, budget: EvaluationBudget) -> bool:
    """Return whether a text matches a pattern with `*` and `?`. The match backtracks only to the
    last `*`, so its cost is at most the product of the lengths; a regular expression has no such
    bound.
    """
    text_at = pattern_at = 0
    star, retry_at = -1, 0
    while text_at < len(text):
        budget.spend(1)
        if pattern_at < len(pattern) and pattern[pattern_at] == "*":
            star, retry_at = pattern_at, text_at
            pattern_at += 1
        elif pattern_at < len(pattern) and pattern[pattern_at] in ("?", text[text_at]):
            text_at, pattern_at = text_at + 1, pattern_at + 1
        elif star >= 0:
            retry_at += 1
            text_at, pattern_at = retry_at, star + 1
        else:
            return False
    return not pattern[pattern_at:].strip("*")


def _coalesce(arguments: Arguments, _: EvaluationBudget) -> object:
    return next((value for value in arguments if value is not None), None)


def _exists(arguments: Arguments, _: EvaluationBudget) -> object:
    return arguments[0] is not None


def _members(arguments: Arguments, name: str, bound: EvaluationBudget) -> Sequence[object] | None:
    """Return the members of a single list argument, or the arguments themselves."""
    if len(arguments) > 1:
        return arguments
    value = arguments[0]
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise EvaluationFailure(f"{name} expects a list, not {describe_type(value)}")
    bound.spend(len(value))
    return value


def _min(arguments: Arguments, bound: EvaluationBudget) -> object:
    return _extreme(arguments, "min", "<", bound)


def _max(arguments: Arguments, bound: EvaluationBudget) -> object:
    return _extreme(arguments, "max", ">", bound)


def _extreme(arguments: Arguments, name: str, sign: str, bound: EvaluationBudget) -> object:
    members = [value for value in _members(arguments, name, bound) or () if value is not None]
    if not members:
        return None
    if not (all(map(is_number, members)) or all(isinstance(member, str) for member in members)):
        raise EvaluationFailure(f"{name} expects either numbers or strings, not both")
    return reduce(lambda best, value: value if compare(value, sign, best) else best, members)


def _sum(arguments: Arguments, bound: EvaluationBudget) -> object:
    members = _members(arguments, "sum", bound)
    if members is None:
        return None
    total: object = 0
    for value in members:
        if value is not None:
            total = calculate(total, "+", value, bound)
    return total


def _any(arguments: Arguments, bound: EvaluationBudget) -> object:
    return any(map(is_truthy, _members(arguments, "any", bound) or ()))


def _all(arguments: Arguments, bound: EvaluationBudget) -> object:
    return all(map(is_truthy, _members(arguments, "all", bound) or ()))


def _text(arguments: Arguments, _: EvaluationBudget) -> object:
    value = arguments[0]
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            raise EvaluationFailure(
                f"text expects a number, a boolean or a string, not {describe_type(value)}"
            )


def _number(arguments: Arguments, _: EvaluationBudget) -> object:
    value = arguments[0]
    if value is None or is_number(value):
        return value
    if not isinstance(value, str):
        raise EvaluationFailure(f"number expects a string or a number, not {describe_type(value)}")
    text = value.strip()
    if len(text) > 64 or not text.isascii():
        raise EvaluationFailure("the string is not a number")
    for read in (int, float):
        try:
            return check_magnitude(read(text.replace("_", "x")))
        except ValueError:
            continue
    raise EvaluationFailure("the string is not a number")


FUNCTIONS: Final[Mapping[str, Function]] = {
    "len": Function(1, 1, _len),
    "lower": Function(1, 1, _lower),
    "upper": Function(1, 1, _upper),
    "starts_with": Function(2, 2, _starts_with),
    "ends_with": Function(2, 2, _ends_with),
    "contains": Function(2, 2, _contains),
    "like": Function(2, 2, _like),
    "coalesce": Function(1, ARGUMENTS_MAX, _coalesce),
    "exists": Function(1, 1, _exists),
    "min": Function(1, ARGUMENTS_MAX, _min),
    "max": Function(1, ARGUMENTS_MAX, _max),
    "sum": Function(1, ARGUMENTS_MAX, _sum),
    "any": Function(1, ARGUMENTS_MAX, _any),
    "all": Function(1, ARGUMENTS_MAX, _all),
    "text": Function(1, 1, _text),
    "number": Function(1, 1, _number),
}
