"""Errors become one line and an exit code, in one place. Room: cli."""

import sys
from typing import Final

from rota.core.errors import (
    EmbeddedFailed,
    InvalidInput,
    RotaError,
    StoreRefused,
    StoreUnavailable,
)

# As sysexits.h has them: wrong usage, wrong configuration, a service that is away.
EXIT_CODES: Final[dict[type[RotaError], int]] = {
    InvalidInput: 64,
    StoreRefused: 78,
    EmbeddedFailed: 69,
    StoreUnavailable: 69,
}


def exit_code(error: RotaError) -> int:
    return next((EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES), 1)


def refuse(error: RotaError) -> int:
    """Say what is wrong, without a traceback, and return the exit code."""
    print(f"rota: {error}", file=sys.stderr)
    return exit_code(error)


def say(message: str) -> None:
    print(message, flush=True)


def write_log(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()
