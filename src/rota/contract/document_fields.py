"""Defines request fields that hold documents: described by a struct, decoded as plain objects.

A request keeps such a field as it was written. The reader of the document reports what is wrong
with it, with the path, the value and what is allowed. Schemas and reference pages describe the
field by its struct.
"""

from typing import Annotated, Any, Final, get_args, get_origin

from msgspec import Meta, Struct

from rota.contract.calendar import CalendarDocument
from rota.contract.graph_fields import GraphDocument
from rota.contract.schedule_fields import ScheduleDocument

# A key in the `extra` of a `Meta`: the struct that describes the field.
DOCUMENT_KEY: Final = "document"
SCHEMA_REF: Final = "#/components/schemas/{name}"
DOCUMENT_STRUCTS: Final = (ScheduleDocument, GraphDocument, CalendarDocument)


def describe_by_struct(struct: type[Struct]) -> Meta:
    """Return a `Meta` by which schemas describe a plain object as this struct."""
    schema = {"$ref": SCHEMA_REF.format(name=struct.__name__)}
    return Meta(extra={DOCUMENT_KEY: struct}, extra_json_schema=schema)


def find_document(annotation: Any) -> type[Struct] | None:
    """Return the struct that describes a type; None if the type has no `describe_by_struct`."""
    if get_origin(annotation) is not Annotated:
        return None
    for meta in get_args(annotation)[1:]:
        extra = (meta.extra if isinstance(meta, Meta) else None) or {}
        if DOCUMENT_KEY in extra:
            struct: type[Struct] = extra[DOCUMENT_KEY]
            return struct
    return None


ScheduleObject = Annotated[dict[str, Any], describe_by_struct(ScheduleDocument)]
GraphObject = Annotated[dict[str, Any], describe_by_struct(GraphDocument)]
CalendarObject = Annotated[dict[str, Any], describe_by_struct(CalendarDocument)]
