"""The settings as a flat list: path, variable, type, bounds, default, meaning. Room: config.

Derived from settings.py and used by both who reads values (load.py) and who explains them
(describe.py), so that a refusal and the reference page never disagree.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from msgspec import inspect

from rota.config.declaring import FOREVER
from rota.config.settings import Settings
from rota.core.time.durations import words

PREFIX = "ROTA_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One setting. `wanted` completes the sentence "it must be …". One without a name is a section
    that is a table of named things, and nothing else.
    """

    section: str
    name: str
    annotation: Any
    type: inspect.Type
    extra: dict[str, Any]
    default: object
    meaning: str

    @property
    def path(self) -> str:
        return f"{self.section}.{self.name}" if self.name else self.section

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.path.replace('.', '__')}".upper()

    @property
    def is_secret(self) -> bool:
        return bool(self.extra.get("secret"))

    @property
    def is_named(self) -> bool:
        """Whether it is a table of things that the operator names, each with its own settings."""
        held = self.type.value_type if isinstance(self.type, inspect.DictType) else None
        return isinstance(held, inspect.StructType)

    @property
    def wanted(self) -> str:
        match self.type:
            case inspect.IntType(ge=least, le=most):
                return f"a whole number from {least} to {most}"
            case inspect.BoolType():
                return "true or false"
            case inspect.LiteralType():
                return f"one of {', '.join(self.choices)}"
            case inspect.TimeDeltaType():
                shortest, longest = words(self.extra["shortest"]), words(self.extra["longest"])
                if self.extra["forever"]:
                    return f'"forever", or a duration from {shortest} to {longest}, such as "5m"'
                return f"a duration from {shortest} to {longest}, such as {spelling(self.default)}"
            case _:
                return str(self.extra["wanted"])

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a choice, in the order in which they are declared."""
        return get_args(self.annotation.__origin__)


def all_fields() -> tuple[Field, ...]:
    sections = msgspec.structs.fields(Settings)
    return (
        *(
            field_of(section.name, each)
            for section in sections
            if is_section(section)
            for each in msgspec.structs.fields(section.type)
        ),
        *(
            replace(field_of(section.name, section), name="")
            for section in sections
            if not is_section(section)
        ),
    )


def is_section(given: msgspec.structs.FieldInfo) -> bool:
    return isinstance(given.type, type)


def default_of(given: msgspec.structs.FieldInfo) -> object:
    """Of a table the empty one; `NODEFAULT` for what must be given."""
    made = given.default_factory
    return given.default if made is msgspec.NODEFAULT else made()


def named_fields(field: Field, name: str) -> dict[str, Field]:
    """The settings of one of the things that a table of named things holds."""
    kind = kind_named(field)
    made = (field_of(f"{field.path}.{name}", each) for each in msgspec.structs.fields(kind))
    return {each.name: each for each in made}


def kind_named(field: Field) -> type[msgspec.Struct]:
    """What a table of named things holds."""
    held = cast("inspect.DictType", field.type).value_type
    return cast("inspect.StructType", held).cls


def field_of(section: str, given: msgspec.structs.FieldInfo) -> Field:
    meta = next(each for each in given.type.__metadata__ if isinstance(each, msgspec.Meta))
    type_ = inspect.type_info(given.type)
    return Field(
        section=section,
        name=given.name,
        annotation=given.type,
        type=type_.type if isinstance(type_, inspect.Metadata) else type_,
        extra=meta.extra or {},
        default=default_of(given),
        meaning=meta.description or "",
    )


def spelling(value: object) -> str:
    """How a value is written in the file."""
    match value:
        case None | msgspec.NODEFAULT:
            return ""
        case bool():
            return str(value).lower()
        case timedelta():
            return '"forever"' if value == FOREVER else f'"{short(value)}"'
        case str() | Path():
            return f'"{value}"'
        case dict():
            return "{}"  # the only default of a table
        case tuple():
            return f"[{', '.join(map(spelling, value))}]"
        case _:
            return str(value)


def short(length: timedelta) -> str:
    """A duration in its largest whole unit: `30d`, `90s`, `250ms`."""
    for unit, letter in (("days", "d"), ("hours", "h"), ("minutes", "m"), ("seconds", "s")):
        count, rest = divmod(length, timedelta(**{unit: 1}))
        if count and not rest:
            return f"{count}{letter}"
    return f"{length // timedelta(milliseconds=1)}ms"


FIELDS = {field.path: field for field in all_fields()}
SECTIONS = {each.name: each.type for each in msgspec.structs.fields(Settings) if is_section(each)}
# Sections that are tables of named things.
TABLES = {field.section: field for field in FIELDS.values() if not field.name}
