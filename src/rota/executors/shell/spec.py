"""Parses the payload of a shell job and checks it against the programs that the worker allows.

`ShellPayload` defines the fields. Whether the program exists turns out when it is started.
"""

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from rota.contract.payloads.reader import read_payload
from rota.contract.payloads.shell import ShellPayload
from rota.core.errors import InvalidInput

ANY_PROGRAM = "*"
ARGUMENTS_MAX_BYTES = 32 * 1024
STDIN_MAX_BYTES = 256 * 1024

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
# Variables with which a payload could make an allowed program load other code.
RESERVED_VARIABLES = re.compile(r"LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|ROTA_", re.ASCII)


def read_command(payload: object, *, allow: Collection[str]) -> ShellPayload:
    """Parse a payload; refuse programs that are not allowed and texts that cannot be encoded."""
    command = read_payload(ShellPayload, payload, example='{"argv": ["/bin/true"]}')
    _check_program(command.argv, allow)
    _check_variables(command.env)
    if command.cwd is not None:
        _check_text(command.cwd, "cwd")
        if not PurePosixPath(command.cwd).is_absolute():
            wanted = "expected an absolute path. Default: a new folder"
            raise InvalidInput("cwd", command.cwd, wanted)
    if command.stdin is not None:
        if not _is_encodable(command.stdin):
            raise InvalidInput("stdin", command.stdin, "must be encodable as UTF-8")
        if len(command.stdin.encode()) > STDIN_MAX_BYTES:
            raise InvalidInput("stdin", command.stdin, f"must be at most {STDIN_MAX_BYTES} bytes")
    return command


def _check_program(argv: list[str], allow: Collection[str]) -> None:
    for index, word in enumerate(argv):
        _check_text(word, f"argv[{index}]")
    if sum(len(word.encode()) + 1 for word in argv) > ARGUMENTS_MAX_BYTES:
        wanted = (
            f"must be at most {ARGUMENTS_MAX_BYTES} bytes in total; pass longer input through stdin"
        )
        raise InvalidInput("argv", argv, wanted)
    program = argv[0]
    if not PurePosixPath(program).is_absolute():
        raise InvalidInput("argv[0]", program, "expected the absolute path of a program")
    # Compared as text: `/bin/../bin/sh` differs from `/bin/sh`, and links are not followed.
    if program not in allow and ANY_PROGRAM not in allow:
        wanted = "this worker does not allow the program; the operator adds it to shell_allow"
        raise InvalidInput("argv[0]", program, wanted)


def _check_variables(env: dict[str, str]) -> None:
    for name, text in env.items():
        if VARIABLE_NAME.fullmatch(name) is None:
            raise InvalidInput("env", name, "expected a name of letters, digits and _")
        if RESERVED_VARIABLES.match(name):
            raise InvalidInput("env", name, "reserved for the dynamic loader or Rota; remove it")
        _check_text(text, f"env.{name}")
    if sum(len(name) + len(text.encode()) + 2 for name, text in env.items()) > ARGUMENTS_MAX_BYTES:
        wanted = f"all variables together must be at most {ARGUMENTS_MAX_BYTES} bytes"
        raise InvalidInput("env", sorted(env), wanted)


def _check_text(text: str, field: str) -> None:
    if "\0" in text or not _is_encodable(text):
        raise InvalidInput(field, text, "must be encodable as UTF-8, without NUL")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
