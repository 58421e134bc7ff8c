"""What is different between two plain values, field by field. Room: core/manifest."""

from collections.abc import Iterator
from typing import NamedTuple


class Difference(NamedTuple):
    """One field, by its path; None is also what a field is that is not there."""

    field: str
    before: object
    after: object


def differences(before: object, after: object, path: str = "") -> Iterator[Difference]:
    """Objects are compared by their fields, lists as a whole: a place in a list is no name."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(before.get(key), after.get(key), inner)
    elif not same(before, after):
        yield Difference(path, before, after)


def same(left: object, right: object) -> bool:
    """As JSON has it: 1 and 1.0 are one number, and true is none."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(same(one, other) for one, other in pairs)
    return left == right
