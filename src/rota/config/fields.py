"""Lists all settings: path, variable, type, bounds, default and meaning.

Derived from settings.py. load.py and describe.py both use this list, so error messages and the
reference page cannot disagree.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from msgspec import inspect

from rota.config.declarations import FOREVER
from rota.config.settings import Settings
from rota.core.time.durations import to_words

VARIABLE_PREFIX = "ROTA_"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingField:
    """One setting. `wanted` completes the sentence "must be …". A field without a name is a whole
    section that consists of named resources.
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
        return f"{VARIABLE_PREFIX}{self.path.replace('.', '__')}".upper()

    @property
    def is_secret(self) -> bool:
        return bool(self.extra.get("secret"))

    @property
    def is_named(self) -> bool:
        """Whether the setting is a table of named resources, each with its own settings."""
        value_type = self.type.value_type if isinstance(self.type, inspect.DictType) else None
        return isinstance(value_type, inspect.StructType)

    @property
    def wanted(self) -> str:
        match self.type:
            case inspect.IntType(ge=minimum, le=maximum):
                return f"a whole number from {minimum} to {maximum}"
            case inspect.BoolType():
                return "true or false"
            case inspect.LiteralType():
                return f"one of {', '.join(self.choices)}"
            case inspect.TimeDeltaType():
                shortest, longest = (
                    to_words(self.extra["shortest"]),
                    to_words(self.extra["longest"]),
                )
                if self.extra["forever"]:
                    return f'"forever", or a duration from {shortest} to {longest}, such as "5m"'
                return (
                    f"a duration from {shortest} to {longest}, such as {spell_value(self.default)}"
                )
            case _:
                return str(self.extra["wanted"])

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a choice, in the order of their declaration."""
        return get_args(self.annotation.__origin__)


def list_fields() -> tuple[SettingField, ...]:
    sections = msgspec.structs.fields(Settings)
    return (
        *(
            build_field(section.name, setting)
            for section in sections
            if is_section(section)
            for setting in msgspec.structs.fields(section.type)
        ),
        *(
            replace(build_field(section.name, section), name="")
            for section in sections
            if not is_section(section)
        ),
    )


def is_section(info: msgspec.structs.FieldInfo) -> bool:
    return isinstance(info.type, type)


def read_default(info: msgspec.structs.FieldInfo) -> object:
    """Return the default: an empty table for a table, `NODEFAULT` for a required setting."""
    factory = info.default_factory
    return info.default if factory is msgspec.NODEFAULT else factory()


def list_named_fields(field: SettingField, name: str) -> dict[str, SettingField]:
    """Return the settings of one resource in a table of named resources."""
    kind = find_resource_type(field)
    fields = (build_field(f"{field.path}.{name}", info) for info in msgspec.structs.fields(kind))
    return {inner.name: inner for inner in fields}


def find_resource_type(field: SettingField) -> type[msgspec.Struct]:
    """Return the type of the resources in a table."""
    value_type = cast("inspect.DictType", field.type).value_type
    return cast("inspect.StructType", value_type).cls


def build_field(section: str, info: msgspec.structs.FieldInfo) -> SettingField:
    meta = next(item for item in info.type.__metadata__ if isinstance(item, msgspec.Meta))
    type_ = inspect.type_info(info.type)
    return SettingField(
        section=section,
        name=info.name,
        annotation=info.type,
        type=type_.type if isinstance(type_, inspect.Metadata) else type_,
        extra=meta.extra or {},
        default=read_default(info),
        meaning=meta.description or "",
    )


def spell_value(value: object) -> str:
    """Spell a value as in the TOML file."""
    match value:
        case None | msgspec.NODEFAULT:
            return ""
        case bool():
            return str(value).lower()
        case timedelta():
            return '"forever"' if value == FOREVER else f'"{spell_duration(value)}"'
        case str() | Path():
            return f'"{value}"'
        case dict():
            return "{}"  # the only default of a table
        case tuple():
            return f"[{', '.join(map(spell_value, value))}]"
        case _:
            return str(value)


def spell_duration(length: timedelta) -> str:
    """Spell a duration in its largest whole unit: `30d`, `90s`, `250ms`."""
    for unit, letter in (("days", "d"), ("hours", "h"), ("minutes", "m"), ("seconds", "s")):
        count, rest = divmod(length, timedelta(**{unit: 1}))
        if count and not rest:
            return f"{count}{letter}"
    return f"{length // timedelta(milliseconds=1)}ms"


FIELDS = {field.path: field for field in list_fields()}
SECTIONS = {info.name: info.type for info in msgspec.structs.fields(Settings) if is_section(info)}
# Sections that are tables of named resources.
TABLES = {field.section: field for field in FIELDS.values() if not field.name}
