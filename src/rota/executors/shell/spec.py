"""Checks what a worker allows in the payload of a shell job. Room: executors/shell.

The fields are those of `ShellPayload`. Whether the program exists is seen when it is started.
"""

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from rota.contract.payloads.reading import read_payload
from rota.contract.payloads.shell import ShellPayload
from rota.core.errors import InvalidInput

ANY_PROGRAM = "*"
MOST_BYTES = 32 * 1024
MOST_STDIN = 256 * 1024

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
# With these a payload could have an allowed program load code of the payload's choice.
LOADER = re.compile(r"LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|ROTA_", re.ASCII)


def read_command(payload: object, *, allow: Collection[str]) -> ShellPayload:
    """Read a payload whose texts hold no NUL and can be encoded, for an allowed program."""
    command = read_payload(ShellPayload, payload, example='{"argv": ["/bin/true"]}')
    _check_program(command.argv, allow)
    _check_variables(command.env)
    if command.cwd is not None:
        _check_text(command.cwd, "cwd")
        if not PurePosixPath(command.cwd).is_absolute():
            raise InvalidInput("cwd", command.cwd, "an absolute path; default: a new folder")
    if command.stdin is not None:
        if not _is_encodable(command.stdin):
            raise InvalidInput("stdin", command.stdin, "text that UTF-8 can hold")
        if len(command.stdin.encode()) > MOST_STDIN:
            raise InvalidInput("stdin", command.stdin, f"a text of at most {MOST_STDIN} bytes")
    return command


def _check_program(argv: list[str], allow: Collection[str]) -> None:
    for place, word in enumerate(argv):
        _check_text(word, f"argv[{place}]")
    if sum(len(word.encode()) + 1 for word in argv) > MOST_BYTES:
        raise InvalidInput("argv", argv, f"at most {MOST_BYTES} bytes; longer input goes to stdin")
    program = argv[0]
    if not PurePosixPath(program).is_absolute():
        raise InvalidInput("argv[0]", program, "the absolute path of a program")
    # Compared as written: `/bin/../bin/sh` is not `/bin/sh`, and no link is followed.
    if program not in allow and ANY_PROGRAM not in allow:
        raise InvalidInput("argv[0]", program, "a program that the operator of this worker allows")


def _check_variables(env: dict[str, str]) -> None:
    for name, text in env.items():
        if VARIABLE.fullmatch(name) is None:
            raise InvalidInput("env", name, "names of letters, digits and _")
        if LOADER.match(name):
            raise InvalidInput("env", name, "a name that neither the loader nor Rota uses")
        _check_text(text, f"env.{name}")
    if sum(len(name) + len(text.encode()) + 2 for name, text in env.items()) > MOST_BYTES:
        raise InvalidInput("env", sorted(env), f"at most {MOST_BYTES} bytes in all")


def _check_text(text: str, field: str) -> None:
    if "\0" in text or not _is_encodable(text):
        raise InvalidInput(field, text, "a text without NUL that UTF-8 can hold")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
