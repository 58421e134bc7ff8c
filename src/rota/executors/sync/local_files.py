"""Reads and writes files of this machine.

A written file has a temporary name until it is completely on disk and verified.
"""

import contextlib
import os
import stat
import threading
from collections.abc import AsyncGenerator

from rota.executors.sync.folder_handle import FolderHandle, remove_empty_folders, translate_errors
from rota.executors.sync.thread_pool import SyncThreadPool, update_digest
from rota.executors.sync.tree import (
    CHUNK_BYTES,
    FileChanged,
    FileDelivery,
    FileFacts,
    FileFailure,
    FileMissing,
    new_sha256,
    split_path,
)

# Nanoseconds: finer than the precision that any file system loses when it stores a time.
MTIME_GRAIN_NS = 1000
# Without O_NONBLOCK, opening a pipe that has replaced a file would wait forever for a writer.
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
WRITE_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Bytes between two fsyncs; limits how long the last fsync, and thus a cancellation, may take.
FSYNC_INTERVAL_BYTES = 64 * CHUNK_BYTES


class LocalFileReader:
    """A file of a folder, open for reading."""

    def __init__(self, handle: FolderHandle, threads: SyncThreadPool, path: str) -> None:
        self._handle = handle
        self._threads = threads
        self._path = path
        self._file: int | None = None
        self._first = b""
        self.facts = FileFacts(size=0, mtime=0)

    def open(self) -> None:
        """Open the file and read its first chunk, which is often all: saves a call in a thread."""
        with self._handle.open_parent(self._path) as (folder, name):
            self._file = os.open(name, READ_FLAGS, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise FileFailure("no longer a regular file")
        self.facts = self._facts()
        self._first = self._piece(0)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        at, chunk = 0, self._first
        with translate_errors():
            while chunk:
                at += len(chunk)
                # Reading a file that grows faster than it is read would never end.
                if at > self.facts.size:
                    raise FileChanged
                yield chunk
                is_all = at == self.facts.size
                chunk = b"" if is_all else await self._threads.run(self._piece, at)
        if at != self.facts.size or self._facts() != self.facts:
            raise FileChanged

    def _piece(self, at: int) -> bytes:
        return b"" if self._file is None else os.pread(self._file, CHUNK_BYTES, at)

    def _facts(self) -> FileFacts:
        status = os.fstat(self._file) if self._file is not None else None
        if status is None:
            raise FileMissing
        return FileFacts(size=status.st_size, mtime=status.st_mtime_ns, grain=MTIME_GRAIN_NS)


class LocalFileWriter:
    """A file of a folder that still has a temporary name."""

    def __init__(
        self, handle: FolderHandle, threads: SyncThreadPool, path: str, temporary: str
    ) -> None:
        self._handle = handle
        self._threads = threads
        self._fresh = temporary
        self._folders = split_path(path)[:-1]
        self._name = split_path(path)[-1]
        self._temporary: str | None = None
        self._folder: int | None = None
        self._file = -1
        self._written = self._synced = 0

        self._is_over = False
        # After two cancellations an attempt closes while a thread may still write. The lock keeps
        # them apart: the descriptor of a closed file could already belong to another file.
        self._lock = threading.RLock()

    @property
    def is_open(self) -> bool:
        return self._folder is not None

    def _begin(self) -> None:
        if self._is_over:
            raise FileMissing
        if self._folder is not None:
            return
        self._folder = self._handle.open_folder(self._folders, make=True)
        self._file = os.open(self._fresh, WRITE_FLAGS, 0o666, dir_fd=self._folder)
        self._temporary = self._fresh

    def write(self, chunk: bytes) -> None:
        with self._lock:
            self._begin()
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            self._written += len(chunk)
            if self._written - self._synced >= FSYNC_INTERVAL_BYTES:
                os.fsync(self._file)
                self._synced = self._written

    def finish(self, delivery: FileDelivery) -> None:
        """Sync the file before it is renamed: a power cut leaves the old file or the new one."""
        times = (delivery.facts.mtime, delivery.facts.mtime)
        with self._lock:
            self._begin()
            os.utime(self._file, ns=times)
            os.fsync(self._file)
            if os.fstat(self._file).st_size != delivery.sent:
                raise FileFailure("the copy has a different size than the data sent")

    async def verify_checksum(self, expected: str) -> None:
        """Read the written file again and compare its checksum."""
        digest, at = new_sha256(), 0
        while chunk := await self._threads.run(os.pread, self._file, CHUNK_BYTES, at):
            at += len(chunk)
            await update_digest(digest, chunk, self._threads)
        if digest.hexdigest() != expected:
            raise FileFailure("the copy has a different checksum than the data sent")

    def publish(self) -> None:
        with self._lock:
            if self._temporary is None or self._folder is None:
                raise FileMissing
            try:
                self._rename(self._temporary, self._folder)
            except IsADirectoryError:
                remove_empty_folders(self._name, self._folder)
                self._rename(self._temporary, self._folder)
            self._temporary = None
            self.close()

    def finish_and_publish(self, delivery: FileDelivery) -> None:
        """Finish and publish a file without a checksum."""
        self.finish(delivery)
        self.publish()

    def _rename(self, temporary: str, folder: int) -> None:
        os.rename(temporary, self._name, src_dir_fd=folder, dst_dir_fd=folder)

    def close(self) -> None:
        """Close the file; delete it if it was not published."""
        with self._lock:
            self._is_over = True
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
            if self._folder is None:
                return
            if self._temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(self._temporary, dir_fd=self._folder)
            os.close(self._folder)
            self._folder = None
