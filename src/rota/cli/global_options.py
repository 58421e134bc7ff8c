"""Options that every command takes may also stand before the command. Room: cli.

`rota --url http://… jobs list --json` means the same as `rota jobs list --url http://… --json`. The
words are put in order before the command is parsed, so there is one place that declares each option
and a command without it refuses it as usual.
"""

from collections.abc import Sequence
from typing import Final

from cyclopts import App

from rota.cli.errors import Misused

WITH_VALUE: Final = ("--url", "--key-file", "--timeout")
SWITCHES: Final = ("--json", "--quiet", "-q")


def move_behind_command(words: Sequence[str], program: App) -> list[str]:
    """The same words, with the global options that stand before or within the command after it."""
    rest, chain, moved = list(words), [], []
    app = program
    while rest:
        word = rest[0]
        if word in SWITCHES or word.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            moved.append(rest.pop(0))
        elif word in WITH_VALUE:
            if len(rest) == 1:
                raise Misused(f'Option "{word}" requires an argument.')
            moved += rest[:2]
            del rest[:2]
        elif not word.startswith("-") and word in app:
            chain.append(rest.pop(0))
            app = app[word]
        else:
            break
    # Without a command there is nothing that could take them: the help, or a word to refuse.
    return [*chain, *moved, *rest] if chain else rest
