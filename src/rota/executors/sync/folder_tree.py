"""Implements `Tree` for a folder of this machine.

Links and special files are counted and skipped. Files are opened without following links.
"""

import contextlib
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rota.executors.sync.folder_handle import FolderHandle, translate_errors
from rota.executors.sync.local_files import MTIME_GRAIN_NS, LocalFileReader, LocalFileWriter
from rota.executors.sync.places import PlaceFolder
from rota.executors.sync.thread_pool import SyncThreadPool
from rota.executors.sync.tree import (
    LISTING_BATCH_FILES,
    TEMPORARY_PREFIX,
    FileDelivery,
    FileFacts,
    FileFailure,
    FileMissing,
    FileReader,
    ListingReport,
    SyncBroken,
    TemporaryNames,
    TreeEntry,
    join_path,
    split_path,
)


@dataclass(slots=True, kw_only=True)
class FolderTree:
    """A folder of this machine. `now` returns seconds, for the age of leftover files."""

    location: PlaceFolder
    names: TemporaryNames
    threads: SyncThreadPool
    now: Callable[[], float]
    nests: bool = True
    stores_sha256: bool = False
    grain: int = MTIME_GRAIN_NS
    seen: ListingReport = field(default_factory=ListingReport)
    _handle: FolderHandle | None = None

    @property
    def shown(self) -> str:
        return self.location.shown

    async def open(self, *, make: bool) -> bool:
        return await self.threads.run(self._open, make)

    async def close(self) -> None:
        if self._handle is not None:
            self._handle.close()

    async def files(self) -> AsyncGenerator[list[TreeEntry], None]:
        walk = self._walk()
        while (batch := await self.threads.run(next, walk, None)) is not None:
            yield batch

    async def facts(self, path: str) -> FileFacts:
        with translate_errors():
            return await self.threads.run(self._facts, path)

    @contextlib.asynccontextmanager
    async def read(self, path: str) -> AsyncIterator[FileReader]:
        reading = LocalFileReader(self.handle, self.threads, path)
        try:
            with translate_errors():
                await self.threads.run(reading.open)
            yield reading
        finally:
            reading.close()

    async def write(self, path: str, delivery: FileDelivery) -> None:
        draft = LocalFileWriter(self.handle, self.threads, path, self.names.next())
        try:
            with translate_errors(missing=FileFailure("its folder in the target no longer exists")):
                async with contextlib.aclosing(delivery.chunks()) as chunks:
                    async for chunk in chunks:
                        await self.threads.run(draft.write, chunk)
                if delivery.sha256 is None:
                    await self.threads.run(draft.finish_and_publish, delivery)
                else:
                    await self.threads.run(draft.finish, delivery)
                    await draft.verify_checksum(delivery.sha256)
                    await self.threads.run(draft.publish)
        finally:
            if draft.is_open:
                await self.threads.run(draft.close)

    async def delete(self, path: str) -> None:
        with translate_errors(), contextlib.suppress(FileNotFoundError):
            await self.threads.run(self._delete, path)

    def real_path(self) -> Path:
        return Path(self.location.place.path, *split_path(self.location.path)).resolve()

    # --- the methods below run in a thread

    def _open(self, make: bool) -> bool:  # noqa: FBT001 - a flag of the protocol
        place = self.location.place
        try:
            self._handle = FolderHandle(place.path)
        except OSError as error:
            message = f"the folder of the place {place.name} cannot be used: {error.strerror}"
            raise SyncBroken("place not usable", message, final=True) from None
        try:
            self._handle.change_folder(split_path(self.location.path), make=make)
        except FileNotFoundError:
            return False
        except OSError as error:
            message = f"{self.shown} is not a usable folder: {error.strerror}"
            raise SyncBroken("folder not usable", message, final=True) from None
        return True

    @property
    def handle(self) -> FolderHandle:
        if self._handle is None:
            raise FileMissing
        return self._handle

    def _walk(self) -> Iterator[list[TreeEntry]]:
        batch: list[TreeEntry] = []
        pending = [""]
        while pending:
            parent = pending.pop()
            try:
                folder = self.handle.open_folder(split_path(parent))
            except FileNotFoundError:
                continue
            except OSError as error:
                self.seen.unlisted.append((parent, error.strerror or str(error)))
                continue
            try:
                with os.scandir(folder) as items:
                    for item in items:
                        entry = self._inspect(parent, item, pending)
                        if entry is not None:
                            batch.append(entry)
                        if len(batch) == LISTING_BATCH_FILES:
                            yield batch
                            batch = []
            except OSError as error:
                self.seen.unlisted.append((parent, error.strerror or str(error)))
            finally:
                os.close(folder)
        if batch:
            yield batch

    def _inspect(
        self, parent: str, item: "os.DirEntry[str]", pending: list[str]
    ) -> TreeEntry | None:
        path = join_path(parent, item.name)
        if item.is_symlink():
            self.seen.links += 1
            return None
        if item.is_dir(follow_symlinks=False):
            pending.append(path)
            return None
        try:
            status = item.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            self.seen.specials += 1
            return None
        if item.name.startswith(TEMPORARY_PREFIX):
            if self.names.is_leftover(item.name, self.now() - status.st_mtime):
                self.seen.add_leftover(path)
            return None
        return TreeEntry(path, status.st_size, status.st_mtime_ns)

    def _facts(self, path: str) -> FileFacts:
        with self.handle.open_parent(path) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise FileFailure("no longer a regular file")
        return FileFacts(size=status.st_size, mtime=status.st_mtime_ns, grain=MTIME_GRAIN_NS)

    def _delete(self, path: str) -> None:
        with self.handle.open_parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
        folders = split_path(path)[:-1]
        while folders:
            with self.handle.open_parent("/".join(folders)) as (folder, name):
                try:
                    os.rmdir(name, dir_fd=folder)
                except OSError:
                    return
            folders.pop()
