"""Accepts the options of every command before the command as well as after it.

`rota --url http://… jobs list --json` means the same as `rota jobs list --url http://… --json`. The
arguments are reordered before parsing, so each option is declared once, and a command without the
option rejects it as usual.
"""

from collections.abc import Sequence
from typing import Final

from cyclopts import App

from rota.cli.errors import UsageError

WITH_VALUE: Final = ("--url", "--key-file", "--request-timeout")
SWITCHES: Final = ("--json", "--quiet", "-q")


def move_behind_command(words: Sequence[str], program: App) -> list[str]:
    """Return the arguments with the global options moved behind the command."""
    rest, chain, moved = list(words), [], []
    app = program
    while rest:
        word = rest[0]
        if word in SWITCHES or word.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            moved.append(rest.pop(0))
        elif word in WITH_VALUE:
            if len(rest) == 1:
                raise UsageError(f'Option "{word}" requires an argument.')
            moved += rest[:2]
            del rest[:2]
        elif not word.startswith("-") and word in app:
            chain.append(rest.pop(0))
            app = app[word]
        else:
            break
    # Without a command, drop them: the rest is --help, or an unknown command to reject.
    return [*chain, *moved, *rest] if chain else rest
