"""Defines the payload of a job of kind `shell`.

    {"argv": ["/usr/bin/rsync", "-a", "from/", "to/"], "env": {"RSYNC_RSH": "ssh"},
     "cwd": "/srv/data", "stdin": "…", "ok_codes": [0, 24]}

No field accepts a command line: Rota does not split or expand arguments, and starts no shell.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

ARGUMENTS_MAX: Final = 64
VARIABLES_MAX: Final = 64
CWD_CHARACTERS_MAX: Final = 4096
EXIT_CODE_MAX: Final = 255


class ShellPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    argv: Annotated[
        list[str],
        Meta(
            min_length=1,
            max_length=ARGUMENTS_MAX,
            description="Absolute path of the program, then its arguments. No shell is involved.",
        ),
    ]
    env: Annotated[
        dict[str, str],
        Meta(
            max_length=VARIABLES_MAX,
            description="Environment variables of the program. Default: only Rota's own.",
        ),
    ] = {}
    cwd: Annotated[
        Annotated[str, Meta(max_length=CWD_CHARACTERS_MAX)] | None,
        Meta(
            description=(
                "Absolute path of the working directory. "
                "Default: a new directory that is removed when the run ends."
            ),
        ),
    ] = None
    stdin: Annotated[
        str | None, Meta(description="Text for the program's standard input. Default: none.")
    ] = None
    ok_codes: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=EXIT_CODE_MAX)], ...],
        Meta(
            min_length=1,
            max_length=EXIT_CODE_MAX + 1,
            description="Exit codes that count as success. Default: 0.",
        ),
    ] = (0,)
