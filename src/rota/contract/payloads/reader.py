"""Reads a payload by the struct of its kind.

A worker rejects an unknown field, and the run fails without a retry. The worker cannot tell a field
of a newer release from a misspelt one, and ignoring a misspelt `dry_run` in a sync, or `read_only`
in a query, could delete data. The failure names the field; the worker goes on with other runs. Use
a new field only after every worker that serves the kind is upgraded; runs that failed before that
can be requeued. When a job is created, the API warns of an unknown field if a live worker has
described the kind.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from rota.contract.documents import ALLOWED_KEY, fields_by_name, read_input
from rota.core.errors import InvalidInput
from rota.core.time import durations

Shape = TypeVar("Shape", bound=Struct)
# In the `Meta` of a duration.
DURATION_META: Final = {ALLOWED_KEY: f"{durations.DURATION_FORMAT}; a number alone has no unit"}


def read_payload(shape: type[Shape], value: object, *, example: str) -> Shape:
    """Read a payload strictly; an optional field that is null has its default.

    Errors name a field as `url` or `argv[0]`, and an unknown field as `payload.verify`.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput("payload", value, f"expected an object such as {example}")
    known = fields_by_name(shape)
    given = {
        name: item
        for name, item in value.items()
        if item is not None or not _is_optional(known.get(name))
    }
    try:
        return read_input(shape, given)
    except InvalidInput as fault:
        if fault.field in given and fault.field not in known:
            fault.field = f"payload.{fault.field}"
        raise


def _is_optional(field: FieldInfo | None) -> bool:
    return field is not None and not (
        field.default is NODEFAULT and field.default_factory is NODEFAULT
    )
