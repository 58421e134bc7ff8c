"""Shapes as tables for people: name, type, meaning. Room: api.

Made from the same annotations that requests are checked with. A shape that was shown before is not
shown again: the page would be three times as long and no clearer.
"""

from collections.abc import Iterator
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType

from rota.api.shapes.pieces import Duration, Moment
from rota.contract import times
from rota.contract.bodies import find_document
from rota.contract.calendar import CalendarDocument
from rota.contract.graph_fields import GraphDocument
from rota.contract.schedule_fields import ScheduleDocument

# What is written in a form of its own is called by it.
FORMS: Final = {
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
PLAIN: Final = {str: "text", int: "integer", float: "number", bool: "`true` or `false`"}
PAGES: Final = {
    "docs/reference/schedules.md": "[schedules.md](schedules.md)",
    "docs/reference/cron.md": "[cron.md](cron.md)",
}


class Row(NamedTuple):
    name: str
    type: str
    meaning: str


class Shown:
    """Which shapes the page has shown already, and where."""

    def __init__(self) -> None:
        self._rows: dict[str, frozenset[Row]] = {}

    def before(self, rows: list[Row]) -> tuple[str, list[str]] | None:
        """Where all of these were shown, and which fields there are not among them."""
        for link, known in self._rows.items():
            # A few fields that a large shape happens to have as well are better shown again.
            if known.issuperset(rows) and 2 * len(rows) > len(known):
                more = {row.name for row in known - set(rows)}
                return link, sorted(name for name in more if "." not in name)
        return None

    def keep(self, link: str, rows: list[Row]) -> None:
        self._rows[link] = frozenset(rows)


def body(shape: type[Struct], link: str, shown: Shown) -> str:
    """The fields of a body, or where they are."""
    rows = list(rows_of(shape))
    for row in rows:
        below = _below(rows, row.name)
        before = shown.before(below) if below else None
        if before is not None:
            return f"`{row.name}` is a list of objects, each with the fields of {before[0]}."
    before = shown.before(rows)
    if before is None:
        shown.keep(link, rows)
        return _table("Field", rows)
    other, more = before
    without = f", without {', '.join(f'`{name}`' for name in more)}" if more else ""
    return f"The fields of the body are those of {other}{without}."


def _below(rows: list[Row], name: str) -> list[Row]:
    """The rows of the objects in a list, by their own names."""
    start = f"{name}[]."
    return [
        row._replace(name=row.name.removeprefix(start))
        for row in rows
        if row.name.startswith(start)
    ]


def table(head: str, shape: type[Struct]) -> str:
    return _table(head, list(rows_of(shape)))


def _table(head: str, rows: list[Row]) -> str:
    lines = [f"| {head} | Type | Meaning |", "|---|---|---|"]
    lines += [f"| `{row.name}` | {_cell(row.type)} | {_cell(row.meaning)} |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    for page, link in PAGES.items():
        text = text.replace(page, link)
    return text.replace("|", "\\|").removesuffix(".")


def documents() -> Iterator[str]:
    """The objects that several operations take, each once."""
    for struct, name in DOCUMENT_NAMES.items():
        yield f"### {name.capitalize()} object"
        yield " ".join((struct.__doc__ or "").split())
        yield _table("Field", list(rows_of(struct, outer=frozenset({struct}))))


def rows_of(
    shape: type[Struct], above: str = "", outer: frozenset[type[Struct]] = frozenset()
) -> Iterator[Row]:
    """Each field, and below it those of the object that it is or holds. An object inside one of
    its own kind is not shown again.
    """
    for each in msgspec.structs.fields(shape):
        type_ = words(each.type)
        if each.required:
            type_ += ", required"
        elif each.default not in {NODEFAULT, UNSET, None, False}:
            type_ += f"; `{each.default}` by default"
        yield Row(above + each.encode_name, type_, meaning(each.type))
        inner = inside(each.type)
        if inner is not None and inner[0] not in outer:
            kind, places = inner
            yield from rows_of(kind, f"{above}{each.encode_name}{places}.", outer | {kind})


def words(annotation: Any, metas: tuple[Any, ...] = ()) -> str:
    """The type in a few words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        document = find_document(annotation)
        if document is not None:
            name = DOCUMENT_NAMES[document]
            return f"[{name} object](#{name}-object)"
        return words(inner[0], (*metas, *inner[1:]))
    if origin in {Union, UnionType}:
        options = [each for each in inner if each not in {NoneType, UnsetType}]
        return " or ".join(dict.fromkeys(words(each, metas) for each in options))
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{each.value}`" for each in annotation)
    if origin is list:
        return f"list of {_many(inner[0])}"
    if annotation is Any:
        return "any JSON"
    for meta in metas:
        if id(meta) in FORMS:
            return FORMS[id(meta)]
    return PLAIN.get(annotation, "object") + _bounds(metas)


def _many(annotation: Any) -> str:
    word = words(annotation)
    return f"{word}s" if word in {"object", "text", "duration", "time"} else word


def _bounds(metas: tuple[Any, ...]) -> str:
    for meta in metas:
        if isinstance(meta, Meta) and meta.ge is not None and meta.le is not None:
            return f" from {meta.ge:,} to {meta.le:,}"
    return ""


def meaning(annotation: Any) -> str:
    """The description that is nearest to the field."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        said = [meta.description for meta in inner[1:] if isinstance(meta, Meta)]
        found = [text for text in said if text]
        return found[-1] if found else meaning(inner[0])
    if origin in {Union, UnionType}:
        return next((text for text in map(meaning, inner) if text), "")
    return meaning(inner[0]) if origin is list else ""


def inside(annotation: Any) -> tuple[type[Struct], str] | None:
    """The object that a field is or holds, and `[]` if it holds many."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return annotation, ""
    if origin is list:
        found = inside(inner[0])
        return None if found is None else (found[0], "[]")
    if origin is Annotated:
        return inside(inner[0])
    if origin in {Union, UnionType}:
        return next((found for each in inner if (found := inside(each))), None)
    return None
