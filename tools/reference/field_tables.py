"""Renders schemas as tables for the reference page: name, type, meaning.

Uses the same annotations that validate requests. A schema that the page has already shown is not
repeated: the page would be three times as long and no clearer.
"""

from collections.abc import Iterator
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType

from rota.api.schemas.field_types import Duration, Moment
from rota.contract import times
from rota.contract.calendar import CalendarDocument
from rota.contract.document_fields import find_document
from rota.contract.graph_fields import GraphDocument
from rota.contract.schedule_fields import ScheduleDocument

# Texts with a format of their own are named after it.
FORMAT_NAMES: Final = {
    id(get_args(type_)[1]): word
    for type_, word in (
        *((Duration, "duration"), (Moment, "time")),
        *((times.Duration, "duration"), (times.Instant, "time")),
    )
}
DOCUMENT_NAMES: Final[dict[type[Struct], str]] = {
    ScheduleDocument: "schedule",
    GraphDocument: "graph",
    CalendarDocument: "calendar",
}
TYPE_NAMES: Final = {str: "text", int: "integer", float: "number", bool: "`true` or `false`"}
PAGE_LINKS: Final = {
    "docs/reference/schedules.md": "[schedules.md](schedules.md)",
    "docs/reference/cron.md": "[cron.md](cron.md)",
}


class FieldRow(NamedTuple):
    name: str
    type: str
    meaning: str


class ShownSchemas:
    """Remembers which schemas the page has already shown, and where."""

    def __init__(self) -> None:
        self._rows: dict[str, frozenset[FieldRow]] = {}

    def find_rows(self, rows: list[FieldRow]) -> tuple[str, list[str]] | None:
        """Return where all of these rows were shown, and which other fields are there."""
        for link, known in self._rows.items():
            # A few fields that a large schema happens to share are repeated.
            if known.issuperset(rows) and 2 * len(rows) > len(known):
                more = {row.name for row in known - set(rows)}
                return link, sorted(name for name in more if "." not in name)
        return None

    def add_rows(self, link: str, rows: list[FieldRow]) -> None:
        self._rows[link] = frozenset(rows)


def render_body_fields(schema: type[Struct], link: str, shown: ShownSchemas) -> str:
    """Render the fields of a body, or a link to them."""
    rows = list(list_rows(schema))
    for row in rows:
        below = _below(rows, row.name)
        before = shown.find_rows(below) if below else None
        if before is not None:
            return f"`{row.name}` is a list of objects with the fields of {before[0]}."
    before = shown.find_rows(rows)
    if before is None:
        shown.add_rows(link, rows)
        return _table("Field", rows)
    other, more = before
    without = f", without {', '.join(f'`{name}`' for name in more)}" if more else ""
    return f"The body has the fields of {other}{without}."


def _below(rows: list[FieldRow], name: str) -> list[FieldRow]:
    """Return the rows of the objects in a list, by their own names."""
    start = f"{name}[]."
    return [
        row._replace(name=row.name.removeprefix(start))
        for row in rows
        if row.name.startswith(start)
    ]


def render_table(head: str, schema: type[Struct]) -> str:
    return _table(head, list(list_rows(schema)))


def _table(head: str, rows: list[FieldRow]) -> str:
    lines = [f"| {head} | Type | Meaning |", "|---|---|---|"]
    lines += [f"| `{row.name}` | {_cell(row.type)} | {_cell(row.meaning)} |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    for page, link in PAGE_LINKS.items():
        text = text.replace(page, link)
    return text.replace("|", "\\|").removesuffix(".")


def render_documents() -> Iterator[str]:
    """Render the objects that several operations share."""
    for struct, name in DOCUMENT_NAMES.items():
        yield f"### {name.capitalize()} object"
        yield " ".join((struct.__doc__ or "").split())
        yield _table("Field", list(list_rows(struct, outer=frozenset({struct}))))


def list_rows(
    schema: type[Struct], prefix: str = "", outer: frozenset[type[Struct]] = frozenset()
) -> Iterator[FieldRow]:
    """Yield each field, followed by the fields of the object in it. An object nested in one of its
    own type is not repeated.
    """
    for info in msgspec.structs.fields(schema):
        type_ = describe_type(info.type)
        if info.required:
            type_ += ", required"
        text = read_description(info.type)
        if "Default:" not in text and info.default not in {NODEFAULT, UNSET, None, False}:
            text = f"{text} Default: `{info.default}`.".lstrip()
        yield FieldRow(prefix + info.encode_name, type_, text)
        inner = find_nested_struct(info.type)
        if inner is not None and inner[0] not in outer:
            kind, places = inner
            yield from list_rows(kind, f"{prefix}{info.encode_name}{places}.", outer | {kind})


def describe_type(annotation: Any, metas: tuple[Any, ...] = ()) -> str:
    """Describe a type in a few words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        document = find_document(annotation)
        if document is not None:
            name = DOCUMENT_NAMES[document]
            return f"[{name} object](#{name}-object)"
        return describe_type(inner[0], (*metas, *inner[1:]))
    if origin in {Union, UnionType}:
        options = [option for option in inner if option not in {NoneType, UnsetType}]
        return " or ".join(dict.fromkeys(describe_type(option, metas) for option in options))
    if origin is Literal:
        return ", ".join(f"`{option}`" for option in inner)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{option.value}`" for option in annotation)
    if origin is list:
        return f"list of {_many(inner[0])}"
    if annotation is Any:
        return "any JSON"
    for meta in metas:
        if id(meta) in FORMAT_NAMES:
            return FORMAT_NAMES[id(meta)]
    return TYPE_NAMES.get(annotation, "object") + _bounds(metas)


def _many(annotation: Any) -> str:
    word = describe_type(annotation)
    return f"{word}s" if word in {"object", "text", "duration", "time"} else word


def _bounds(metas: tuple[Any, ...]) -> str:
    for meta in metas:
        if isinstance(meta, Meta) and meta.ge is not None and meta.le is not None:
            return f" from {meta.ge:,} to {meta.le:,}"
    return ""


def read_description(annotation: Any) -> str:
    """Return the outermost description of a field."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        metas = [meta for meta in inner[1:] if isinstance(meta, Meta)]
        texts = [meta.description for meta in metas if meta.description]
        return texts[-1] if texts else read_description(inner[0])
    if origin in {Union, UnionType}:
        return next((text for text in map(read_description, inner) if text), "")
    return read_description(inner[0]) if origin is list else ""


def find_nested_struct(annotation: Any) -> tuple[type[Struct], str] | None:
    """Return the object in a field, and `[]` if the field is a list of them."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return annotation, ""
    if origin is list:
        found = find_nested_struct(inner[0])
        return None if found is None else (found[0], "[]")
    if origin is Annotated:
        return find_nested_struct(inner[0])
    if origin in {Union, UnionType}:
        return next((found for option in inner if (found := find_nested_struct(option))), None)
    return None
