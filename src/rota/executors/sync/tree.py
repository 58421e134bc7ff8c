"""What a place must be able to do, whatever it is made of. Room: executors/sync.

Paths are relative to what the job names, with slashes, as `os.fsdecode` makes them: bytes that are
no UTF-8 survive the way from one folder to another. Trees translate what their libraries raise into
the four errors below; nothing else tells a caller what happened, and none of them shows a secret.
"""

import errno
import hashlib
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from uuid import UUID

CHUNK = 1024 * 1024
# Listings hand over so many files at once.
BATCH = 1000
SECOND = 1_000_000_000
TEMPORARY = ".rota-sync-"
MOST_LEFTOVERS = 1000


class Broken(Exception):
    """The attempt cannot go on; `final` when another one could not, either."""

    def __init__(self, type_: str, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.type = type_
        self.final = final


class Trouble(Exception):
    """One file, or one folder, cannot be dealt with; the others can."""


class Gone(Exception):
    """The file is not there any more."""


class Changed(Exception):
    """The file is not what it was when reading began."""


class Entry(NamedTuple):
    """A file of a listing; `mtime` in nanoseconds, None where only the file itself tells."""

    path: str
    size: int
    mtime: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one file says of itself. `mtime` is good to `grain` nanoseconds; `is_arrival` when it is
    only the time at which an object store got the file.
    """

    size: int
    mtime: int
    grain: int = 1
    is_arrival: bool = False
    sha256: str | None = None


class Reading(Protocol):
    """A file that is being read."""

    @property
    def facts(self) -> Facts: ...
    def chunks(self) -> AsyncGenerator[bytes, None]:
        """All of it. Raises `Changed` after the last chunk if it is not the file that it was."""


class Delivery(Protocol):
    """A file on its way to a tree: what to write, and what must have arrived."""

    @property
    def facts(self) -> Facts:
        """Of the source; with its checksum if that was asked for and the tree `stores_sha256`."""
        ...

    @property
    def sent(self) -> int:
        """Bytes so far."""
        ...

    @property
    def sha256(self) -> str | None:
        """Of all bytes, once they are sent; None if nobody asked for it."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]: ...


class Tree(Protocol):
    """Files below one location."""

    @property
    def shown(self) -> str:
        """The location, as the job wrote it."""
        ...

    @property
    def nests(self) -> bool:
        """Whether a file and a folder cannot have the same name."""
        ...

    @property
    def grain(self) -> int:
        """How exactly it keeps times, in nanoseconds."""
        ...

    @property
    def stores_sha256(self) -> bool:
        """Whether it keeps a checksum beside a file, which it must know before the file comes."""
        ...

    @property
    def seen(self) -> "Seen":
        """What the listing saw beside files."""
        ...

    async def open(self, *, make: bool) -> bool:
        """Connect and look whether the folder is there; `make` it if only that is missing."""

    async def close(self) -> None: ...
    def files(self) -> AsyncGenerator[list[Entry], None]:
        """All files in batches, in any order."""

    async def facts(self, path: str) -> Facts: ...
    def read(self, path: str) -> AbstractAsyncContextManager[Reading]: ...
    async def write(self, path: str, delivery: Delivery) -> None:
        """Put all of it under its name, or nothing."""

    async def delete(self, path: str) -> None:
        """Also the folders that are empty then. What is gone already is fine."""


@dataclass(slots=True)
class Seen:
    links: int = 0
    specials: int = 0
    # What could not be listed, and why: it is not known what is there, so nothing is deleted.
    closed: list[tuple[str, str]] = field(default_factory=list)
    # Temporary names of attempts that are over.
    leftovers: list[str] = field(default_factory=list)

    def leftover(self, path: str) -> None:
        if len(self.leftovers) < MOST_LEFTOVERS:
            self.leftovers.append(path)


@dataclass(slots=True)
class TemporaryNames:
    """Names that no file has: short, for the longest file names have no room for more.

    They tell the run and the attempt, so that an attempt knows what an earlier one left behind from
    what another run is writing at this moment.
    """

    run_id: UUID
    attempt: int
    _made: int = 0

    def next(self) -> str:
        self._made += 1
        return f"{TEMPORARY}{self.run_id.hex}-{self.attempt}-{self._made}"

    def is_over(self, name: str, age: float) -> bool:
        """Whether nobody writes to it: an earlier attempt of this run, or silent for a day."""
        run, _, rest = name.removeprefix(TEMPORARY).partition("-")
        attempt = rest.partition("-")[0]
        if run == self.run_id.hex and attempt.isdigit():
            return int(attempt) < self.attempt
        return age > 86_400


def new_sha256() -> "hashlib._Hash":
    return hashlib.sha256()


def names_of(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def is_plain(path: str) -> bool:
    """Whether it leads down, name by name, and nowhere else."""
    return "\0" not in path and not any(name in {"", ".", ".."} for name in path.split("/"))


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def printable(path: str) -> str:
    """A path for people: one line of UTF-8, whatever it is made of."""
    text = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


# What every further file would meet, too.
HOPELESS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE})
