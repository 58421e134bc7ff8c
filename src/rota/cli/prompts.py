"""Asks for confirmation before destructive commands, and reads secret values.

It asks only at a terminal. Elsewhere the caller must pass `--yes`.
"""

import getpass
import sys

from rota.cli.errors import UsageError
from rota.core.errors import InvalidInput


def confirm(question: str, *, yes: bool) -> bool:
    """Return whether to go on. Asks on standard error, because a program may read the output."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Standard input is not a terminal: pass --yes to confirm")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer in {"y", "yes"}:
        return True
    print("Cancelled; nothing was changed", file=sys.stderr)
    return False


def read_secret(prompt: str) -> str:
    """Read a value from standard input, or from a prompt that does not echo; never an argument."""
    if sys.stdin.isatty():
        value = getpass.getpass(prompt)
    else:
        try:
            # The shell adds one line break at the end; it is not part of the value.
            value = sys.stdin.read().removesuffix("\n")
        except UnicodeDecodeError:
            raise InvalidInput("value", "bytes", "expected UTF-8 text on standard input") from None
    if not value:
        raise InvalidInput("value", "", "expected a value on standard input or at the prompt")
    return value
