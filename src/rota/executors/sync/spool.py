"""Values that are kept on disk, and sorted there. Room: executors/sync.

A listing of a million files would be several hundred megabytes of objects. It is sorted in pieces
of `PIECE` values, each written to a file, and read back by merging the files: what is in memory is
one piece, and a line of each file. Listings of fewer values never touch the disk. The files have no
names, so whatever ends this process, nothing of them stays.

Values are tuples of JSON: a path that is no UTF-8 has lone surrogates, which JSON's escapes hold.
"""

import heapq
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Generic, TypeVar

T = TypeVar("T", bound=tuple[object, ...])

PIECE = 20_000
# Files that are merged at once: a process may have 1024 open.
MOST_FILES = 64


class Spool(Generic[T]):
    """Values in the order in which they were added; small ones stay in memory."""

    def __init__(self, kind: Callable[..., T]) -> None:
        self._kind = kind
        self._fresh: list[T] = []
        self._file: IO[str] | None = None
        self.count = 0

    def add(self, value: T) -> None:
        self._fresh.append(value)
        self.count += 1
        if len(self._fresh) == PIECE:
            self._file = self._file or new_file()
            write(self._file, self._fresh)
            self._fresh = []

    def __iter__(self) -> Iterator[T]:
        if self._file is not None:
            yield from read(self._file, self._kind)
        yield from self._fresh

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Sorter(Generic[T]):
    """Values by `key`, whatever order they came in."""

    def __init__(self, kind: Callable[..., T], key: Callable[[T], bytes]) -> None:
        self._kind = kind
        self._key = key
        self._fresh: list[T] = []
        self._files: list[IO[str]] = []
        self.count = 0

    def add(self, values: Iterable[T]) -> None:
        before = len(self._fresh)
        self._fresh.extend(values)
        self.count += len(self._fresh) - before
        if len(self._fresh) >= PIECE:
            self._spill()

    def __iter__(self) -> Iterator[T]:
        self._fresh.sort(key=self._key)
        pieces = [read(file, self._kind) for file in self._files]
        return heapq.merge(*pieces, self._fresh, key=self._key)

    def close(self) -> None:
        for file in self._files:
            file.close()
        self._files = []

    def _spill(self) -> None:
        self._fresh.sort(key=self._key)
        file = new_file()
        write(file, self._fresh)
        self._fresh = []
        self._files.append(file)
        if len(self._files) == MOST_FILES:
            one = new_file()
            write(one, self)
            self.close()
            self._files = [one]


def new_file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="ascii", prefix="rota-sync-")


def write(file: IO[str], values: Iterable[tuple[object, ...]]) -> None:
    file.seek(0, os.SEEK_END)
    file.writelines(f"{json.dumps(value)}\n" for value in values)


def read(file: IO[str], kind: Callable[..., T]) -> Iterator[T]:
    file.flush()
    file.seek(0)
    for line in file:
        yield kind(*json.loads(line))
