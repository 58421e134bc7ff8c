"""What the payload of a shell job may say. Room: executors/shell.

    {"argv": ["/usr/bin/rsync", "-a", "from/", "to/"], "env": {"RSYNC_RSH": "ssh"},
     "cwd": "/srv/data", "stdin": "…", "ok_codes": [0, 24]}

Only reads and refuses; whether the program exists is seen when it is started. There is no field for
a command line: nothing here is ever split, expanded or given to a shell.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from rota.core.errors import InvalidInput

KNOWN = ("argv", "env", "cwd", "stdin", "ok_codes")
ANY_PROGRAM = "*"
MOST_ARGUMENTS = 64
MOST_VARIABLES = 64
MOST_BYTES = 32 * 1024
MOST_STDIN = 256 * 1024
LONGEST_PATH = 4096
HIGHEST_CODE = 255

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
# With these a payload could have an allowed program load code of the payload's choice.
LOADER = re.compile(r"LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|ROTA_", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to start; the strings hold no NUL and can be encoded."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    stdin: str | None
    ok_codes: frozenset[int]


def read_command(payload: object, *, allow: Collection[str]) -> Command:
    if not isinstance(payload, Mapping):
        raise InvalidInput("payload", payload, 'an object such as {"argv": ["/bin/true"]}')
    for key in payload:
        if key not in KNOWN:
            raise InvalidInput(f"payload.{key}", payload[key], f"one of {', '.join(KNOWN)}")
    return Command(
        argv=_argv(payload.get("argv"), allow),
        env=_env(payload.get("env")),
        cwd=_cwd(payload.get("cwd")),
        stdin=_stdin(payload.get("stdin")),
        ok_codes=_ok_codes(payload.get("ok_codes")),
    )


def _argv(value: object, allow: Collection[str]) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_ARGUMENTS:
        raise InvalidInput("argv", value, f"a list of 1 to {MOST_ARGUMENTS} texts")
    words = tuple(_text(word, f"argv[{place}]") for place, word in enumerate(value))
    if sum(len(word.encode()) + 1 for word in words) > MOST_BYTES:
        raise InvalidInput("argv", value, f"at most {MOST_BYTES} bytes; longer input goes to stdin")
    program = words[0]
    if not PurePosixPath(program).is_absolute():
        raise InvalidInput("argv[0]", program, "the absolute path of a program")
    # Compared as written: `/bin/../bin/sh` is not `/bin/sh`, and no link is followed.
    if program not in allow and ANY_PROGRAM not in allow:
        raise InvalidInput("argv[0]", program, "a program that the operator of this worker allows")
    return words


def _env(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MOST_VARIABLES:
        raise InvalidInput("env", value, f"an object of at most {MOST_VARIABLES} texts")
    for name in value:
        if not isinstance(name, str) or VARIABLE.fullmatch(name) is None:
            raise InvalidInput("env", name, "names of letters, digits and _")
        if LOADER.match(name):
            raise InvalidInput("env", name, "a name that neither the loader nor Rota uses")
    read = {name: _text(text, f"env.{name}") for name, text in value.items()}
    if sum(len(name) + len(text.encode()) + 2 for name, text in read.items()) > MOST_BYTES:
        raise InvalidInput("env", sorted(read), f"at most {MOST_BYTES} bytes in all")
    return read


def _cwd(value: object) -> str | None:
    if value is None:
        return None
    path = _text(value, "cwd")
    if not PurePosixPath(path).is_absolute() or len(path) > LONGEST_PATH:
        raise InvalidInput("cwd", path, "an absolute path, or nothing for a folder of its own")
    return path


def _stdin(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value.encode(errors="replace")) > MOST_STDIN:
        raise InvalidInput("stdin", value, f"a text of at most {MOST_STDIN} bytes")
    if not _encodable(value):
        raise InvalidInput("stdin", value, "text that UTF-8 can hold")
    return value


def _ok_codes(value: object) -> frozenset[int]:
    if value is None:
        return frozenset({0})
    if (
        not isinstance(value, list | tuple)
        or not 1 <= len(value) <= HIGHEST_CODE + 1
        or not all(type(code) is int and 0 <= code <= HIGHEST_CODE for code in value)
    ):
        raise InvalidInput("ok_codes", value, f"a list of exit codes from 0 to {HIGHEST_CODE}")
    return frozenset(value)


def _text(value: object, field: str) -> str:
    if not isinstance(value, str) or "\0" in value or not _encodable(value):
        raise InvalidInput(field, value, "a text without NUL that UTF-8 can hold")
    return value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
