"""Questions before something is done that cannot be undone, and values that must not be seen.

Room: cli. Who is not at a terminal is not asked: a script says `--yes`.
"""

import getpass
import sys

from rota.cli.errors import Misused
from rota.core.errors import InvalidInput


def confirm(question: str, *, yes: bool) -> bool:
    """Whether to go on. The question goes to standard error, as the output may be read."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise Misused(f"{question} Standard input is not a terminal: pass --yes to confirm")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer in {"y", "yes"}:
        return True
    print("nothing was done", file=sys.stderr)
    return False


def secret(prompt: str) -> str:
    """A value from standard input, or typed without being shown; never an argument."""
    if sys.stdin.isatty():
        value = getpass.getpass(prompt)
    else:
        try:
            # One line break at the end is the shell's and no part of the value.
            value = sys.stdin.read().removesuffix("\n")
        except UnicodeDecodeError:
            raise InvalidInput("value", "bytes", "text in UTF-8 on standard input") from None
    if not value:
        raise InvalidInput("value", "", "a value on standard input, or typed at the prompt")
    return value
