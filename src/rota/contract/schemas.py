"""Renders a struct of the contract as JSON Schema, for forms.

The schema is self-contained: it has no references and no struct names. No field accepts null in it,
because a null field has its default.
"""

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from rota.contract.documents import fields_by_name, find_all_choices

_REFERENCE: Final = "$ref"
_NULL: Final = {"type": "null"}


@cache
def render_schema(shape: type[Struct]) -> dict[str, Any]:
    """Return the schema of a struct: its fields in order, with bounds and defaults."""
    (schema,), components = msgspec.json.schema_components((shape,), ref_template="{name}")
    rendered: dict[str, Any] = _inline(schema, components)
    for name, field in fields_by_name(shape).items():
        if "enum" in rendered["properties"][name]:
            # msgspec sorts the choices; forms show them in the order of the struct.
            choices, _ = next(find_all_choices(field.type))
            rendered["properties"][name]["enum"] = list(choices)
    return rendered


def _inline(schema: Any, components: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(item, components) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if _REFERENCE in schema:
        own = {name: value for name, value in schema.items() if name != _REFERENCE}
        schema = {**components[schema[_REFERENCE]], **own}
        # The user of a form does not know the names of structs.
        del schema["title"]
    inlined = {name: _inline(value, components) for name, value in schema.items()}
    if "properties" in schema:
        fields = {name: _simplify(field) for name, field in inlined["properties"].items()}
        inlined["properties"] = fields
    return inlined


def _simplify(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field without null and without an empty default."""
    others = {name: value for name, value in field.items() if name != "anyOf"}
    if others.get("default", ...) in (None, "", [], {}):
        del others["default"]
    options = [option for option in field.get("anyOf", ()) if option != _NULL]
    if len(options) > 1:
        return {**others, "anyOf": options}
    return {**options[0], **others} if options else others
