"""Turns the output of a server or the system into one sentence and one remedy.

The only module that reads PostgreSQL's messages. They are in English because every program runs
with LC_ALL=C. It builds errors; the caller raises them.
"""

import errno
import os
import re
from pathlib import Path

from rota.core.errors import EmbeddedFailed

SHOWN_LINES = 4
SHOWN_CHARACTERS = 600
FULL_DISK_BELOW_BYTES = 8 << 20
# Time and process id, as log_line_prefix writes them.
PREFIX = re.compile(r"^\S+ \S+ \S+ \[\d+\] ")
ERROR_MARKS = ("FATAL:", "PANIC:", "ERROR:", "error:", "HINT:", "DETAIL:")

FREE_DISK = "free some disk space and start again"
FIX_PERMISSIONS = "give its owner read, write and search permission, or choose another home"
USE_OTHER_SERVER = (
    "install PostgreSQL 15 or newer and set database.binaries to its bin folder,"
    " or set ROTA_DATABASE_URL to use an existing server"
)

# (text in the output, meaning, remedy). The first match wins, so causes come before consequences.
KNOWN_FAILURES: tuple[tuple[str, str, str], ...] = (
    ("No space left on device", "the disk is full", FREE_DISK),
    ("Disk quota exceeded", "the disk quota is used up", FREE_DISK),
    ("Read-only file system", "the disk is read-only", "choose a home on a writable disk"),
    ("Address already in use", "the port is in use", "choose another port, or none"),
    (
        "error while loading shared libraries",
        "the PostgreSQL programs need a system library that is missing",
        USE_OTHER_SERVER,
    ),
    ("are incompatible with server", "another PostgreSQL version wrote the data", USE_OTHER_SERVER),
    (
        "unrecognized configuration parameter",
        "this PostgreSQL does not know a setting",
        "correct the name of the setting",
    ),
    ("invalid value for parameter", "a setting has an invalid value", "correct the setting"),
    (
        "could not map anonymous shared memory",
        "there is too little memory for the shared buffers",
        "lower shared_buffers",
    ),
    (
        "could not create shared memory segment",
        "the system allows too little shared memory",
        "raise the system's limits for shared memory",
    ),
    (
        "pre-existing shared memory block",
        "a process of an earlier server still uses the data folder",
        "stop the postgres processes of this home",
    ),
    (
        "has wrong ownership",
        "the data folder belongs to another user",
        "return the home to the user who created it",
    ),
    ("invalid permissions", "other users can access the data folder", "set its mode to 0700"),
    ("Permission denied", "permission denied in the home", FIX_PERMISSIONS),
    ("could not locate a valid checkpoint record", "the data is damaged", "restore a backup"),
    ("invalid checkpoint record", "the data is damaged", "restore a backup"),
)

READ_THE_LOG = "see server.log in the home for details"


def diagnose_output(text: str, *, doing: str, home: Path) -> EmbeddedFailed:
    """Build the error for a program that printed `text` and failed while `doing` something."""
    for sign, meaning, remedy in KNOWN_FAILURES:
        if sign in text:
            shown = relevant_tail(text, sign=sign)
            return EmbeddedFailed(reason=f"{meaning} ({doing}): {shown}", remedy=remedy)
    # A full disk also prevents the server from logging that it is full.
    if is_disk_full(home):
        return EmbeddedFailed(reason=f"the disk of {home} is full ({doing})", remedy=FREE_DISK)
    shown = relevant_tail(text) or "no output"
    return EmbeddedFailed(reason=f"{doing} failed: {shown}", remedy=READ_THE_LOG)


def diagnose_os_error(error: OSError, path: Path) -> EmbeddedFailed:
    """Build the error for a system call that failed on `path`."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return EmbeddedFailed(reason=f"the disk of {path} is full", remedy=FREE_DISK)
        case errno.EACCES | errno.EPERM:
            return EmbeddedFailed(reason=f"permission denied: {error}", remedy=FIX_PERMISSIONS)
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


def diagnose_program(error: OSError, program: Path) -> EmbeddedFailed:
    """Build the error for a program that the system cannot run."""
    match error.errno:
        case errno.ENOEXEC:
            meaning = "is built for another processor or system"
        case errno.ENOENT if program.exists():
            # The file exists: the loader that it names is missing, as on musl (Alpine).
            meaning = "needs a C library that this system does not have"
        case _:
            meaning = f"cannot be run ({error.strerror or error})"
    return EmbeddedFailed(reason=f"{program} {meaning}", remedy=USE_OTHER_SERVER)


def relevant_tail(text: str, *, sign: str | None = None) -> str:
    """Return the last relevant lines, shortened."""
    lines = [PREFIX.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    marks = ERROR_MARKS if sign is None else (*ERROR_MARKS, sign)
    relevant = [line for line in lines if any(mark in line for mark in marks)]
    shown = " | ".join((relevant or lines)[-SHOWN_LINES:])
    return shown if len(shown) <= SHOWN_CHARACTERS else f"…{shown[-SHOWN_CHARACTERS:]}"


def is_disk_full(path: Path) -> bool:
    try:
        disk = os.statvfs(path)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < FULL_DISK_BELOW_BYTES


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
