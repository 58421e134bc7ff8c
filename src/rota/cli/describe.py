"""The reference page of the commands, made from the commands themselves. Room: cli.

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
Jobs are named by their names or ids, runs by their ids or the beginnings of them, as far as only
one of the newest 1,000 runs begins so. Where a time is asked for, `2h` means two hours ago. `rota
COMMAND --help` shows what is on this page, and [the how-to](../howto/cli.md) how it is used.

## Exit codes

| Code | Means |
|---|---|
| 0 | all is well; of `watch`: every run succeeded |
| 1 | the thing failed: a run that was watched did not succeed, something conflicts, `doctor` \
found something bad, or a question was answered with no |
| 64 | the arguments, or what they say, are not accepted |
| 66 | there is no such job, run, queue … |
| 69 | the API or the database is away, or asks to come back later |
| 77 | the key is missing, is not valid, or its role does not allow it |
| 78 | the database cannot be used as it is |
| 130 | Ctrl-C |
| 141 | whoever read the output has closed it, as `head` does |

A mistake is told in one line on standard error. Tables and JSON go to standard output.

## Options of all commands that talk to the API

| Option | Meaning |
|---|---|
"""
SHARED: Final = (CONNECTION.name, OUTPUT.name)
NOTES: Final = """
`--json` prints what the API answers, as it is: an object, or for a list an array. A command that is
given several things prints an object for each. What is followed (`runs logs`, `feed`) is one
object a line. `--quiet` prints ids only: names where things have no other id, and of a new key the
key.
"""


def cli_markdown() -> str:
    """The whole page, newline at the end."""
    shared = "".join(f"| {names_of(each)} | {meaning(each)} |\n" for each in shared_options())
    return INTRODUCTION + shared + NOTES + "".join(part(command) for command in COMMANDS)


def shared_options() -> Iterator[Any]:
    for each in arguments(app["jobs"]["list"]):
        if group_of(each) in SHARED and not is_number(each):
            yield each


def is_number(argument: Any) -> bool:
    """How many of a list: beside the shared options in the help, and no option of all commands."""
    return bool({"--limit", "--all"}.intersection(argument.names))


def part(command: Command) -> str:
    """A command, or a noun with its commands."""
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
    """Those of this command; one that does not talk to the API has no others."""
    found = arguments(command)
    if not any(group_of(each) == CONNECTION.name for each in found):
        return found
    own = [each for each in found if group_of(each) not in SHARED]
    return own + [each for each in found if is_number(each) and each not in own]


def told(command: App) -> str:
    """What it does: the docstring without its parameters."""
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
    said = " ".join((argument.parameter.help or "").split())
    choices = argument.get_choices()
    if choices:
        said += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    default = argument.field_info.default
    if isinstance(default, int | str) and not isinstance(default, bool):
        said += f" Usually `{default}`."
    return said.replace("|", "\\|").strip()
