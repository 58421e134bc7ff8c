"""Implements `Tree` for a folder of this machine.

Links and special files are counted and skipped. Files are opened without following links.
"""

import contextlib
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rota.executors.sync.drafts import GRAIN, Draft, FileReading
from rota.executors.sync.ground import Ground, translated
from rota.executors.sync.places import Location
from rota.executors.sync.threads import Threads
from rota.executors.sync.tree import (
    BATCH,
    TEMPORARY,
    Broken,
    Delivery,
    Entry,
    Facts,
    Gone,
    Reading,
    Seen,
    TemporaryNames,
    Trouble,
    joined,
    names_of,
)


@dataclass(slots=True, kw_only=True)
class FolderTree:
    """A folder of this machine. `now` returns seconds, for the age of leftover files."""

    location: Location
    names: TemporaryNames
    threads: Threads
    now: Callable[[], float]
    nests: bool = True
    stores_sha256: bool = False
    grain: int = GRAIN
    seen: Seen = field(default_factory=Seen)
    _ground: Ground | None = None

    @property
    def shown(self) -> str:
        return self.location.shown

    async def open(self, *, make: bool) -> bool:
        return await self.threads.run(self._open, make)

    async def close(self) -> None:
        if self._ground is not None:
            self._ground.close()

    async def files(self) -> AsyncGenerator[list[Entry], None]:
        walk = self._walk()
        while (batch := await self.threads.run(next, walk, None)) is not None:
            yield batch

    async def facts(self, path: str) -> Facts:
        with translated():
            return await self.threads.run(self._facts, path)

    @contextlib.asynccontextmanager
    async def read(self, path: str) -> AsyncIterator[Reading]:
        reading = FileReading(self.ground, self.threads, path)
        try:
            with translated():
                await self.threads.run(reading.open)
            yield reading
        finally:
            reading.close()

    async def write(self, path: str, delivery: Delivery) -> None:
        draft = Draft(self.ground, self.threads, path, self.names.next())
        try:
            with translated(gone=Trouble("its folder in the target no longer exists")):
                async with contextlib.aclosing(delivery.chunks()) as chunks:
                    async for chunk in chunks:
                        await self.threads.run(draft.write, chunk)
                if delivery.sha256 is None:
                    await self.threads.run(draft.settle, delivery)
                else:
                    await self.threads.run(draft.finish, delivery)
                    await draft.compare(delivery.sha256)
                    await self.threads.run(draft.publish)
        finally:
            if draft.is_open:
                await self.threads.run(draft.close)

    async def delete(self, path: str) -> None:
        with translated(), contextlib.suppress(FileNotFoundError):
            await self.threads.run(self._delete, path)

    def real_path(self) -> Path:
        return Path(self.location.place.path, *names_of(self.location.path)).resolve()

    # --- the methods below run in a thread

    def _open(self, make: bool) -> bool:  # noqa: FBT001 - a flag of the protocol
        place = self.location.place
        try:
            self._ground = Ground(place.path)
        except OSError as error:
            message = f"the folder of the place {place.name} cannot be used: {error.strerror}"
            raise Broken("place not usable", message, final=True) from None
        try:
            self._ground.move(names_of(self.location.path), make=make)
        except FileNotFoundError:
            return False
        except OSError as error:
            message = f"{self.shown} is not a usable folder: {error.strerror}"
            raise Broken("folder not usable", message, final=True) from None
        return True

    @property
    def ground(self) -> Ground:
        if self._ground is None:
            raise Gone
        return self._ground

    def _walk(self) -> Iterator[list[Entry]]:
        batch: list[Entry] = []
        pending = [""]
        while pending:
            parent = pending.pop()
            try:
                folder = self.ground.down(names_of(parent))
            except FileNotFoundError:
                continue
            except OSError as error:
                self.seen.closed.append((parent, error.strerror or str(error)))
                continue
            try:
                with os.scandir(folder) as items:
                    for item in items:
                        entry = self._inspect(parent, item, pending)
                        if entry is not None:
                            batch.append(entry)
                        if len(batch) == BATCH:
                            yield batch
                            batch = []
            except OSError as error:
                self.seen.closed.append((parent, error.strerror or str(error)))
            finally:
                os.close(folder)
        if batch:
            yield batch

    def _inspect(self, parent: str, item: "os.DirEntry[str]", pending: list[str]) -> Entry | None:
        path = joined(parent, item.name)
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
        if item.name.startswith(TEMPORARY):
            if self.names.is_over(item.name, self.now() - status.st_mtime):
                self.seen.leftover(path)
            return None
        return Entry(path, status.st_size, status.st_mtime_ns)

    def _facts(self, path: str) -> Facts:
        with self.ground.beside(path) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise Trouble("no longer a regular file")
        return Facts(size=status.st_size, mtime=status.st_mtime_ns, grain=GRAIN)

    def _delete(self, path: str) -> None:
        with self.ground.beside(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
        folders = names_of(path)[:-1]
        while folders:
            with self.ground.beside("/".join(folders)) as (folder, name):
                try:
                    os.rmdir(name, dir_fd=folder)
                except OSError:
                    return
            folders.pop()
