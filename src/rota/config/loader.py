"""Reads the settings from the file, the environment and the flags, and validates them.

Later sources override earlier ones: the defaults, the TOML file, `ROTA_…` variables, flags. An
unknown or invalid setting raises an error that names the path of the setting, where it was set and
what is allowed, because a typo that is silently ignored costs an evening. The cli passes in the
environment and the arguments; this module reads only the file.

Errors never show a value that could contain a password.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from rota.config.declarations import FOREVER
from rota.config.fields import (
    FIELDS,
    SECTIONS,
    TABLES,
    VARIABLE_PREFIX,
    SettingField,
    find_resource_type,
    list_named_fields,
    spell_duration,
)
from rota.config.settings import Settings, find_contradictions
from rota.core.errors import InvalidSetting
from rota.core.time import durations

DEFAULT_FILES = (Path("rota.toml"), Path("/etc/rota/rota.toml"))
FILE_VARIABLE = "ROTA_CONFIG"
# Short names for the two most common settings.
ALIASES = {"ROTA_DATABASE_URL": "database.url", "ROTA_DATA": "database.data"}
# Variables of clients: where the API is. A server may run in the same environment.
CLIENT_VARIABLES = frozenset({"ROTA_URL", "ROTA_API_KEY"})
# Kubernetes sets variables of this form in every pod for a service called `rota` or `rota-…`.
SERVICE_LINK = re.compile(
    r"ROTA_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
SERVICE_PORT = re.compile(r"ROTA_(\w+_)?PORT")
LINK_SCHEMES = ("tcp://", "udp://", "sctp://")
HIDDEN_VALUE = "***"
# Settings of earlier releases: why each was removed, and what to do.
REMOVED_SETTINGS = dict.fromkeys(
    ("database.pool_min", "database.pool_max"),
    "this setting was removed because it never had an effect; delete it. The number of connections "
    "of a process is fixed, except in the API, where api.connections limits it",
) | {
    "api.health_listen": "this setting was replaced by observe.listen, which applies to every "
    "process; an address beyond loopback also needs observe.public = true",
}
# Names of channels, connections and other resources that jobs refer to by name.
RESOURCE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
RESOURCE_NAME_RULE = (
    "1 to 63 characters of a-z, 0-9, dot, dash and underscore, starting with a letter or digit"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingValue:
    """A value as written in its source, and the name of that source."""

    field: SettingField
    value: object
    source: str
    # A variable is always text, so "8" is a number there but not in the file.
    is_text: bool

    def build_error(self, wanted: str) -> InvalidSetting:
        is_hidden = self.field.is_secret or may_hold_secret(self.value)
        shown = HIDDEN_VALUE if is_hidden else self.value
        return InvalidSetting(self.field.path, shown, f"must be {wanted} (set {self.source})")


def load_settings(
    *,
    environment: Mapping[str, str],
    file: Path | None = None,
    flags: Mapping[str, Mapping[str, object]] | None = None,
    default_files: Sequence[Path] = DEFAULT_FILES,
) -> Settings:
    """Read all sources and validate the result; raise the first error.

    `file` must exist if given. Default: the file that `ROTA_CONFIG` names, else the first of
    `places` that exists. A flag of None counts as absent.
    """
    values: dict[str, SettingValue] = {}
    path_found = find_file(file, environment, default_files)
    for value in (
        *(read_file(path_found) if path_found else ()),
        *read_environment(environment),
        *read_flags(flags or {}),
    ):
        values[value.field.path] = value
    settings = build_settings({path: convert_value(value) for path, value in values.items()})
    refuse_contradictions(settings, values)
    return settings


def find_file(
    file: Path | None, environment: Mapping[str, str], default_files: Sequence[Path]
) -> Path | None:
    if file is not None:
        return file
    if named := environment.get(FILE_VARIABLE):
        return Path(named)
    return next((place for place in default_files if may_exist(place)), None)


def may_exist(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder without access: reading the file reports it
        return True


def read_file(path: Path) -> Iterator[SettingValue]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        wanted = f"cannot read the file: {error.strerror}"
        raise InvalidSetting("config", str(path), wanted) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # The decoder reports the position, never the text. UnicodeDecodeError would show bytes.
        reason = error if isinstance(error, tomllib.TOMLDecodeError) else "the file is not UTF-8"
        raise InvalidSetting("config", str(path), f"expected TOML: {reason}") from None
    yield from read_tree(tree, f"in {path}")


def read_flags(flags: Mapping[str, Mapping[str, object]]) -> Iterator[SettingValue]:
    values_by_section = {
        section: {name: value for name, value in values.items() if value is not None}
        for section, values in flags.items()
    }
    yield from read_tree(values_by_section, "on the command line", is_text=True)


def read_tree(
    tree: Mapping[str, Any], source: str, *, is_text: bool = False
) -> Iterator[SettingValue]:
    for section, values in tree.items():
        if section in TABLES:
            field = TABLES[section]
            yield SettingValue(field=field, value=values, source=source, is_text=is_text)
            continue
        if section not in SECTIONS:
            raise build_unknown_section(section, source)
        if not isinstance(values, Mapping):
            shown = HIDDEN_VALUE if may_hold_secret(values) else values
            wanted = f"expected a table: [{section}] is a section ({source})"
            raise InvalidSetting(section, shown, wanted)
        for name, value in values.items():
            known = FIELDS.get(f"{section}.{name}")
            if known is None:
                raise build_unknown_setting(section, name, source=source)
            yield SettingValue(field=known, value=value, source=source, is_text=is_text)


def read_environment(environment: Mapping[str, str]) -> Iterator[SettingValue]:
    seen: dict[str, str] = {}
    for variable, value in sorted(environment.items()):
        # An empty variable counts as absent: compose files and systemd units unset one that way.
        if not variable.startswith(VARIABLE_PREFIX) or not value or variable == FILE_VARIABLE:
            continue
        if variable in CLIENT_VARIABLES:
            continue
        field = FIELDS.get(ALIASES.get(variable) or parse_variable(variable))
        if field is None:
            if is_service_link(variable, value):
                continue
            raise build_unknown_variable(variable)
        if field.path in seen:
            wanted = f"set either {seen[field.path]} or {variable}, not both"
            raise InvalidSetting(field.path, variable, wanted)
        seen[field.path] = variable
        yield SettingValue(field=field, value=value, source=f"in {variable}", is_text=True)


def is_service_link(variable: str, value: str) -> bool:
    # ROTA_API_PORT could be a misspelt setting, so there the value decides.
    return bool(
        SERVICE_LINK.fullmatch(variable)
        or (SERVICE_PORT.fullmatch(variable) and value.startswith(LINK_SCHEMES))
    )


def parse_variable(variable: str) -> str:
    return variable.removeprefix(VARIABLE_PREFIX).lower().replace("__", ".", 1)


def build_unknown_variable(variable: str) -> InvalidSetting:
    section, underscores, name = parse_variable(variable).partition(".")
    if section in SECTIONS and underscores:
        return build_unknown_setting(section, name, variable=variable, source=f"in {variable}")
    known = [*(field.variable for field in FIELDS.values()), *ALIASES, FILE_VARIABLE]
    # Compare without the prefix, which makes all names look alike.
    close = find_similar(
        variable.removeprefix(VARIABLE_PREFIX),
        [name.removeprefix(VARIABLE_PREFIX) for name in known],
    )
    hint = (
        f"did you mean {VARIABLE_PREFIX}{close}?"
        if close
        else f"the form is {VARIABLE_PREFIX}, the section, two underscores, the name"
    )
    wanted = f"unknown setting; {hint} (in {variable})"
    return InvalidSetting(parse_variable(variable), variable, wanted)


def build_unknown_setting(
    section: str, name: str, *, source: str, variable: str | None = None
) -> InvalidSetting:
    """Build the error. It shows the name, never the value: it may be a password."""
    if removed := REMOVED_SETTINGS.get(f"{section}.{name}"):
        return InvalidSetting(f"{section}.{name}", variable or name, f"{removed} ({source})")
    names = [field.name for field in FIELDS.values() if field.section == section]
    similar = [FIELDS[f"{section}.{close}"] for close in [find_similar(name, names)] if close]
    similar = similar or [field for field in FIELDS.values() if name and field.name == name]
    suggestions = [field.variable if variable else field.path for field in similar]
    hint = (
        f"did you mean {' or '.join(suggestions)}?"
        if suggestions
        else f"known settings of [{section}]: {', '.join(names)}"
    )
    wanted = f"unknown setting; {hint} ({source})"
    return InvalidSetting(f"{section}.{name}", variable or name, wanted)


def build_unknown_section(section: str, source: str) -> InvalidSetting:
    known = [*SECTIONS, *TABLES]
    close = find_similar(section, known)
    hint = f"did you mean {close}?" if close else f"known sections: {', '.join(known)}"
    return InvalidSetting(section, section, f"unknown section; {hint} ({source})")


def find_similar(name: str, known: Sequence[str]) -> str | None:
    return next(iter(get_close_matches(name, known, n=1, cutoff=0.7)), None)


def convert_value(setting: SettingValue) -> object:
    """Convert a value to the type of its setting."""
    field, value = setting.field, setting.value
    match field.type:
        case inspect.TimeDeltaType():
            return convert_duration(setting)
        case inspect.CustomType() | inspect.UnionType() if is_path(field.type):
            return convert_path(setting)
        case inspect.DictType():
            return convert_named(setting) if field.is_named else convert_table(setting)
        case inspect.VarTupleType() if setting.is_text and isinstance(value, str):
            value = [item.strip() for item in value.split(",") if item.strip()]
        case _:
            pass
    try:
        return msgspec.convert(value, field.annotation, strict=not setting.is_text)
    except msgspec.ValidationError:
        # Its text may show the value; the field describes better what is allowed.
        raise setting.build_error(field.wanted) from None


def is_path(type_: inspect.Type) -> bool:
    """Tell whether a setting is a path or an optional path."""
    if isinstance(type_, inspect.UnionType):
        return any(is_path(member) for member in type_.types)
    return isinstance(type_, inspect.CustomType) and type_.cls is Path


def convert_duration(setting: SettingValue) -> timedelta:
    value, bounds = setting.value, setting.field.extra
    if bounds["forever"] and value == "forever":
        return FOREVER
    if isinstance(value, timedelta):
        value = durations.to_iso(value)
    try:
        return durations.parse(
            value, minimum=bounds["shortest"], maximum=bounds["longest"], error=InvalidSetting
        )
    except InvalidSetting:
        raise setting.build_error(setting.field.wanted) from None


def convert_path(setting: SettingValue) -> Path:
    text = str(setting.value) if isinstance(setting.value, Path) else setting.value
    # Rota does not expand "~": the process would create a folder of that name.
    if not isinstance(text, str) or not text or text.startswith("~") or "\0" in text:
        raise setting.build_error(setting.field.wanted)
    return Path(text)


def convert_named(setting: SettingValue) -> dict[str, object]:
    """Read a table of named resources. Each of their settings is read on its own, so that an error
    can name it. A variable contains an inline TOML table.
    """
    value = parse_table(setting)
    if not isinstance(value, Mapping):
        raise setting.build_error(setting.field.wanted)
    return {str(name): convert_resource(setting, str(name), table) for name, table in value.items()}


def parse_table(setting: SettingValue) -> object:
    """Return the value of a table; a variable contains an inline TOML table."""
    if not setting.is_text or not isinstance(setting.value, str):
        return setting.value
    try:
        document = tomllib.loads(f"value = {setting.value}")
    except ValueError:
        document = {}
    # A line break in the variable would start further keys.
    return document.get("value") if len(document) == 1 else None


def convert_table(setting: SettingValue) -> dict[str, object]:
    """Read a table of plain values: the options of a source, the tenants of queues."""
    try:
        table: dict[str, object] = msgspec.convert(parse_table(setting), setting.field.annotation)
    except msgspec.ValidationError:
        raise setting.build_error(setting.field.wanted) from None
    return table


def convert_resource(setting: SettingValue, name: str, table: object) -> object:
    if RESOURCE_NAME.fullmatch(name) is None:
        wanted = f"a table whose names are {RESOURCE_NAME_RULE}"
        raise replace(setting, value=name).build_error(wanted)
    if not isinstance(table, Mapping):
        raise replace(setting, value=table).build_error(
            f"{setting.field.wanted}; {name} is not a table"
        )
    fields = list_named_fields(setting.field, name)
    for key in table:
        if key not in fields:
            wanted = f"unknown setting; known settings: {', '.join(fields)} ({setting.source})"
            raise InvalidSetting(f"{setting.field.path}.{name}.{key}", str(key), wanted)
    values = {}
    for field in fields.values():
        if field.name in table:
            values[field.name] = convert_value(
                replace(setting, field=field, value=table[field.name])
            )
        elif field.default is msgspec.NODEFAULT:
            raise replace(setting, field=field, value=None).build_error(field.wanted)
    return find_resource_type(setting.field)(**values)


def build_settings(values: Mapping[str, object]) -> Settings:
    sections: dict[str, dict[str, object]] = {name: {} for name in SECTIONS}
    tables: dict[str, Any] = {}
    for path, value in values.items():
        section, _, name = path.partition(".")
        if section in TABLES:
            tables[section] = value
        else:
            sections[section][name] = value
    built = {name: SECTIONS[name](**settings) for name, settings in sections.items()}
    return Settings(**built, **tables)


def refuse_contradictions(settings: Settings, values: Mapping[str, SettingValue]) -> None:
    for path, wanted in find_contradictions(settings):
        field = FIELDS[path]
        default = SettingValue(
            field=field, value=spell_default(field.default), source="by default", is_text=False
        )
        raise values.get(path, default).build_error(wanted)


def spell_default(default: object) -> object:
    return spell_duration(default) if isinstance(default, timedelta) else default


def may_hold_secret(value: object) -> bool:
    """Tell whether a value may contain a password, such as a URL in the wrong setting."""
    return bool(re.search(r"://|@|password|secret|token|key", str(value), re.IGNORECASE))
