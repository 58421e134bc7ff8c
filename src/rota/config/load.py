"""From file, variables and flags to one checked Settings. Room: config.

Later beats earlier: the defaults, the TOML file, `ROTA_…` variables, flags. Whatever is not
understood is refused, with the path of the setting, where it was set and what would be right; a
typo that is silently ignored costs an evening. The process's environment and arguments are handed
in (by cli); only the file is read here.

No value is shown in a refusal that could hold a password.
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

from rota.config.declaring import FOREVER
from rota.config.fields import (
    FIELDS,
    PREFIX,
    SECTIONS,
    TABLES,
    Field,
    kind_named,
    named_fields,
    short,
)
from rota.config.settings import Settings, contradictions
from rota.core.errors import InvalidSetting
from rota.core.time import durations

PLACES = (Path("rota.toml"), Path("/etc/rota/rota.toml"))
FILE_VARIABLE = "ROTA_CONFIG"
# Short names for the two that everybody sets.
ALIASES = {"ROTA_DATABASE_URL": "database.url", "ROTA_DATA": "database.data"}
# Where a client finds the API: no settings of a server, which may well run beside one.
OF_CLIENTS = frozenset({"ROTA_URL", "ROTA_API_KEY"})
# Kubernetes tells every pod about a service called `rota` or `rota-…` in variables of this form.
SERVICE_LINK = re.compile(
    r"ROTA_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
SERVICE_PORT = re.compile(r"ROTA_(\w+_)?PORT")
LINK_SCHEMES = ("tcp://", "udp://", "sctp://")
HIDDEN = "***"
# Settings of earlier releases: why each is gone, and what to do.
REMOVED = dict.fromkeys(
    ("database.pool_min", "database.pool_max"),
    "it was removed, because it never had an effect; delete it. How many connections a process "
    "opens is fixed, except in the API: api.connections bounds those",
)
# Of a channel, a connection, whatever jobs know by its name only.
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
NAME_WANTED = "1 to 63 of a-z, 0-9, dot, dash and underscore, beginning with a letter or digit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value as it was written, and where."""

    field: Field
    value: object
    source: str
    # A variable is always text, so "8" is a number there; in the file it is not.
    is_text: bool

    def refused(self, wanted: str) -> InvalidSetting:
        hide = self.field.is_secret or may_hold_secret(self.value)
        shown = HIDDEN if hide else self.value
        return InvalidSetting(self.field.path, shown, f"it must be {wanted} (set {self.source})")


def load(
    *,
    environment: Mapping[str, str],
    file: Path | None = None,
    flags: Mapping[str, Mapping[str, object]] | None = None,
    places: Sequence[Path] = PLACES,
) -> Settings:
    """Read all sources and check the result; the first thing that is wrong raises.

    `file` is asked for by the operator and must exist; without it, `ROTA_CONFIG` names it, else the
    first of `places` that exists is read. A flag that is None was not given.
    """
    given: dict[str, Given] = {}
    found = find_file(file, environment, places)
    for each in (
        *(from_file(found) if found else ()),
        *from_environment(environment),
        *from_flags(flags or {}),
    ):
        given[each.field.path] = each
    settings = build({path: read(each) for path, each in given.items()})
    refuse_contradictions(settings, given)
    return settings


def find_file(
    file: Path | None, environment: Mapping[str, str], places: Sequence[Path]
) -> Path | None:
    if file is not None:
        return file
    if named := environment.get(FILE_VARIABLE):
        return Path(named)
    return next((place for place in places if may_exist(place)), None)


def may_exist(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a folder we may not enter: reading will say so, ignoring it would not
        return True


def from_file(path: Path) -> Iterator[Given]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        wanted = f"a file that can be read is needed: {error.strerror}"
        raise InvalidSetting("config", str(path), wanted) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # The decoder tells the place, never the text; UnicodeDecodeError would show bytes of it.
        reason = error if isinstance(error, tomllib.TOMLDecodeError) else "it is not UTF-8"
        raise InvalidSetting("config", str(path), f"TOML is needed: {reason}") from None
    yield from from_tree(tree, f"in {path}")


def from_flags(flags: Mapping[str, Mapping[str, object]]) -> Iterator[Given]:
    given = {
        section: {name: value for name, value in values.items() if value is not None}
        for section, values in flags.items()
    }
    yield from from_tree(given, "on the command line", is_text=True)


def from_tree(tree: Mapping[str, Any], source: str, *, is_text: bool = False) -> Iterator[Given]:
    for section, values in tree.items():
        if section in TABLES:
            field = TABLES[section]
            yield Given(field=field, value=values, source=source, is_text=is_text)
            continue
        if section not in SECTIONS:
            raise unknown_section(section, source)
        if not isinstance(values, Mapping):
            shown = HIDDEN if may_hold_secret(values) else values
            wanted = f"[{section}] is a section with settings of its own ({source})"
            raise InvalidSetting(section, shown, wanted)
        for name, value in values.items():
            known = FIELDS.get(f"{section}.{name}")
            if known is None:
                raise unknown(section, name, source=source)
            yield Given(field=known, value=value, source=source, is_text=is_text)


def from_environment(environment: Mapping[str, str]) -> Iterator[Given]:
    seen: dict[str, str] = {}
    for variable, value in sorted(environment.items()):
        # An empty variable counts as absent: that is how compose files and units leave one out.
        if not variable.startswith(PREFIX) or not value or variable == FILE_VARIABLE:
            continue
        if variable in OF_CLIENTS:
            continue
        field = FIELDS.get(ALIASES.get(variable) or path_of(variable))
        if field is None:
            if is_service_link(variable, value):
                continue
            raise unknown_variable(variable)
        if field.path in seen:
            wanted = f"set either {seen[field.path]} or {variable}, not both"
            raise InvalidSetting(field.path, variable, wanted)
        seen[field.path] = variable
        yield Given(field=field, value=value, source=f"in {variable}", is_text=True)


def is_service_link(variable: str, value: str) -> bool:
    # ROTA_API_PORT could be a misspelt setting of ours, so there the value must tell.
    return bool(
        SERVICE_LINK.fullmatch(variable)
        or (SERVICE_PORT.fullmatch(variable) and value.startswith(LINK_SCHEMES))
    )


def path_of(variable: str) -> str:
    return variable.removeprefix(PREFIX).lower().replace("__", ".", 1)


def unknown_variable(variable: str) -> InvalidSetting:
    section, underscores, name = path_of(variable).partition(".")
    if section in SECTIONS and underscores:
        return unknown(section, name, variable=variable, source=f"in {variable}")
    known = [*(field.variable for field in FIELDS.values()), *ALIASES, FILE_VARIABLE]
    # Without the prefix, which makes all of them look alike.
    close = close_to(variable.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in known])
    hint = (
        f"did you mean {PREFIX}{close}?"
        if close
        else f"a variable is {PREFIX}, the section, two underscores, the name"
    )
    wanted = f"there is no such setting; {hint} (in {variable})"
    return InvalidSetting(path_of(variable), variable, wanted)


def unknown(section: str, name: str, *, source: str, variable: str | None = None) -> InvalidSetting:
    """The name is shown, the value never: a misspelt password is still a password."""
    if removed := REMOVED.get(f"{section}.{name}"):
        return InvalidSetting(f"{section}.{name}", variable or name, f"{removed} ({source})")
    names = [field.name for field in FIELDS.values() if field.section == section]
    meant = [FIELDS[f"{section}.{close}"] for close in [close_to(name, names)] if close]
    meant = meant or [field for field in FIELDS.values() if name and field.name == name]
    spelt = [field.variable if variable else field.path for field in meant]
    hint = (
        f"did you mean {' or '.join(spelt)}?"
        if spelt
        else f"the settings of [{section}] are {', '.join(names)}"
    )
    wanted = f"there is no such setting; {hint} ({source})"
    return InvalidSetting(f"{section}.{name}", variable or name, wanted)


def unknown_section(section: str, source: str) -> InvalidSetting:
    known = [*SECTIONS, *TABLES]
    close = close_to(section, known)
    hint = f"did you mean {close}?" if close else f"the sections are {', '.join(known)}"
    return InvalidSetting(section, section, f"there is no such section; {hint} ({source})")


def close_to(written: str, known: Sequence[str]) -> str | None:
    return next(iter(get_close_matches(written, known, n=1, cutoff=0.7)), None)


def read(given: Given) -> object:
    """A value as the setting's own type."""
    field, value = given.field, given.value
    match field.type:
        case inspect.TimeDeltaType():
            return read_duration(given)
        case inspect.CustomType() | inspect.UnionType() if is_path(field.type):
            return read_path(given)
        case inspect.DictType():
            return read_named(given) if field.is_named else read_table(given)
        case inspect.VarTupleType() if given.is_text and isinstance(value, str):
            value = [each.strip() for each in value.split(",") if each.strip()]
        case _:
            pass
    try:
        return msgspec.convert(value, field.annotation, strict=not given.is_text)
    except msgspec.ValidationError:
        # Its text may show the value; the field says better what is wanted.
        raise given.refused(field.wanted) from None


def is_path(type_: inspect.Type) -> bool:
    """Whether a setting is a path, or a path that may be left out."""
    if isinstance(type_, inspect.UnionType):
        return any(is_path(each) for each in type_.types)
    return isinstance(type_, inspect.CustomType) and type_.cls is Path


def read_duration(given: Given) -> timedelta:
    value, bounds = given.value, given.field.extra
    if bounds["forever"] and value == "forever":
        return FOREVER
    if isinstance(value, timedelta):
        value = durations.iso(value)
    try:
        return durations.parse(
            value, shortest=bounds["shortest"], longest=bounds["longest"], error=InvalidSetting
        )
    except InvalidSetting:
        raise given.refused(given.field.wanted) from None


def read_path(given: Given) -> Path:
    text = str(given.value) if isinstance(given.value, Path) else given.value
    # A folder named "~" is what would come of it: nobody expands the value of a setting.
    if not isinstance(text, str) or not text or text.startswith("~") or "\0" in text:
        raise given.refused(given.field.wanted)
    return Path(text)


def read_named(given: Given) -> dict[str, object]:
    """A table of named things; each of their settings is read by itself, so that a refusal can say
    which it is. In a variable it is written as an inline table of TOML.
    """
    value = parse_table(given)
    if not isinstance(value, Mapping):
        raise given.refused(given.field.wanted)
    return {str(name): read_thing(given, str(name), table) for name, table in value.items()}


def parse_table(given: Given) -> object:
    """The value of a table; in a variable it is written as an inline table of TOML."""
    if not given.is_text or not isinstance(given.value, str):
        return given.value
    try:
        document = tomllib.loads(f"value = {given.value}")
    except ValueError:
        document = {}
    # A line end in the variable would begin settings of others.
    return document.get("value") if len(document) == 1 else None


def read_table(given: Given) -> dict[str, object]:
    """A table that holds plain values: the options of a source, the tenants of queues."""
    try:
        table: dict[str, object] = msgspec.convert(parse_table(given), given.field.annotation)
    except msgspec.ValidationError:
        raise given.refused(given.field.wanted) from None
    return table


def read_thing(given: Given, name: str, table: object) -> object:
    if NAME.fullmatch(name) is None:
        wanted = f"a table whose names are {NAME_WANTED}"
        raise replace(given, value=name).refused(wanted)
    if not isinstance(table, Mapping):
        raise replace(given, value=table).refused(f"{given.field.wanted}; {name} is none")
    fields = named_fields(given.field, name)
    for key in table:
        if key not in fields:
            wanted = f"there is no such setting; it has {', '.join(fields)} ({given.source})"
            raise InvalidSetting(f"{given.field.path}.{name}.{key}", str(key), wanted)
    values = {}
    for field in fields.values():
        if field.name in table:
            values[field.name] = read(replace(given, field=field, value=table[field.name]))
        elif field.default is msgspec.NODEFAULT:
            raise replace(given, field=field, value=None).refused(field.wanted)
    return kind_named(given.field)(**values)


def build(values: Mapping[str, object]) -> Settings:
    sections: dict[str, dict[str, object]] = {name: {} for name in SECTIONS}
    tables: dict[str, Any] = {}
    for path, value in values.items():
        section, _, name = path.partition(".")
        if section in TABLES:
            tables[section] = value
        else:
            sections[section][name] = value
    made = {name: SECTIONS[name](**given) for name, given in sections.items()}
    return Settings(**made, **tables)


def refuse_contradictions(settings: Settings, given: Mapping[str, Given]) -> None:
    for path, wanted in contradictions(settings):
        field = FIELDS[path]
        by_default = Given(
            field=field, value=plain(field.default), source="by default", is_text=False
        )
        raise given.get(path, by_default).refused(wanted)


def plain(default: object) -> object:
    return short(default) if isinstance(default, timedelta) else default


def may_hold_secret(value: object) -> bool:
    """A URL may hold a password, whatever setting it was written to by mistake."""
    return bool(re.search(r"://|@|password|secret|token|key", str(value), re.IGNORECASE))
