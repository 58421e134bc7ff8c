"""The functions that expressions may call, and the list of them. Room: core/expressions.

Like operators they answer null when what they work on is null, unless it is null they are about.
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
    """Least and most arguments, and what it does with them."""

    least: int
    most: int
    call: Callable[[Arguments, Bound], object]

    @property
    def wanted(self) -> str:
        if self.least == self.most:
            return f"{self.least} argument{'' if self.least == 1 else 's'}"
        return f"{self.least} to {self.most} arguments"


def _len(given: Arguments, _: Bound) -> object:
    value = given[0]
    if value is None:
        return None
    if isinstance(value, str | list | tuple | Mapping):
        return len(value)
    raise Failure(f"len of {type_of(value)}; it wants a text, a list or an object")


def _texts(given: Arguments, name: str, bound: Bound) -> list[str] | None:
    """The arguments, if all are texts; None if one is null."""
    if None in given:
        return None
    for value in given:
        if not isinstance(value, str):
            raise Failure(f"{name} of {type_of(value)}; it wants a text")
    found = [str(value) for value in given]
    bound.pay(sum(map(len, found)) // 64 + 1)
    return found


def _lower(given: Arguments, bound: Bound) -> object:
    found = _texts(given, "lower", bound)
    return None if found is None else found[0].lower()


def _upper(given: Arguments, bound: Bound) -> object:
    found = _texts(given, "upper", bound)
    return None if found is None else found[0].upper()


def _starts_with(given: Arguments, bound: Bound) -> object:
    found = _texts(given, "starts_with", bound)
    return None if found is None else found[0].startswith(found[1])


def _ends_with(given: Arguments, bound: Bound) -> object:
    found = _texts(given, "ends_with", bound)
    return None if found is None else found[0].endswith(found[1])


def _contains(given: Arguments, bound: Bound) -> object:
    return None if given[0] is None else inside(given[1], given[0], bound)


def _like(given: Arguments, bound: Bound) -> object:
    found = _texts(given, "like", bound)
    return None if found is None else like(found[0], found[1], bound)


def like(text: str, pattern: str, bound: Bound) -> bool:
    """Whether a text is as a pattern with `*` and `?` says. Only the last `*` is ever gone back to,
    so the work is bounded by the product of the lengths; a regular expression has no such bound.
    """
    place = spot = 0
    star, kept = -1, 0
    while place < len(text):
        bound.pay(1)
        if spot < len(pattern) and pattern[spot] == "*":
            star, kept = spot, place
            spot += 1
        elif spot < len(pattern) and pattern[spot] in ("?", text[place]):
            place, spot = place + 1, spot + 1
        elif star >= 0:
            kept += 1
            place, spot = kept, star + 1
        else:
            return False
    return not pattern[spot:].strip("*")


def _coalesce(given: Arguments, _: Bound) -> object:
    return next((value for value in given if value is not None), None)


def _exists(given: Arguments, _: Bound) -> object:
    return given[0] is not None


def _members(given: Arguments, name: str, bound: Bound) -> Sequence[object] | None:
    """One list, or the arguments themselves."""
    if len(given) > 1:
        return given
    value = given[0]
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise Failure(f"{name} of {type_of(value)}; it wants a list")
    bound.pay(len(value))
    return value


def _least(given: Arguments, bound: Bound) -> object:
    return _extreme(given, "min", "<", bound)


def _greatest(given: Arguments, bound: Bound) -> object:
    return _extreme(given, "max", ">", bound)


def _extreme(given: Arguments, name: str, sign: str, bound: Bound) -> object:
    members = [value for value in _members(given, name, bound) or () if value is not None]
    if not members:
        return None
    if not (all(map(is_number, members)) or all(isinstance(each, str) for each in members)):
        raise Failure(f"{name} wants numbers, or texts, and not both")
    return reduce(lambda best, each: each if ordered(each, sign, best) else best, members)


def _sum(given: Arguments, bound: Bound) -> object:
    members = _members(given, "sum", bound)
    if members is None:
        return None
    total: object = 0
    for value in members:
        if value is not None:
            total = calculated(total, "+", value, bound)
    return total


def _any(given: Arguments, bound: Bound) -> object:
    return any(map(truth, _members(given, "any", bound) or ()))


def _all(given: Arguments, bound: Bound) -> object:
    return all(map(truth, _members(given, "all", bound) or ()))


def _text(given: Arguments, _: Bound) -> object:
    value = given[0]
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            raise Failure(f"text of {type_of(value)}; it wants a number, or true or false")


def _number(given: Arguments, _: Bound) -> object:
    value = given[0]
    if value is None or is_number(value):
        return value
    if not isinstance(value, str):
        raise Failure(f"number of {type_of(value)}; it wants a text")
    text = value.strip()
    if len(text) > 64 or not text.isascii():
        raise Failure("this text is no number")
    for read in (int, float):
        try:
            return fitting(read(text.replace("_", "x")))
        except ValueError:
            continue
    raise Failure("this text is no number")


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
