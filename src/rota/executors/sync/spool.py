"""Stores and sorts values on disk.

A listing of a million files would take several hundred megabytes of objects. It is sorted in pieces
of `PIECE` values, each written to a file, and read back by merging the files, so that only one
piece and one line of each file are in memory. Shorter listings stay in memory. The files have no
names, so they disappear with the process.

Values are tuples encoded as JSON, whose escapes preserve the lone surrogates of a non-UTF-8 path.
"""

import heapq
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Generic, TypeVar

T = TypeVar("T", bound=tuple[object, ...])

SPOOL_PIECE_VALUES = 20_000
# Files that are merged at once; a process may have 1024 open files.
MERGED_FILES_MAX = 64


class Spool(Generic[T]):
    """Stores values in insertion order, on disk if there are many."""

    def __init__(self, kind: Callable[..., T]) -> None:
        self._kind = kind
        self._buffer: list[T] = []
        self._file: IO[str] | None = None
        self.count = 0

    def add(self, value: T) -> None:
        self._buffer.append(value)
        self.count += 1
        if len(self._buffer) == SPOOL_PIECE_VALUES:
            self._file = self._file or new_file()
            write_values(self._file, self._buffer)
            self._buffer = []

    def __iter__(self) -> Iterator[T]:
        if self._file is not None:
            yield from read_values(self._file, self._kind)
        yield from self._buffer

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Sorter(Generic[T]):
    """Returns values sorted by `key`, on disk if there are many."""

    def __init__(self, kind: Callable[..., T], key: Callable[[T], bytes]) -> None:
        self._kind = kind
        self._key = key
        self._buffer: list[T] = []
        self._files: list[IO[str]] = []
        self.count = 0

    def add(self, values: Iterable[T]) -> None:
        before = len(self._buffer)
        self._buffer.extend(values)
        self.count += len(self._buffer) - before
        if len(self._buffer) >= SPOOL_PIECE_VALUES:
            self._spill()

    def __iter__(self) -> Iterator[T]:
        self._buffer.sort(key=self._key)
        pieces = [read_values(file, self._kind) for file in self._files]
        return heapq.merge(*pieces, self._buffer, key=self._key)

    def close(self) -> None:
        for file in self._files:
            file.close()
        self._files = []

    def _spill(self) -> None:
        self._buffer.sort(key=self._key)
        file = new_file()
        write_values(file, self._buffer)
        self._buffer = []
        self._files.append(file)
        if len(self._files) == MERGED_FILES_MAX:
            merged = new_file()
            write_values(merged, self)
            self.close()
            self._files = [merged]


def new_file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="ascii", prefix="rota-sync-")


def write_values(file: IO[str], values: Iterable[tuple[object, ...]]) -> None:
    file.seek(0, os.SEEK_END)
    file.writelines(f"{json.dumps(value)}\n" for value in values)


def read_values(file: IO[str], kind: Callable[..., T]) -> Iterator[T]:
    file.flush()
    file.seek(0)
    for line in file:
        yield kind(*json.loads(line))
