"""Finds the differences between two JSON values, field by field."""

from collections.abc import Iterator
from typing import NamedTuple


class Difference(NamedTuple):
    """One changed field, by its path. None also means that the field is missing."""

    field: str
    before: object
    after: object


def find_differences(before: object, after: object, path: str = "") -> Iterator[Difference]:
    """Yield the differences. Objects are compared by field, lists as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{path}.{key}" if path else str(key)
            yield from find_differences(before.get(key), after.get(key), inner)
    elif not is_same_json(before, after):
        yield Difference(path, before, after)


def is_same_json(left: object, right: object) -> bool:
    """Return whether two JSON values are equal: 1 equals 1.0, and true equals no number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            is_same_json(left[key], right[key]) for key in left
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(is_same_json(one, other) for one, other in pairs)
    return left == right
