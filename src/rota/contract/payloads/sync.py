"""Defines the payload of a job of kind `sync`.

{"from": "photos:/2026", "to": "backup:/photos/2026", "mode": "mirror", "compare": "checksum",
 "include": ["**/*.jpg"], "exclude": ["**/.cache/**"], "dry_run": false, "max_delete": 100,
 "allow_empty": false, "parallel": 4}
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED_KEY

PATTERNS_MAX: Final = 100
PATTERN_CHARACTERS_MAX: Final = 500
DELETIONS_MAX: Final = 1_000_000_000
DELETIONS_DEFAULT: Final = 100
PARALLEL_MAX: Final = 16
PARALLEL_DEFAULT: Final = 4

_PLACE_ALLOWED: Final = {ALLOWED_KEY: "a place and a path in it, such as photos:/2026"}
Patterns = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=PATTERN_CHARACTERS_MAX)]],
    Meta(
        max_length=PATTERNS_MAX,
        extra={ALLOWED_KEY: f'a list of at most {PATTERNS_MAX} patterns such as "**/*.jpg"'},
    ),
]


class SyncPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    from_: Annotated[
        str, Meta(description="Folder to copy from, as place:/folder.", extra=_PLACE_ALLOWED)
    ] = msgspec.field(name="from")
    to: Annotated[
        str, Meta(description="Folder to copy to, as place:/folder.", extra=_PLACE_ALLOWED)
    ]
    mode: Annotated[
        Literal["copy", "mirror"],
        Meta(
            description="`mirror` also deletes files that the source does not have. Default: copy."
        ),
    ] = "copy"
    compare: Annotated[
        Literal["size_time", "checksum"],
        Meta(
            description="How to detect changed files: by size and time, or by checksum. "
            "Default: size_time.",
        ),
    ] = "size_time"
    include: Annotated[
        Patterns,
        Meta(description="Patterns of files to copy, such as **/*.jpg. Default: all files."),
    ] = []
    exclude: Annotated[
        Patterns, Meta(description="Patterns of files to leave out. Default: none.")
    ] = []
    dry_run: Annotated[
        bool, Meta(description="Only report what would be done. Default: false.")
    ] = False
    max_delete: Annotated[
        int,
        Meta(
            ge=0,
            le=DELETIONS_MAX,
            description=(
                "Maximum number of files a mirror deletes; if more, it fails and deletes none. "
                f"Default: {DELETIONS_DEFAULT}."
            ),
        ),
    ] = DELETIONS_DEFAULT
    allow_empty: Annotated[
        bool,
        Meta(description="Allow a mirror of a source without files. Default: false."),
    ] = False
    parallel: Annotated[
        int,
        Meta(
            ge=1,
            le=PARALLEL_MAX,
            description=f"Files copied at the same time. Default: {PARALLEL_DEFAULT}.",
        ),
    ] = PARALLEL_DEFAULT
