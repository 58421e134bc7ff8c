"""The reference page of all settings, made from the settings themselves. Room: config.

`tools/generate.py` writes the result to docs/reference/settings.md; a test proves them equal.
"""

from rota.config.fields import (
    FIELDS,
    SECTIONS,
    TABLES,
    Field,
    kind_named,
    named_fields,
    spelling,
)
from rota.config.load import ALIASES, FILE_VARIABLE, PLACES

INTRODUCTION = f"""\
<!-- Generated from src/rota/config/settings.py by `make generate`; do not edit. -->
# Settings

Rota runs without any setting. What is set is read once, when a process starts; later beats earlier:

1. the defaults below;
2. a TOML file: the one that `--config` or `{FILE_VARIABLE}` names, else the first that exists of \
{", ".join(f"`{place}`" for place in PLACES)};
3. variables: `ROTA_`, the section, two underscores, the name, as in `ROTA_WORKER__SLOTS=8`. \
Commas separate the items of a list, a table is written as in TOML. An empty variable counts as \
absent;
4. flags of the command.

```toml
[worker]
queues = ["default", "mail"]
slots = 64
drain = "2m"
```

A name that does not exist, a wrong type or a value out of bounds stops the process before it \
starts, and the message says where the value was set and what would be right. This also holds for \
variables that begin with `ROTA_`, except those that Kubernetes sets for a service called `rota`.

Durations are written with their units (`250ms`, `90s`, `1h30m`, `30d`) or as in ISO 8601 \
(`PT15M`). A number alone is refused.

A secret can stay elsewhere: in the settings of a named thing, `${{NAME}}` stands for a variable \
of the process and `${{file:/path}}` for the text of a file. Inside of a URL it is \
percent-encoded. A variable for this must not begin with `ROTA_`.

Short names: {", ".join(f"`{alias}` sets `{path}`" for alias, path in ALIASES.items())}. A \
message never shows what may hold a password.
"""

HEAD = """\
| Setting | Default | It must be | Meaning |
|---|---|---|---|
"""


def settings_markdown() -> str:
    """The whole page, newline at the end."""
    sections = "".join(section_markdown(name) for name in SECTIONS)
    return INTRODUCTION + sections + "".join(table_markdown(field) for field in TABLES.values())


def section_markdown(name: str) -> str:
    rows = (row(field) for field in FIELDS.values() if field.section == name)
    tables = (named_markdown(field) for field in FIELDS.values() if field.section == name)
    return f"\n## [{name}]\n\n{SECTIONS[name].__doc__}\n\n{HEAD}{''.join(rows)}{''.join(tables)}"


def table_markdown(field: Field) -> str:
    """A section that holds named things only."""
    return f"\n## [{field.path}]\n\n{field.meaning}\n\n{HEAD}{row(field)}{named_markdown(field)}"


def named_markdown(field: Field) -> str:
    """The settings of the things that a table holds, each under a name of the operator's choice."""
    if not field.is_named:
        return ""
    rows = "".join(row(each) for each in named_fields(field, "NAME").values())
    return f"\n### [{field.path}.NAME]\n\n{kind_named(field).__doc__}\n\n{HEAD}{rows}"


def row(field: Field) -> str:
    default = spelling(field.default)
    cells = (
        f"`{field.path}`<br>`{field.variable}`" if field.path in FIELDS else f"`{field.name}`",
        f"`{default}`" if default else "none",
        field.wanted,
        field.meaning,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
