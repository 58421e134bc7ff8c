"""Renders the reference page of all settings from their declarations.

`tools/generate.py` writes the result to docs/reference/settings.md; a test proves them equal.
"""

from rota.config.fields import (
    FIELDS,
    SECTIONS,
    TABLES,
    SettingField,
    find_resource_type,
    list_named_fields,
    spell_value,
)
from rota.config.loader import ALIASES, DEFAULT_FILES, FILE_VARIABLE

INTRODUCTION = f"""\
<!-- Generated from src/rota/config/settings.py by `make generate`; do not edit. -->
# Settings

Rota runs without any settings. A process reads its settings once, when it starts. Later sources \
override earlier ones:

1. the defaults below;
2. a TOML file: the one given by `--config` or `{FILE_VARIABLE}`, else the first that exists of \
{", ".join(f"`{place}`" for place in DEFAULT_FILES)};
3. environment variables: `ROTA_`, the section, two underscores and the name, as in \
`ROTA_WORKER__SLOTS=8`. Separate the items of a list with commas; write a table as an inline TOML \
table. An empty variable counts as unset;
4. command-line flags.

```toml
[worker]
queues = ["default", "mail"]
slots = 64
drain = "2m"
```

A process refuses to start if a setting is unknown, has the wrong type or is out of bounds. The \
message says where the value was set and what is allowed. This includes unknown `ROTA_*` \
variables, except those that Kubernetes sets for a service called `rota`.

Write durations with their units (`250ms`, `90s`, `1h30m`, `30d`) or in ISO 8601 (`PT15M`). A \
number without a unit is refused.

A secret does not have to be in the file. In the settings of a named resource, such as a \
connection or a channel, `${{NAME}}` stands for an environment variable of the process and \
`${{file:/path}}` for the content of a file. Inside a URL, Rota percent-encodes the value. The \
name of such a variable must not begin with `ROTA_`.

Short names: {", ".join(f"`{alias}` sets `{path}`" for alias, path in ALIASES.items())}. Messages \
never show a value that may contain a password.
"""

TABLE_HEAD = """\
| Setting | Default | Allowed | Meaning |
|---|---|---|---|
"""


def render_settings() -> str:
    """Render the whole page, with a newline at the end."""
    sections = "".join(render_section(name) for name in SECTIONS)
    return (
        INTRODUCTION + sections + "".join(render_named_section(field) for field in TABLES.values())
    )


def render_section(name: str) -> str:
    rows = (render_row(field) for field in FIELDS.values() if field.section == name)
    tables = (render_named_settings(field) for field in FIELDS.values() if field.section == name)
    return (
        f"\n## [{name}]\n\n{SECTIONS[name].__doc__}\n\n{TABLE_HEAD}{''.join(rows)}{''.join(tables)}"
    )


def render_named_section(field: SettingField) -> str:
    """Render a section that contains named resources only."""
    return (
        f"\n## [{field.path}]\n\n{field.meaning}\n\n{TABLE_HEAD}{render_row(field)}"
        f"{render_named_settings(field)}"
    )


def render_named_settings(field: SettingField) -> str:
    """Render the settings of the resources in a table; the operator chooses their names."""
    if not field.is_named:
        return ""
    rows = "".join(render_row(inner) for inner in list_named_fields(field, "NAME").values())
    return f"\n### [{field.path}.NAME]\n\n{find_resource_type(field).__doc__}\n\n{TABLE_HEAD}{rows}"


def render_row(field: SettingField) -> str:
    default = spell_value(field.default)
    cells = (
        f"`{field.path}`<br>`{field.variable}`" if field.path in FIELDS else f"`{field.name}`",
        f"`{default}`" if default else "none",
        field.wanted,
        field.meaning,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
