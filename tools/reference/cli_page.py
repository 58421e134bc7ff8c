"""Renders the reference page of the command line from the commands themselves.

`tools/generate.py` writes the result to docs/reference/cli.md; a test proves them equal.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Final

from cyclopts import App

from rota.cli.api_options import CONNECTION, OUTPUT
from rota.cli.main import COMMANDS, HELP, CommandEntry, app

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
SHARED_GROUPS: Final = (CONNECTION.name, OUTPUT.name)
NOTES: Final = """
`--json` prints the API's response unchanged: an object, or an array for a list. A command that
takes several arguments prints one object for each. Streams (`runs logs`, `feed`) print one object
per line. `--quiet` prints ids only: the name where a resource has no other id, and the key itself
for a new key.
"""


def render_cli_markdown() -> str:
    """Return the whole page, with a trailing newline."""
    shared = "".join(
        f"| {format_names(option)} | {describe_argument(option)} |\n"
        for option in list_shared_options()
    )
    return INTRODUCTION + shared + NOTES + "".join(render_command(command) for command in COMMANDS)


def list_shared_options() -> Iterator[Any]:
    for argument in list_arguments(app["jobs"]["list"]):
        if get_group(argument) in SHARED_GROUPS and not is_list_limit(argument):
            yield argument


def is_list_limit(argument: Any) -> bool:
    """Return whether it limits a list, which only some commands do."""
    return bool({"--limit", "--all"}.intersection(argument.names))


def render_command(command: CommandEntry) -> str:
    """Return the section of a command, or of a noun with its subcommands."""
    found = app[command.name]
    names = [name for name in found.resolved_commands() if not name.startswith("-")]
    if not names:
        return render_section(f"rota {command.name}", found, level=2)
    inner = render_subcommands(f"rota {command.name}", found, names)
    alone = f"`rota {command.name}` alone is `rota {command.name} {names[0]}`."
    note = "" if found.default_command is None else f"\n{alone}\n"
    return f"\n## rota {command.name}\n\n{command.help}\n{note}" + "".join(inner)


def render_subcommands(parent: str, found: App, names: Sequence[str]) -> Iterator[str]:
    """Yield the sections of the subcommands of a noun, and of nouns within it."""
    for name in names:
        below = [each for each in found[name].resolved_commands() if not each.startswith("-")]
        if below:
            yield from render_subcommands(f"{parent} {name}", found[name], below)
        else:
            yield render_section(f"{parent} {name}", found[name], level=3)


def render_section(name: str, command: App, *, level: int) -> str:
    options = list_own_options(command)
    text = f"\n{'#' * level} {name}\n\n{get_description(command)}\n"
    if not options:
        return text
    rows = "".join(f"| {format_names(each)} | {describe_argument(each)} |\n" for each in options)
    return f"{text}\n| Argument | Meaning |\n|---|---|\n{rows}"


def list_own_options(command: App) -> list[Any]:
    """Return the arguments without the shared ones. A command that does not call the API has only
    its own.
    """
    found = list_arguments(command)
    if not any(get_group(each) == CONNECTION.name for each in found):
        return found
    own = [each for each in found if get_group(each) not in SHARED_GROUPS]
    return own + [each for each in found if is_list_limit(each) and each not in own]


def get_description(command: App) -> str:
    """Return the docstring of a command without its parameters."""
    doc = inspect.getdoc(command.default_command) or ""
    return doc.partition("\n\nParameters\n")[0].strip()


def list_arguments(command: App) -> list[Any]:
    found = command.assemble_argument_collection(parse_docstring=True)
    return [each for each in found if each.parse and each.show]


def get_group(argument: Any) -> str:
    return next((group.name for group in argument.parameter.group), "")


def format_names(argument: Any) -> str:
    flags = [name for name in argument.names if name.startswith("-")]
    if not flags or argument.index is not None:
        return f"`{argument.name.upper().lstrip('*-')}`"
    return ", ".join(f"`{name}`" for name in flags)


def describe_argument(argument: Any) -> str:
    text = " ".join((argument.parameter.help or "").split())
    choices = argument.get_choices()
    if choices:
        text += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    default = argument.field_info.default
    is_shown = isinstance(default, int | str) and not isinstance(default, bool)
    if is_shown and "Default:" not in text:
        text += f" Default: `{default}`."
    return text.replace("|", "\\|").strip()
