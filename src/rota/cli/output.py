"""Errors become one line and an exit code, in one place. Room: cli."""

import os
import sys
from typing import Final

from rota.core.errors import (
    EmbeddedFailed,
    InvalidInput,
    NotAllowed,
    NotFound,
    RotaError,
    StoreRefused,
    StoreUnavailable,
    Unauthenticated,
)

# As sysexits.h has them; docs/reference/cli.md tells what each means.
FAILED: Final = 1
USAGE: Final = 64
NOT_FOUND: Final = 66
AWAY: Final = 69
NOT_PERMITTED: Final = 77
CONFIGURATION: Final = 78
INTERRUPTED: Final = 130
# What a shell sees of a program that SIGPIPE ended.
PIPE_CLOSED: Final = 141

EXIT_CODES: Final[dict[type[RotaError], int]] = {
    InvalidInput: USAGE,
    NotFound: NOT_FOUND,
    Unauthenticated: NOT_PERMITTED,
    NotAllowed: NOT_PERMITTED,
    StoreRefused: CONFIGURATION,
    EmbeddedFailed: AWAY,
    StoreUnavailable: AWAY,
}
# Answers of the API. What is neither is the caller's mistake below 500, and else the server's.
STATUS_CODES: Final = {
    401: NOT_PERMITTED,
    403: NOT_PERMITTED,
    404: NOT_FOUND,
    409: FAILED,
    412: FAILED,
    429: AWAY,
}
SERVER_FAILED: Final = 500
UNAUTHENTICATED: Final = 401


def exit_code(error: RotaError) -> int:
    from rota.sdk.client.errors import (  # noqa: PLC0415 - see `sentence`
        ApiError,
        Unreachable,
        Unreadable,
    )

    if isinstance(error, ApiError):
        usual = AWAY if error.status >= SERVER_FAILED else USAGE
        return STATUS_CODES.get(error.status, usual)
    if isinstance(error, Unreachable | Unreadable):
        return AWAY
    return next((EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES), FAILED)


def refuse(error: RotaError) -> int:
    """Say what is wrong, without a traceback, and return the exit code."""
    print(f"rota: {sentence(error)}", file=sys.stderr)
    return exit_code(error)


def sentence(error: RotaError) -> str:
    """As the error says it, with the words of the command line for what to do."""
    # Imported when something is wrong: the HTTP library would double the time of `rota --help`.
    from rota.sdk.client.errors import ApiError, Unreachable  # noqa: PLC0415

    if isinstance(error, Unreachable):
        return error.describe("--url")
    if isinstance(error, ApiError) and error.has_no_key and error.hint:
        return error.hint.replace("key=", "--key-file")
    if isinstance(error, ApiError) and error.status == UNAUTHENTICATED:
        where = "--key-file or ROTA_API_KEY gives another, and .rota/admin.key is the first one"
        return f"{error.detail or 'a valid API key is needed'}; {error.hint}; {where}"
    return " ".join(str(error).split())


def misused(message: str, command: str) -> int:
    """Arguments that no command understands."""
    print(f"rota: {' '.join(message.split())} See `{command} --help`.", file=sys.stderr)
    return USAGE


def pipe_closed() -> int:
    """Whoever read our output has seen enough; the interpreter must not try to write the rest."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def say(message: str) -> None:
    print(message, flush=True)


def write_log(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()
