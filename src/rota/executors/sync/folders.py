"""A folder of this machine. Room: executors/sync.

Links and special files are not files here: they are counted and left alone. How a file is reached
is told in ground.py.
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
    """`now` is in seconds and tells how old a leftover is."""

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
            with translated(gone=Trouble("its folder in the target is gone")):
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

    # --- below, everything runs in a thread

    def _open(self, make: bool) -> bool:  # noqa: FBT001 - the protocol's own flag
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
            message = f"{self.shown} is not a folder that can be used: {error.strerror}"
            raise Broken("folder not usable", message, final=True) from None
        return True

    @property
    def ground(self) -> Ground:
        if self._ground is None:
            raise Gone
        return self._ground

    def _walk(self) -> Iterator[list[Entry]]:
        batch: list[Entry] = []
        waiting = [""]
        while waiting:
            where = waiting.pop()
            try:
                folder = self.ground.down(names_of(where))
            except FileNotFoundError:
                continue
            except OSError as error:
                self.seen.closed.append((where, error.strerror or str(error)))
                continue
            try:
                with os.scandir(folder) as found:
                    for one in found:
                        entry = self._look(where, one, waiting)
                        if entry is not None:
                            batch.append(entry)
                        if len(batch) == BATCH:
                            yield batch
                            batch = []
            except OSError as error:
                self.seen.closed.append((where, error.strerror or str(error)))
            finally:
                os.close(folder)
        if batch:
            yield batch

    def _look(self, where: str, one: "os.DirEntry[str]", waiting: list[str]) -> Entry | None:
        path = joined(where, one.name)
        if one.is_symlink():
            self.seen.links += 1
            return None
        if one.is_dir(follow_symlinks=False):
            waiting.append(path)
            return None
        try:
            found = one.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            self.seen.specials += 1
            return None
        if one.name.startswith(TEMPORARY):
            if self.names.is_over(one.name, self.now() - found.st_mtime):
                self.seen.leftover(path)
            return None
        return Entry(path, found.st_size, found.st_mtime_ns)

    def _facts(self, path: str) -> Facts:
        with self.ground.beside(path) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise Trouble("it is not a file any more")
        return Facts(size=found.st_size, mtime=found.st_mtime_ns, grain=GRAIN)

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
