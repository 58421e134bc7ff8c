"""Turns errors into one line and an exit code, in one place."""

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

# The codes of sysexits.h; docs/reference/cli.md explains them.
FAILED: Final = 1
USAGE: Final = 64
NOT_FOUND: Final = 66
UNREACHABLE: Final = 69
NOT_PERMITTED: Final = 77
CONFIGURATION: Final = 78
INTERRUPTED: Final = 130
# 128 + SIGPIPE, as a shell reports it.
PIPE_CLOSED: Final = 141

EXIT_CODES: Final[dict[type[RotaError], int]] = {
    InvalidInput: USAGE,
    NotFound: NOT_FOUND,
    Unauthenticated: NOT_PERMITTED,
    NotAllowed: NOT_PERMITTED,
    StoreRefused: CONFIGURATION,
    EmbeddedFailed: UNREACHABLE,
    StoreUnavailable: UNREACHABLE,
}
# HTTP statuses of the API. Any other status below 500 is a usage error, the rest are server errors.
STATUS_CODES: Final = {
    401: NOT_PERMITTED,
    403: NOT_PERMITTED,
    404: NOT_FOUND,
    409: FAILED,
    412: FAILED,
    429: UNREACHABLE,
}
SERVER_FAILED: Final = 500
UNAUTHENTICATED: Final = 401


def get_exit_code(error: RotaError) -> int:
    from rota.sdk.client.errors import (  # noqa: PLC0415 - see `sentence`
        ApiError,
        Unreachable,
        Unreadable,
    )

    if isinstance(error, ApiError):
        default = UNREACHABLE if error.status >= SERVER_FAILED else USAGE
        return STATUS_CODES.get(error.status, default)
    if isinstance(error, Unreachable | Unreadable):
        return UNREACHABLE
    return next((EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES), FAILED)


def print_error(error: RotaError) -> int:
    """Print the error in one line, without a traceback, and return the exit code."""
    print(f"rota: {describe_error(error)}", file=sys.stderr)
    return get_exit_code(error)


def describe_error(error: RotaError) -> str:
    """Return the message of an error, with command-line options as remedies."""
    # Imported only here: the HTTP library would double the time of `rota --help`.
    from rota.sdk.client.errors import ApiError, Unreachable  # noqa: PLC0415

    if isinstance(error, Unreachable):
        return error.describe("--url")
    if isinstance(error, ApiError) and error.has_no_key and error.hint:
        return error.hint.replace("key=", "--key-file")
    if isinstance(error, ApiError) and error.status == UNAUTHENTICATED:
        remedy = "set another key with --key-file or ROTA_API_KEY, or use .rota/admin.key"
        return f"{error.detail or 'a valid API key is required'}; {error.hint}; {remedy}"
    return " ".join(str(error).split())


def print_usage_error(message: str, command: str) -> int:
    """Print a usage error and return the exit code."""
    print(f"rota: {' '.join(message.split())} See `{command} --help`.", file=sys.stderr)
    return USAGE


def discard_output() -> int:
    """Discard the rest of the output: its reader has closed the pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def print_message(message: str) -> None:
    print(message, flush=True)


def write_log(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()
