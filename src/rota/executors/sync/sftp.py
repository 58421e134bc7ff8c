"""Implements `Tree` for a folder on an SFTP server.

Links are skipped, and a folder is written to only after a check that it is a folder. SFTP cannot
hold a folder open, so unlike with folders of this machine the check is not a guarantee. `ssh.py`
opens the connection.
"""

import asyncio
import contextlib
import posixpath
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rota.executors.sync.places import Location
from rota.executors.sync.ssh import connect
from rota.executors.sync.threads import Threads, hashed
from rota.executors.sync.tree import (
    BATCH,
    CHUNK,
    SECOND,
    TEMPORARY,
    Broken,
    Changed,
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
    new_sha256,
)

# Seconds for the clean-up after a cancelled attempt, which has little time.
CLEANING = 0.5
# Limit of the cache of checked folders; beyond it, folders are checked again.
MOST_KNOWN = 10_000


@dataclass(slots=True, kw_only=True)
class SftpTree:
    """A folder on an SFTP server. `now` returns seconds, for the age of leftover files."""

    location: Location
    names: TemporaryNames
    threads: Threads
    now: Callable[[], float]
    nests: bool = True
    stores_sha256: bool = False
    # Version 3 of the protocol has a resolution of one second.
    grain: int = SECOND
    seen: Seen = field(default_factory=Seen)
    _connection: Any = None
    _sftp: Any = None
    _known: set[str] = field(default_factory=set)

    @property
    def shown(self) -> str:
        return self.location.shown

    async def open(self, *, make: bool) -> bool:
        place = self.location.place
        self._connection = await connect(place, self.threads)
        with self._translated():
            self._sftp = await self._connection.start_sftp_client(path_encoding=None)
        with self._usable():
            status = await self._sftp.stat(self._root())
        if not is_folder(status):
            message = f"the path of the place {place.name} is not a folder"
            raise Broken("place not usable", message, final=True)
        try:
            await self._descend(names_of(self.location.path), self._root(), make=make)
        except Gone:
            return False
        except Trouble:
            message = f"{self.shown} is not a usable folder"
            raise Broken("folder not usable", message, final=True) from None
        return True

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            await self._connection.wait_closed()
            self._connection = None

    async def files(self) -> AsyncGenerator[list[Entry], None]:
        batch: list[Entry] = []
        pending = [""]
        while pending:
            parent = pending.pop()
            try:
                with self._translated():
                    async for item in self._sftp.scandir(self._whole(parent)):
                        entry = self._inspect(parent, item, pending)
                        if entry is not None:
                            batch.append(entry)
                        if len(batch) == BATCH:
                            yield batch
                            batch = []
            except Gone:
                continue
            except Trouble as trouble:
                self.seen.closed.append((parent, str(trouble)))
        if batch:
            yield batch

    async def facts(self, path: str) -> Facts:
        with self._translated():
            return facts_of(await self._sftp.lstat(self._whole(path)))

    @contextlib.asynccontextmanager
    async def read(self, path: str) -> AsyncIterator[Reading]:
        # `open` would follow a link that has replaced the file.
        before = await self.facts(path)
        with self._translated():
            file = await self._sftp.open(self._whole(path), "rb")
        try:
            yield SftpReading(self, file, before)
        finally:
            await self._shut(file)

    async def write(self, path: str, delivery: Delivery) -> None:
        folder = posixpath.dirname(path)
        await self._ensure(folder)
        temporary = self._whole(joined(folder, self.names.next()))
        is_done = False
        try:
            with self._translated(gone=Trouble("its folder in the target no longer exists")):
                await self._fill(temporary, delivery)
                await self._publish(temporary, path)
            is_done = True
        finally:
            if not is_done:
                # If the connection is lost, the next attempt removes the file.
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(CLEANING):
                        await self._sftp.remove(temporary)

    async def delete(self, path: str) -> None:
        with contextlib.suppress(Gone), self._translated():
            await self._sftp.remove(self._whole(path))
        folder = posixpath.dirname(path)
        with contextlib.suppress(Gone, Trouble):
            while folder:
                with self._translated():
                    await self._sftp.rmdir(self._whole(folder))
                self._known.discard(folder)
                folder = posixpath.dirname(folder)

    async def _fill(self, temporary: bytes, delivery: Delivery) -> None:
        file = await self._sftp.open(temporary, "xb+")
        try:
            async with contextlib.aclosing(delivery.chunks()) as chunks:
                async for chunk in chunks:
                    await file.write(chunk)
            status = await file.stat()
            if status.size != delivery.sent:
                raise Trouble("the copy has a different size than the data sent")
            if delivery.sha256 is not None:
                await self._compare(file, delivery.sha256)
            seconds = delivery.facts.mtime // SECOND
            await file.utime((seconds, seconds))
        finally:
            await self._shut(file)

    async def _compare(self, file: Any, wanted: str) -> None:
        digest, at = new_sha256(), 0
        while chunk := await file.read(CHUNK, at):
            at += len(chunk)
            await hashed(digest, chunk, self.threads)
        if digest.hexdigest() != wanted:
            raise Trouble("the copy has a different checksum than the data sent")

    async def _publish(self, temporary: bytes, path: str) -> None:
        import asyncssh  # noqa: PLC0415 - an extra

        whole = self._whole(path)
        try:
            await self._sftp.posix_rename(temporary, whole)
        except asyncssh.SFTPOpUnsupported:
            # An old server: the file is missing between both calls, but never incomplete.
            with contextlib.suppress(asyncssh.SFTPNoSuchFile):
                await self._sftp.remove(whole)
            await self._sftp.rename(temporary, whole)
        except asyncssh.SFTPError:
            if not is_folder(await self._sftp.lstat(whole)):
                raise
            await self._clear_folders(whole)
            await self._sftp.posix_rename(temporary, whole)

    async def _clear_folders(self, whole: bytes) -> None:
        """Remove a folder that contains only folders; fails if there is a file in it."""
        async for item in self._sftp.scandir(whole):
            if item.filename not in {b".", b".."}:
                if not is_folder(item.attrs):
                    raise Trouble("blocked by a folder in the target")
                await self._clear_folders(posixpath.join(whole, item.filename))
        await self._sftp.rmdir(whole)

    async def _ensure(self, folder: str) -> None:
        """Create the folder if it is missing; refuse links on the way to it."""
        if folder and folder not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            await self._descend(names_of(folder), self._whole(""), make=True)
            self._known.add(folder)

    async def _descend(self, folders: list[str], start: bytes, *, make: bool) -> None:
        import asyncssh  # noqa: PLC0415 - an extra

        whole = start
        for name in folders:
            whole = posixpath.join(whole, name.encode(errors="surrogateescape"))
            with self._translated():
                try:
                    status = await self._sftp.lstat(whole)
                except asyncssh.SFTPNoSuchFile:
                    if not make:
                        raise
                    # A parallel copy may have created it; then `lstat` finds it.
                    with contextlib.suppress(asyncssh.SFTPError):
                        await self._sftp.mkdir(whole)
                    status = await self._sftp.lstat(whole)
            if not is_folder(status):
                raise Trouble("blocked by a file or link in the target")

    def _inspect(self, parent: str, item: Any, pending: list[str]) -> Entry | None:
        if item.filename in {b".", b".."}:
            return None
        name = item.filename.decode(errors="surrogateescape")
        path, mode = joined(parent, name), item.attrs.permissions or 0
        if "/" in name:
            self.seen.closed.append((path, "invalid file name"))
            return None
        if stat.S_ISDIR(mode):
            pending.append(path)
        elif stat.S_ISLNK(mode):
            self.seen.links += 1
        elif not stat.S_ISREG(mode):
            self.seen.specials += 1
        elif name.startswith(TEMPORARY):
            if self.names.is_over(name, self.now() - (item.attrs.mtime or 0)):
                self.seen.leftover(path)
        else:
            return Entry(path, item.attrs.size or 0, (item.attrs.mtime or 0) * SECOND)
        return None

    def _root(self) -> bytes:
        return self.location.place.path.encode(errors="surrogateescape") or b"/"

    def _whole(self, path: str) -> bytes:
        below = (*names_of(self.location.path), *names_of(path))
        return posixpath.join(
            self._root(), *(name.encode(errors="surrogateescape") for name in below)
        )

    async def _shut(self, file: Any) -> None:
        """Close a file; ignore errors, since a lost connection has closed it already."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLEANING):
                await file.close()

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            with self._translated():
                yield
        except (Gone, Trouble):
            name = self.location.place.name
            message = f"the folder of the place {name} does not exist or is not accessible"
            raise Broken("place not usable", message, final=True) from None

    @contextlib.contextmanager
    def _translated(self, *, gone: Exception | None = None) -> Iterator[None]:
        import asyncssh  # noqa: PLC0415 - an extra

        name = self.location.place.name
        lost = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection)
        full = (asyncssh.SFTPNoSpaceOnFilesystem, asyncssh.SFTPQuotaExceeded)
        try:
            yield
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
            raise gone or Gone() from None
        except lost:
            raise Broken("connection lost", f"the connection to {name} was lost") from None
        except full as error:
            raise Broken("folder not writable", f"{name}: {error.reason}") from None
        except asyncssh.SFTPError as error:
            raise Trouble(
                self.location.place.clean(error.reason) or "the server refused it"
            ) from None
        except (asyncssh.Error, OSError) as error:
            reason = self.location.place.clean(error)
            raise Broken(
                "connection lost", f"the connection to {name} was lost: {reason}"
            ) from None


class SftpReading:
    """A file on an SFTP server, open for reading."""

    def __init__(self, tree: SftpTree, file: Any, facts: Facts) -> None:
        self._tree = tree
        self._file = file
        self.facts = facts

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        at = 0
        with self._tree._translated():  # noqa: SLF001 - both classes belong together
            while chunk := await self._file.read(CHUNK, at):
                at += len(chunk)
                # Reading a file that grows faster than it is read would never end.
                if at > self.facts.size:
                    raise Changed
                yield chunk
            after = facts_of(await self._file.stat())
        if at != self.facts.size or after != self.facts:
            raise Changed


def is_folder(found: Any) -> bool:
    return stat.S_ISDIR(found.permissions or 0)


def facts_of(found: Any) -> Facts:
    if not stat.S_ISREG(found.permissions or 0):
        raise Trouble("no longer a regular file")
    return Facts(size=found.size or 0, mtime=(found.mtime or 0) * SECOND, grain=SECOND)
