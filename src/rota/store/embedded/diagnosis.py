"""Turns what a server or the system said into one sentence and one remedy. Room: store/embedded.

The only place that reads PostgreSQL's messages. They are in English because every program of ours
runs with LC_ALL=C. Raises nothing: it makes the error, the caller raises it.
"""

import errno
import os
import re
from pathlib import Path

from rota.core.errors import EmbeddedFailed

SHOWN_LINES = 4
SHOWN_CHARACTERS = 600
FULL_BELOW = 8 << 20
# When and who, as log_line_prefix writes it.
PREFIX = re.compile(r"^\S+ \S+ \S+ \[\d+\] ")
LOUD = ("FATAL:", "PANIC:", "ERROR:", "error:", "HINT:", "DETAIL:")

FREE_DISK = "free some disk space and start again"
OWN_HOME = "give its owner read, write and search permission, or choose another home"
OTHER_SERVER = (
    "install a PostgreSQL of version 15 or later and name its bin folder,"
    " or use a server through ROTA_DATABASE_URL"
)

# What is said → (what it means, what to do). The first that fits wins, so causes stand before
# their consequences.
SIGNS: tuple[tuple[str, str, str], ...] = (
    ("No space left on device", "the disk is full", FREE_DISK),
    ("Disk quota exceeded", "the disk quota is used up", FREE_DISK),
    ("Read-only file system", "the disk is read-only", "choose a home on a writable disk"),
    ("Address already in use", "the port is taken", "choose another port, or none"),
    (
        "error while loading shared libraries",
        "the PostgreSQL programs lack a library of the system",
        OTHER_SERVER,
    ),
    ("are incompatible with server", "the data was written by another PostgreSQL", OTHER_SERVER),
    (
        "unrecognized configuration parameter",
        "a setting is not known to this PostgreSQL",
        "correct the name of the setting",
    ),
    ("invalid value for parameter", "a setting has a wrong value", "correct the setting"),
    (
        "could not map anonymous shared memory",
        "there is too little memory for the shared buffers",
        "set shared_buffers lower",
    ),
    (
        "could not create shared memory segment",
        "the system allows too little shared memory",
        "raise the system's limits for shared memory",
    ),
    (
        "pre-existing shared memory block",
        "a process of an earlier server is still alive in the data folder",
        "end the postgres processes of this home",
    ),
    (
        "has wrong ownership",
        "the data folder belongs to another user",
        "give the home back to the user who made it",
    ),
    ("invalid permissions", "the data folder is open to others", "give it the mode 0700"),
    ("Permission denied", "permission denied in the home", OWN_HOME),
    ("could not locate a valid checkpoint record", "the data is damaged", "restore a backup"),
    ("invalid checkpoint record", "the data is damaged", "restore a backup"),
)

READ_THE_LOG = "read the whole story in server.log in the home"


def of_output(text: str, *, doing: str, home: Path) -> EmbeddedFailed:
    """Make the error for a program that said `text` and failed while `doing` something."""
    for sign, meaning, remedy in SIGNS:
        if sign in text:
            shown = tail(text, sign=sign)
            return EmbeddedFailed(reason=f"{meaning} ({doing}): {shown}", remedy=remedy)
    # A full disk also keeps the server from saying so in its log.
    if is_full(home):
        return EmbeddedFailed(reason=f"the disk of {home} is full ({doing})", remedy=FREE_DISK)
    said = tail(text) or "it said nothing"
    return EmbeddedFailed(reason=f"{doing} failed: {said}", remedy=READ_THE_LOG)


def of_os_error(error: OSError, path: Path) -> EmbeddedFailed:
    """Make the error for a system call that failed on `path`."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return EmbeddedFailed(reason=f"the disk of {path} is full", remedy=FREE_DISK)
        case errno.EACCES | errno.EPERM:
            return EmbeddedFailed(reason=f"permission denied: {error}", remedy=OWN_HOME)
        case errno.EROFS:
            return EmbeddedFailed(
                reason=f"the disk of {path} is read-only", remedy="choose a home on a writable disk"
            )
        case errno.ENOTDIR | errno.EEXIST:
            return EmbeddedFailed(
                reason=f"{path} is not a folder", remedy="choose a folder as the home"
            )
        case errno.ENAMETOOLONG:
            return EmbeddedFailed(reason=f"{error}", remedy="choose a home with a shorter path")
        case _:
            return EmbeddedFailed(reason=f"{error}", remedy=READ_THE_LOG)


def of_unusable_program(error: OSError, program: Path) -> EmbeddedFailed:
    """Make the error for a program that the system cannot even begin to run."""
    match error.errno:
        case errno.ENOEXEC:
            meaning = "is made for another kind of processor or system"
        case errno.ENOENT if program.exists():
            # The file is there: what is missing is the loader it names, as on musl (Alpine).
            meaning = "needs a C library that this system does not have"
        case _:
            meaning = f"cannot be run ({error.strerror or error})"
    return EmbeddedFailed(reason=f"{program} {meaning}", remedy=OTHER_SERVER)


def tail(text: str, *, sign: str | None = None) -> str:
    """Pick the last lines that matter and cut them short."""
    lines = [PREFIX.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    marks = LOUD if sign is None else (*LOUD, sign)
    telling = [line for line in lines if any(mark in line for mark in marks)]
    shown = " | ".join((telling or lines)[-SHOWN_LINES:])
    return shown if len(shown) <= SHOWN_CHARACTERS else f"…{shown[-SHOWN_CHARACTERS:]}"


def is_full(path: Path) -> bool:
    try:
        disk = os.statvfs(path)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < FULL_BELOW


def is_port_taken(text: str) -> bool:
    return "Address already in use" in text


def is_short_of_memory(text: str) -> bool:
    return any(
        sign in text
        for sign in (
            "could not map anonymous shared memory",
            "could not create shared memory segment",
        )
    )
