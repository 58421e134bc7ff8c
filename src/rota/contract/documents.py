"""Reads documents by their structs: input strictly, stored documents leniently.

`read_input` rejects an unknown field and reports the path, the value and what is allowed.
`read_stored` reads what this release or a newer one stored: it ignores unknown fields and unknown
values of choices that have a fallback, and returns the top-level fields that it could not read
completely, so that they are kept when the document is written again. Any other unknown value raises
`NewerDocument`: the caller sets that one job or run aside until newer code reads it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, UnsetType

from rota.core.errors import VALUE_CHARACTERS_SHOWN, InvalidInput
from rota.core.stored_documents import UnreadFields, to_newer_document

Shape = TypeVar("Shape", bound=Struct)

# In the `Meta` of a choice: an unknown stored value is read as the field's default.
FALLBACK_META: Final = {"fallback": True}
# In the `Meta` of a field: error messages do not show its value.
SECRET_META: Final = {"secret": True}
# A key in the `extra` of a `Meta`: a noun phrase for what the field accepts, more precise than its
# type. Errors put "expected" before it.
ALLOWED_KEY: Final = "allowed"
_AT: Final = re.compile(r"^(?P<text>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN_FIELD: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING_FIELD: Final = re.compile(r"Object missing required field `(.*)`")
_PART: Final = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_PLAIN_WORDS: Final = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
}


class StoredDocument(NamedTuple):
    """A stored document, and its top-level fields that only newer code reads completely."""

    document: Any
    unread: Mapping[str, object]


def read_input(
    shape: type[Shape],
    value: object,
    *,
    path: str = "",
    error: type[InvalidInput] = InvalidInput,
    name: str = "document",
) -> Shape:
    """Read a document from input.

    Raises `error` with the path of the field, its value and what is allowed. `name` is the path of
    the document itself if `path` is empty.
    """
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as fault:
        raise explain_error(fault, shape, value, path=path, error=error, name=name) from None


def read_stored(shape: type[Shape], value: object) -> StoredDocument:
    """Read a document from the database; unknown fields and safe unknown values are ignored."""
    with suppress(msgspec.ValidationError):
        return StoredDocument(msgspec.convert(value, shape), {})
    unread = UnreadFields()
    known = _prune(shape, value, "", unread)
    try:
        document = msgspec.convert(known, shape)
    except msgspec.ValidationError as fault:
        raise to_newer_document(explain_error(fault, shape, known)) from None
    fields = unread.select_from(value) if isinstance(value, Mapping) else {}
    return StoredDocument(document, fields)


def _prune(annotation: Any, value: object, path: str, unread: UnreadFields) -> object:
    """Return the value without the fields and choices that this release does not know."""
    struct = find_struct(annotation)
    if struct is not None and isinstance(value, Mapping):
        return _prune_object(struct, value, path, unread)
    if isinstance(value, list | tuple):
        inner = _find_item(annotation)
        if inner is not None:
            return [
                _prune(inner, item, f"{path}[{place}]", unread) for place, item in enumerate(value)
            ]
    return value


def _prune_object(
    struct: type[Struct], value: Mapping[Any, Any], path: str, unread: UnreadFields
) -> dict[str, object]:
    known = fields_by_name(struct)
    kept: dict[str, object] = {}
    for name, item in value.items():
        place = f"{path}.{name}" if path else str(name)
        field = known.get(name)
        if field is None or _is_replaceable(field.type, item):
            unread.add(place)
        else:
            kept[name] = _prune(field.type, item, place, unread)
    return kept


def _is_replaceable(annotation: Any, value: object) -> bool:
    """Return whether a value is unknown and its field has a fallback."""
    for choices, metas in find_all_choices(annotation):
        has_fallback = any("fallback" in _extra_of(meta) for meta in metas)
        if has_fallback and value is not None and value not in choices:
            return True
    return False


def find_choices(annotation: Any) -> Any | None:
    """Return the `Literal` type of a field; None if the field accepts anything else."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return annotation
    if origin is Annotated:
        return find_choices(inner[0])
    if origin in {Union, UnionType}:
        options = [option for option in inner if option not in {UnsetType, NoneType}]
        return find_choices(options[0]) if len(options) == 1 else None
    return None


def find_all_choices(
    annotation: Any, metas: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Yield the values of each choice in a field's type, with its `Meta`s."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from find_all_choices(inner[0], (*metas, *inner[1:]))
    elif origin in {Union, UnionType}:
        for option in inner:
            yield from find_all_choices(option, metas)
    elif origin is Literal:
        yield inner, metas
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        yield tuple(member.value for member in annotation), metas


def _extra_of(meta: Any) -> Mapping[str, Any]:
    return (meta.extra if isinstance(meta, Meta) else None) or {}


def find_extra(annotation: Any) -> dict[str, Any]:
    """Return the merged `extra` of a field's `Meta`s; the outermost one takes precedence."""
    origin, inner = get_origin(annotation), get_args(annotation)
    found: dict[str, Any] = {}
    if origin is Annotated:
        found = find_extra(inner[0])
        for meta in inner[1:]:
            found |= _extra_of(meta)
    elif origin in {Union, UnionType}:
        for option in inner:
            found |= find_extra(option)
    return found


def find_description(annotation: Any) -> str:
    """Return the outermost description of a field; empty if it has none."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        texts = [meta.description for meta in inner[1:] if isinstance(meta, Meta)]
        return next((text for text in reversed(texts) if text), "") or find_description(inner[0])
    if origin in {Union, UnionType}:
        return next((found for option in inner if (found := find_description(option))), "")
    return ""


@cache
def fields_by_name(struct: type[Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """Return the fields of a struct by their names in documents."""
    return {field.encode_name: field for field in msgspec.structs.fields(struct)}


def find_struct(annotation: Any) -> type[Struct] | None:
    """Return the struct in a field's type; None if it has none."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return annotation
    if origin is Annotated:
        return find_struct(inner[0])
    if origin in {Union, UnionType}:
        return next((found for option in inner if (found := find_struct(option))), None)
    return None


def _find_item(annotation: Any, containers: tuple[type, ...] = (list, tuple)) -> Any | None:
    """Return the item type of a list or tuple, or the value type of a `dict`."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in containers:
        return inner[1] if origin is dict else inner[0]
    if origin is Annotated:
        return _find_item(inner[0], containers)
    if origin in {Union, UnionType}:
        items = (_find_item(option, containers) for option in inner)
        return next((item for item in items if item is not None), None)
    return None


def explain_error(
    fault: msgspec.ValidationError,
    shape: Any,
    value: object,
    *,
    path: str = "",
    error: type[InvalidInput] = InvalidInput,
    name: str = "document",
) -> InvalidInput:
    """Convert an error of msgspec into one with the path, the value and what is allowed.

    `value` is the whole document as JSON values.
    """
    match = _AT.match(str(fault))
    text = match["text"] if match else str(fault)
    steps = [name or number for name, number in _PART.findall((match and match["path"]) or "")]
    steps = _name_keys(shape, value, steps)
    annotation, found = _follow(shape, value, steps)
    where = _join(path, steps)
    unknown, missing = _UNKNOWN_FIELD.match(text), _MISSING_FIELD.match(text)
    struct = find_struct(annotation)
    if unknown is not None and struct is not None:
        return _unknown_field(unknown[1], struct, found, where, error)
    if missing is not None:
        allowed = "" if struct is None else _describe_field(struct, missing[1])
        wanted = f"required; expected {allowed}" if allowed else "required"
        return error(f"{where}.{missing[1]}" if where else missing[1], None, wanted)
    if "secret" in find_extra(annotation):
        found = "***"
    allowed = describe_type(annotation)
    return error(where or name, found, f"expected {allowed}" if allowed else text)


def _unknown_field(
    name: str, struct: type[Struct], found: object, where: str, error: type[InvalidInput]
) -> InvalidInput:
    known = list(fields_by_name(struct))
    close = get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    value = found.get(name) if isinstance(found, Mapping) else None
    shown = name[:VALUE_CHARACTERS_SHOWN]
    path = f"{where}.{shown}" if where else shown
    return error(path, value, f"unknown field; known fields: {', '.join(known)}{hint}")


def _describe_field(struct: type[Struct], name: str) -> str:
    field = fields_by_name(struct).get(name)
    return "" if field is None else describe_type(field.type)


def _name_keys(annotation: Any, value: object, steps: Sequence[str]) -> list[str]:
    """Replace each `...` in a path of msgspec, which stands for any key, by the first wrong key."""
    named: list[str] = []
    for step in steps:
        if step == "..." and isinstance(value, Mapping):
            item = _find_item(annotation, (dict,))
            wrong = (str(key) for key, inner in value.items() if not _is_accepted(item, inner))
            named.append(next(wrong, step))
        else:
            named.append(step)
        annotation, value = _follow(annotation, value, named[-1:])
    return named


def _is_accepted(annotation: Any, value: object) -> bool:
    try:
        msgspec.convert(value, annotation)
    except msgspec.ValidationError:
        return False
    return True


def _follow(annotation: Any, value: object, steps: Sequence[str]) -> tuple[Any, object]:
    """Return the type and the value at a path; `...` stands for any key of an object."""
    for step in steps:
        struct = find_struct(annotation)
        if struct is not None and step in fields_by_name(struct):
            annotation = fields_by_name(struct)[step].type
        elif step.isdigit():
            annotation = _find_item(annotation, (list, tuple, dict)) or Any
        else:
            annotation = _find_item(annotation, (dict,)) or Any
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, Sequence) and not isinstance(value, str) and step.isdigit():
            value = value[int(step)] if int(step) < len(value) else None
    return annotation, value


def _join(path: str, steps: Sequence[str]) -> str:
    for step in steps:
        if step == "...":
            continue
        path += f"[{step}]" if step.isdigit() else f".{step}" if path else step
    return path


def describe_type(annotation: Any, metas: tuple[Any, ...] = ()) -> str:
    """Return a short phrase for what a field accepts, without null, which means the default."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        allowed = [
            meta.extra[ALLOWED_KEY] for meta in inner[1:] if ALLOWED_KEY in (meta.extra or ())
        ]
        return str(allowed[-1]) if allowed else describe_type(inner[0], (*metas, *inner[1:]))
    if origin in {Union, UnionType}:
        options = [option for option in inner if option not in {UnsetType, NoneType}]
        return " or ".join(dict.fromkeys(describe_type(option, metas) for option in options))
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return f"one of {', '.join(str(member.value) for member in annotation)}"
    if origin in {list, tuple}:
        return f"a list of {describe_type(inner[0])}{_describe_bounds(metas, 'items')}"
    if origin is dict:
        values = describe_type(inner[1]) or "values"
        return f"an object of {values}{_describe_bounds(metas, 'fields')}"
    struct = find_struct(annotation)
    if struct is not None:
        return f"an object with {', '.join(fields_by_name(struct))}"
    words = _PLAIN_WORDS.get(annotation, "" if annotation is Any else "an object")
    return words + _describe_bounds(metas, "characters" if annotation is str else "")


def _describe_bounds(metas: tuple[Any, ...], unit: str) -> str:
    parts: list[str] = []
    for meta in metas:
        if not isinstance(meta, Meta):
            continue
        low = meta.ge if meta.ge is not None else meta.min_length
        high = meta.le if meta.le is not None else meta.max_length
        if low is not None and high is not None:
            parts.append(f"{low:,} to {high:,}")
        elif low is not None:
            parts.append(f"at least {low:,}")
        elif high is not None:
            parts.append(f"at most {high:,}")
        if meta.pattern is not None:
            parts.append(f"matching {meta.pattern}")
    bounds = ", ".join(parts)
    return f" ({bounds} {unit})".replace(" )", ")") if bounds else ""
