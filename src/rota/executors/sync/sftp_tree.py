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

from rota.executors.sync.places import PlaceFolder
from rota.executors.sync.ssh_connection import connect_place
from rota.executors.sync.thread_pool import SyncThreadPool, update_digest
from rota.executors.sync.tree import (
    CHUNK_BYTES,
    LISTING_BATCH_FILES,
    SECOND_NS,
    TEMPORARY_PREFIX,
    FileChanged,
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
    new_sha256,
    split_path,
)

# Seconds for the clean-up after a cancelled attempt, which has little time.
CLEAN_UP_TIMEOUT_S = 0.5
# Limit of the cache of checked folders; beyond it, folders are checked again.
FOLDER_CACHE_MAX = 10_000


@dataclass(slots=True, kw_only=True)
class SftpTree:
    """A folder on an SFTP server. `now` returns seconds, for the age of leftover files."""

    location: PlaceFolder
    names: TemporaryNames
    threads: SyncThreadPool
    now: Callable[[], float]
    nests: bool = True
    stores_sha256: bool = False
    # Version 3 of the protocol has a resolution of one second.
    grain: int = SECOND_NS
    seen: ListingReport = field(default_factory=ListingReport)
    _connection: Any = None
    _sftp: Any = None
    _known: set[str] = field(default_factory=set)

    @property
    def shown(self) -> str:
        return self.location.shown

    async def open(self, *, make: bool) -> bool:
        place = self.location.place
        self._connection = await connect_place(place, self.threads)
        with self._translated():
            self._sftp = await self._connection.start_sftp_client(path_encoding=None)
        with self._usable():
            status = await self._sftp.stat(self._root())
        if not is_folder(status):
            message = f"the path of the place {place.name} is not a folder"
            raise SyncBroken("place not usable", message, final=True)
        try:
            await self._descend(split_path(self.location.path), self._root(), make=make)
        except FileMissing:
            return False
        except FileFailure:
            message = f"{self.shown} is not a usable folder"
            raise SyncBroken("folder not usable", message, final=True) from None
        return True

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            await self._connection.wait_closed()
            self._connection = None

    async def files(self) -> AsyncGenerator[list[TreeEntry], None]:
        batch: list[TreeEntry] = []
        pending = [""]
        while pending:
            parent = pending.pop()
            try:
                with self._translated():
                    async for item in self._sftp.scandir(self._whole(parent)):
                        entry = self._inspect(parent, item, pending)
                        if entry is not None:
                            batch.append(entry)
                        if len(batch) == LISTING_BATCH_FILES:
                            yield batch
                            batch = []
            except FileMissing:
                continue
            except FileFailure as trouble:
                self.seen.unlisted.append((parent, str(trouble)))
        if batch:
            yield batch

    async def facts(self, path: str) -> FileFacts:
        with self._translated():
            return read_facts(await self._sftp.lstat(self._whole(path)))

    @contextlib.asynccontextmanager
    async def read(self, path: str) -> AsyncIterator[FileReader]:
        # `open` would follow a link that has replaced the file.
        before = await self.facts(path)
        with self._translated():
            file = await self._sftp.open(self._whole(path), "rb")
        try:
            yield SftpReader(self, file, before)
        finally:
            await self._shut(file)

    async def write(self, path: str, delivery: FileDelivery) -> None:
        folder = posixpath.dirname(path)
        await self._ensure(folder)
        temporary = self._whole(join_path(folder, self.names.next()))
        is_done = False
        try:
            with self._translated(gone=FileFailure("its folder in the target no longer exists")):
                await self._fill(temporary, delivery)
                await self._publish(temporary, path)
            is_done = True
        finally:
            if not is_done:
                # If the connection is lost, the next attempt removes the file.
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(CLEAN_UP_TIMEOUT_S):
                        await self._sftp.remove(temporary)

    async def delete(self, path: str) -> None:
        with contextlib.suppress(FileMissing), self._translated():
            await self._sftp.remove(self._whole(path))
        folder = posixpath.dirname(path)
        with contextlib.suppress(FileMissing, FileFailure):
            while folder:
                with self._translated():
                    await self._sftp.rmdir(self._whole(folder))
                self._known.discard(folder)
                folder = posixpath.dirname(folder)

    async def _fill(self, temporary: bytes, delivery: FileDelivery) -> None:
        file = await self._sftp.open(temporary, "xb+")
        try:
            async with contextlib.aclosing(delivery.chunks()) as chunks:
                async for chunk in chunks:
                    await file.write(chunk)
            status = await file.stat()
            if status.size != delivery.sent:
                raise FileFailure("the copy has a different size than the data sent")
            if delivery.sha256 is not None:
                await self._compare(file, delivery.sha256)
            seconds = delivery.facts.mtime // SECOND_NS
            await file.utime((seconds, seconds))
        finally:
            await self._shut(file)

    async def _compare(self, file: Any, wanted: str) -> None:
        digest, at = new_sha256(), 0
        while chunk := await file.read(CHUNK_BYTES, at):
            at += len(chunk)
            await update_digest(digest, chunk, self.threads)
        if digest.hexdigest() != wanted:
            raise FileFailure("the copy has a different checksum than the data sent")

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
                    raise FileFailure("blocked by a folder in the target")
                await self._clear_folders(posixpath.join(whole, item.filename))
        await self._sftp.rmdir(whole)

    async def _ensure(self, folder: str) -> None:
        """Create the folder if it is missing; refuse links on the way to it."""
        if folder and folder not in self._known:
            if len(self._known) >= FOLDER_CACHE_MAX:
                self._known.clear()
            await self._descend(split_path(folder), self._whole(""), make=True)
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
                raise FileFailure("blocked by a file or link in the target")

    def _inspect(self, parent: str, item: Any, pending: list[str]) -> TreeEntry | None:
        if item.filename in {b".", b".."}:
            return None
        name = item.filename.decode(errors="surrogateescape")
        path, mode = join_path(parent, name), item.attrs.permissions or 0
        if "/" in name:
            self.seen.unlisted.append((path, "invalid file name"))
            return None
        if stat.S_ISDIR(mode):
            pending.append(path)
        elif stat.S_ISLNK(mode):
            self.seen.links += 1
        elif not stat.S_ISREG(mode):
            self.seen.specials += 1
        elif name.startswith(TEMPORARY_PREFIX):
            if self.names.is_leftover(name, self.now() - (item.attrs.mtime or 0)):
                self.seen.add_leftover(path)
        else:
            return TreeEntry(path, item.attrs.size or 0, (item.attrs.mtime or 0) * SECOND_NS)
        return None

    def _root(self) -> bytes:
        return self.location.place.path.encode(errors="surrogateescape") or b"/"

    def _whole(self, path: str) -> bytes:
        below = (*split_path(self.location.path), *split_path(path))
        return posixpath.join(
            self._root(), *(name.encode(errors="surrogateescape") for name in below)
        )

    async def _shut(self, file: Any) -> None:
        """Close a file; ignore errors, since a lost connection has closed it already."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLEAN_UP_TIMEOUT_S):
                await file.close()

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            with self._translated():
                yield
        except (FileMissing, FileFailure):
            name = self.location.place.name
            message = f"the folder of the place {name} does not exist or is not accessible"
            raise SyncBroken("place not usable", message, final=True) from None

    @contextlib.contextmanager
    def _translated(self, *, gone: Exception | None = None) -> Iterator[None]:
        import asyncssh  # noqa: PLC0415 - an extra

        name = self.location.place.name
        lost = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection)
        full = (asyncssh.SFTPNoSpaceOnFilesystem, asyncssh.SFTPQuotaExceeded)
        try:
            yield
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
            raise gone or FileMissing() from None
        except lost:
            raise SyncBroken("connection lost", f"the connection to {name} was lost") from None
        except full as error:
            raise SyncBroken("folder not writable", f"{name}: {error.reason}") from None
        except asyncssh.SFTPError as error:
            raise FileFailure(
                self.location.place.clean_message(error.reason) or "the server refused it"
            ) from None
        except (asyncssh.Error, OSError) as error:
            reason = self.location.place.clean_message(error)
            raise SyncBroken(
                "connection lost", f"the connection to {name} was lost: {reason}"
            ) from None


class SftpReader:
    """A file on an SFTP server, open for reading."""

    def __init__(self, tree: SftpTree, file: Any, facts: FileFacts) -> None:
        self._tree = tree
        self._file = file
        self.facts = facts

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        at = 0
        with self._tree._translated():  # noqa: SLF001 - both classes belong together
            while chunk := await self._file.read(CHUNK_BYTES, at):
                at += len(chunk)
                # Reading a file that grows faster than it is read would never end.
                if at > self.facts.size:
                    raise FileChanged
                yield chunk
            after = read_facts(await self._file.stat())
        if at != self.facts.size or after != self.facts:
            raise FileChanged


def is_folder(found: Any) -> bool:
    return stat.S_ISDIR(found.permissions or 0)


def read_facts(found: Any) -> FileFacts:
    if not stat.S_ISREG(found.permissions or 0):
        raise FileFailure("no longer a regular file")
    return FileFacts(size=found.size or 0, mtime=(found.mtime or 0) * SECOND_NS, grain=SECOND_NS)
