"""Defines the functions that expressions may call.

Like operators, they return null for null. Exceptions are functions about null, such as `exists`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from rota.core.expressions.arithmetic import calculated, fitting
from rota.core.expressions.values import (
    Bound,
    Failure,
    inside,
    is_number,
    ordered,
    truth,
    type_of,
)

Arguments: TypeAlias = Sequence[object]
MANY: Final = 50


class Function(NamedTuple):
    """The minimum and maximum number of arguments, and the implementation."""

    least: int
    most: int
    call: Callable[[Arguments, Bound], object]

    @property
    def wanted(self) -> str:
        if self.least == self.most:
            return f"{self.least} argument{'' if self.least == 1 else 's'}"
        return f"{self.least} to {self.most} arguments"


def _len(arguments: Arguments, _: Bound) -> object:
    value = arguments[0]
    if value is None:
        return None
    if isinstance(value, str | list | tuple | Mapping):
        return len(value)
    raise Failure(f"len expects a string, a list or an object, not {type_of(value)}")


def _texts(arguments: Arguments, name: str, bound: Bound) -> list[str] | None:
    """Return the arguments, which must be strings; None if one is null."""
    if None in arguments:
        return None
    for value in arguments:
        if not isinstance(value, str):
            raise Failure(f"{name} expects a string, not {type_of(value)}")
    found = [str(value) for value in arguments]
    bound.pay(sum(map(len, found)) // 64 + 1)
    return found


def _lower(arguments: Arguments, bound: Bound) -> object:
    found = _texts(arguments, "lower", bound)
    return None if found is None else found[0].lower()


def _upper(arguments: Arguments, bound: Bound) -> object:
    found = _texts(arguments, "upper", bound)
    return None if found is None else found[0].upper()


def _starts_with(arguments: Arguments, bound: Bound) -> object:
    found = _texts(arguments, "starts_with", bound)
    return None if found is None else found[0].startswith(found[1])


def _ends_with(arguments: Arguments, bound: Bound) -> object:
    found = _texts(arguments, "ends_with", bound)
    return None if found is None else found[0].endswith(found[1])


def _contains(arguments: Arguments, bound: Bound) -> object:
    return None if arguments[0] is None else inside(arguments[1], arguments[0], bound)


def _like(arguments: Arguments, bound: Bound) -> object:
    found = _texts(arguments, "like", bound)
    return None if found is None else like(found[0], found[1], bound)


def like(text: str, pattern: str, bound: Bound) -> bool:
    """Return whether a text matches a pattern with `*` and `?`. The match backtracks only to the
    last `*`, so its cost is at most the product of the lengths; a regular expression has no such
    bound.
    """
    text_at = pattern_at = 0
    star, retry_at = -1, 0
    while text_at < len(text):
        bound.pay(1)
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


def _coalesce(arguments: Arguments, _: Bound) -> object:
    return next((value for value in arguments if value is not None), None)


def _exists(arguments: Arguments, _: Bound) -> object:
    return arguments[0] is not None


def _members(arguments: Arguments, name: str, bound: Bound) -> Sequence[object] | None:
    """Return the members of a single list argument, or the arguments themselves."""
    if len(arguments) > 1:
        return arguments
    value = arguments[0]
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise Failure(f"{name} expects a list, not {type_of(value)}")
    bound.pay(len(value))
    return value


def _least(arguments: Arguments, bound: Bound) -> object:
    return _extreme(arguments, "min", "<", bound)


def _greatest(arguments: Arguments, bound: Bound) -> object:
    return _extreme(arguments, "max", ">", bound)


def _extreme(arguments: Arguments, name: str, sign: str, bound: Bound) -> object:
    members = [value for value in _members(arguments, name, bound) or () if value is not None]
    if not members:
        return None
    if not (all(map(is_number, members)) or all(isinstance(member, str) for member in members)):
        raise Failure(f"{name} expects either numbers or strings, not both")
    return reduce(lambda best, value: value if ordered(value, sign, best) else best, members)


def _sum(arguments: Arguments, bound: Bound) -> object:
    members = _members(arguments, "sum", bound)
    if members is None:
        return None
    total: object = 0
    for value in members:
        if value is not None:
            total = calculated(total, "+", value, bound)
    return total


def _any(arguments: Arguments, bound: Bound) -> object:
    return any(map(truth, _members(arguments, "any", bound) or ()))


def _all(arguments: Arguments, bound: Bound) -> object:
    return all(map(truth, _members(arguments, "all", bound) or ()))


def _text(arguments: Arguments, _: Bound) -> object:
    value = arguments[0]
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            raise Failure(f"text expects a number, a boolean or a string, not {type_of(value)}")


def _number(arguments: Arguments, _: Bound) -> object:
    value = arguments[0]
    if value is None or is_number(value):
        return value
    if not isinstance(value, str):
        raise Failure(f"number expects a string or a number, not {type_of(value)}")
    text = value.strip()
    if len(text) > 64 or not text.isascii():
        raise Failure("the string is not a number")
    for read in (int, float):
        try:
            return fitting(read(text.replace("_", "x")))
        except ValueError:
            continue
    raise Failure("the string is not a number")


FUNCTIONS: Final[Mapping[str, Function]] = {
    "len": Function(1, 1, _len),
    "lower": Function(1, 1, _lower),
    "upper": Function(1, 1, _upper),
    "starts_with": Function(2, 2, _starts_with),
    "ends_with": Function(2, 2, _ends_with),
    "contains": Function(2, 2, _contains),
    "like": Function(2, 2, _like),
    "coalesce": Function(1, MANY, _coalesce),
    "exists": Function(1, 1, _exists),
    "min": Function(1, MANY, _least),
    "max": Function(1, MANY, _greatest),
    "sum": Function(1, MANY, _sum),
    "any": Function(1, MANY, _any),
    "all": Function(1, MANY, _all),
    "text": Function(1, 1, _text),
    "number": Function(1, 1, _number),
}
