"""Defines the interface of a file tree: folder, object store or SFTP server.

Paths are relative to the job's folder, with slashes, decoded with `os.fsdecode`, so that bytes that
are not UTF-8 survive. Trees translate the exceptions of their libraries into the four errors below,
none of which shows a secret.
"""

import errno
import hashlib
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from uuid import UUID

CHUNK_BYTES = 1024 * 1024
# Files per batch of a listing.
LISTING_BATCH_FILES = 1000
SECOND_NS = 1_000_000_000
TEMPORARY_PREFIX = ".rota-sync-"
LEFTOVERS_MAX = 1000


class SyncBroken(Exception):
    """The attempt cannot continue; `final` if a retry cannot help."""

    def __init__(self, type_: str, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.type = type_
        self.final = final


class FileFailure(Exception):
    """One file or folder failed; the attempt continues with the others."""


class FileMissing(Exception):
    """The file no longer exists."""


class FileChanged(Exception):
    """The file changed while it was read."""


class TreeEntry(NamedTuple):
    """A file of a listing; `mtime` in nanoseconds, None if the listing does not contain it."""

    path: str
    size: int
    mtime: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """The attributes of one file. `mtime` has a resolution of `grain` nanoseconds.

    `is_arrival` means that `mtime` is only the time at which an object store received the file.
    """

    size: int
    mtime: int
    grain: int = 1
    is_arrival: bool = False
    sha256: str | None = None


class FileReader(Protocol):
    """A file that is open for reading."""

    @property
    def facts(self) -> FileFacts: ...
    def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the content. Raises `FileChanged` after the last chunk if the file has changed."""


class FileDelivery(Protocol):
    """A file to write into a tree, and what must have arrived."""

    @property
    def facts(self) -> FileFacts:
        """Attributes of the source; with a checksum if it is needed and the tree stores it."""
        ...

    @property
    def sent(self) -> int:
        """Number of bytes sent so far."""
        ...

    @property
    def sha256(self) -> str | None:
        """Checksum of all bytes, once they are sent; None if it is not compared."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]: ...


class FileTree(Protocol):
    """The files below one location."""

    @property
    def shown(self) -> str:
        """The location, as the job wrote it."""
        ...

    @property
    def nests(self) -> bool:
        """Whether a file and a folder of the same name exclude each other."""
        ...

    @property
    def grain(self) -> int:
        """Resolution of its times, in nanoseconds."""
        ...

    @property
    def stores_sha256(self) -> bool:
        """Whether it stores a checksum with a file, which it needs before the upload."""
        ...

    @property
    def seen(self) -> "ListingReport":
        """What the listing found besides files."""
        ...

    async def open(self, *, make: bool) -> bool:
        """Connect and return whether the folder exists; with `make`, create a missing folder."""

    async def close(self) -> None: ...
    def files(self) -> AsyncGenerator[list[TreeEntry], None]:
        """Yield all files in batches, in any order."""

    async def facts(self, path: str) -> FileFacts: ...
    def read(self, path: str) -> AbstractAsyncContextManager[FileReader]: ...
    async def write(self, path: str, delivery: FileDelivery) -> None:
        """Write the file atomically: completely or not at all."""

    async def delete(self, path: str) -> None:
        """Delete a file, and the folders that become empty. Ignores a missing file."""


@dataclass(slots=True)
class ListingReport:
    links: int = 0
    specials: int = 0
    # Folders that could not be listed, with the reason. Their content is unknown, so nothing is
    # deleted.
    unlisted: list[tuple[str, str]] = field(default_factory=list)
    # Temporary files of attempts that have ended.
    leftovers: list[str] = field(default_factory=list)

    def add_leftover(self, path: str) -> None:
        if len(self.leftovers) < LEFTOVERS_MAX:
            self.leftovers.append(path)


@dataclass(slots=True)
class TemporaryNames:
    """Generates names of temporary files, short enough for file systems with short names.

    They contain the run and the attempt, so that an attempt can tell leftovers of earlier attempts
    from files that another run is writing.
    """

    run_id: UUID
    attempt: int
    _count: int = 0

    def next(self) -> str:
        self._count += 1
        return f"{TEMPORARY_PREFIX}{self.run_id.hex}-{self.attempt}-{self._count}"

    def is_leftover(self, name: str, age: float) -> bool:
        """Return whether it is a leftover: of an earlier attempt, or unchanged for a day."""
        run, _, rest = name.removeprefix(TEMPORARY_PREFIX).partition("-")
        attempt = rest.partition("-")[0]
        if run == self.run_id.hex and attempt.isdigit():
            return int(attempt) < self.attempt
        return age > 86_400


def new_sha256() -> "hashlib._Hash":
    return hashlib.sha256()


def split_path(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def is_safe_path(path: str) -> bool:
    """Return whether a path only leads downwards, without empty names, `.` and `..`."""
    return "\0" not in path and not any(name in {"", ".", ".."} for name in path.split("/"))


def join_path(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def printable(path: str) -> str:
    """Return a path as one printable line of UTF-8."""
    text = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


# Errors that every further file would meet as well.
FATAL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE})
