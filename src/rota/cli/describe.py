"""Renders the reference page of the command line from the commands themselves.

`tools/generate.py` writes the result to docs/reference/cli.md; a test proves them equal.
"""

import inspect
from collections.abc import Iterator
from typing import Any, Final

from cyclopts import App

from rota.cli.main import COMMANDS, HELP, Command, app
from rota.cli.options import CONNECTION, OUTPUT

INTRODUCTION: Final = f"""\
<!-- Generated from src/rota/cli by `make generate`; do not edit. -->
# The command line

{HELP}
A job is given by name or id. A run is given by id or by a prefix of its id that is unique among the
newest 1,000 runs. A time is a timestamp or an age: `2h` means two hours ago. `rota COMMAND --help`
prints the same text as this page. [The how-to](../howto/cli.md) shows the commands in use.

## Exit codes

| Code | Means |
|---|---|
| 0 | success; for `watch`: every run succeeded |
| 1 | failure: a watched run did not succeed, a conflict, `doctor` found an error, or you \
declined a confirmation |
| 64 | usage: invalid arguments or input |
| 66 | not found: no such job, run, queue … |
| 69 | the API or the database is unreachable, or asks to retry later |
| 77 | permission denied: the key is missing or invalid, or its role is insufficient |
| 78 | configuration: the database cannot be used in its current state |
| 130 | interrupted with Ctrl-C |
| 141 | the reader closed the output, as `head` does |

Errors are one line on standard error. Tables and JSON go to standard output.

## Options of every command that calls the API

| Option | Meaning |
|---|---|
"""
SHARED: Final = (CONNECTION.name, OUTPUT.name)
NOTES: Final = """
`--json` prints the API's response unchanged: an object, or an array for a list. A command that
takes several arguments prints one object for each. Streams (`runs logs`, `feed`) print one object
per line. `--quiet` prints ids only: the name where a resource has no other id, and the key itself
for a new key.
"""


def cli_markdown() -> str:
    """Return the whole page, with a trailing newline."""
    shared = "".join(f"| {names_of(option)} | {meaning(option)} |\n" for option in shared_options())
    return INTRODUCTION + shared + NOTES + "".join(part(command) for command in COMMANDS)


def shared_options() -> Iterator[Any]:
    for argument in arguments(app["jobs"]["list"]):
        if group_of(argument) in SHARED and not is_number(argument):
            yield argument


def is_number(argument: Any) -> bool:
    """Return whether it limits a list, which only some commands do."""
    return bool({"--limit", "--all"}.intersection(argument.names))


def part(command: Command) -> str:
    """Return the section of a command, or of a noun with its subcommands."""
    found = app[command.name]
    names = [name for name in found.resolved_commands() if not name.startswith("-")]
    if not names:
        return section(f"rota {command.name}", found, level=2)
    inner = [section(f"rota {command.name} {name}", found[name], level=3) for name in names]
    alone = f"`rota {command.name}` alone is `rota {command.name} {names[0]}`."
    note = "" if found.default_command is None else f"\n{alone}\n"
    return f"\n## rota {command.name}\n\n{command.help}\n{note}" + "".join(inner)


def section(name: str, command: App, *, level: int) -> str:
    options = own_options(command)
    text = f"\n{'#' * level} {name}\n\n{told(command)}\n"
    if not options:
        return text
    rows = "".join(f"| {names_of(each)} | {meaning(each)} |\n" for each in options)
    return f"{text}\n| Argument | Meaning |\n|---|---|\n{rows}"


def own_options(command: App) -> list[Any]:
    """Return the arguments without the shared ones. A command that does not call the API has only
    its own.
    """
    found = arguments(command)
    if not any(group_of(each) == CONNECTION.name for each in found):
        return found
    own = [each for each in found if group_of(each) not in SHARED]
    return own + [each for each in found if is_number(each) and each not in own]


def told(command: App) -> str:
    """Return the docstring of a command without its parameters."""
    doc = inspect.getdoc(command.default_command) or ""
    return doc.partition("\n\nParameters\n")[0].strip()


def arguments(command: App) -> list[Any]:
    found = command.assemble_argument_collection(parse_docstring=True)
    return [each for each in found if each.parse and each.show]


def group_of(argument: Any) -> str:
    return next((group.name for group in argument.parameter.group), "")


def names_of(argument: Any) -> str:
    flags = [name for name in argument.names if name.startswith("-")]
    if not flags or argument.index is not None:
        return f"`{argument.name.upper().lstrip('*-')}`"
    return ", ".join(f"`{name}`" for name in flags)


def meaning(argument: Any) -> str:
    text = " ".join((argument.parameter.help or "").split())
    choices = argument.get_choices()
    if choices:
        text += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    default = argument.field_info.default
    is_shown = isinstance(default, int | str) and not isinstance(default, bool)
    if is_shown and "Default:" not in text:
        text += f" Default: `{default}`."
    return text.replace("|", "\\|").strip()
