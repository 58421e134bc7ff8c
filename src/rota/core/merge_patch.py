"""Applies a JSON merge patch (RFC 7396)."""

from collections.abc import Mapping


def merge_patch(target: object, patch: object) -> object:
    """Return `target` with its fields replaced by those of `patch`; null removes a field.

    A value that is not an object is replaced as a whole.
    """
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged
