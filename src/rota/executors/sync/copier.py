"""Copies single files and verifies them.

A file that changes while it is read is read again, up to three times. A file gets its real name in
the target only when it has arrived completely (`Tree.write`).
"""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from rota.executors.sync.planner import CopyStep, is_same_time
from rota.executors.sync.tally import SyncTally
from rota.executors.sync.thread_pool import SyncThreadPool, update_digest
from rota.executors.sync.tree import (
    FileChanged,
    FileFacts,
    FileFailure,
    FileMissing,
    FileReader,
    FileTree,
    new_sha256,
    printable,
)

COPY_TRIES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Copier:
    """Executes the steps of one attempt."""

    source: FileTree
    target: FileTree
    tally: SyncTally
    threads: SyncThreadPool
    checksum: bool
    dry_run: bool

    async def copy_file(self, step: CopyStep) -> None:
        """Compare and copy one file; record errors of this file in the tally."""
        try:
            await self._carry(step)
        except FileMissing:
            self.tally.vanished += 1
            self.tally.log_line(f"disappeared: {printable(step.path)}")
        except FileFailure as trouble:
            self.tally.record_error(step.path, str(trouble))
        self.tally.record_finished(step.size)

    async def delete_file(self, path: str) -> None:
        if self.dry_run:
            self.tally.removals.add(path)
            return
        try:
            await self.target.delete(path)
        except FileFailure as trouble:
            self.tally.record_error(path, f"not deleted: {trouble}")
            return
        self.tally.deleted += 1
        self.tally.log_line(f"deleted {printable(path)}")

    async def _carry(self, step: CopyStep) -> None:
        sha256 = None
        if step.is_check:
            is_same, sha256 = await self._compare(step.path)
            if is_same:
                self.tally.skipped += 1
                return
        if self.dry_run:
            self.tally.copies.add(step.path)
            self.tally.bytes += step.size
            return
        for _ in range(COPY_TRIES_MAX):
            with contextlib.suppress(FileChanged):
                await self._copy(step.path, sha256)
                return
            sha256 = None
        raise FileFailure("the file changed each time it was copied")

    async def _copy(self, path: str, sha256: str | None) -> None:
        if self.checksum and self.target.stores_sha256 and sha256 is None:
            sha256 = await self._sha256(self.source, path)
        async with self.source.read(path) as reading:
            sending = FileTransfer(self, reading, replace(reading.facts, sha256=sha256))
            try:
                await self.target.write(path, sending)
            except BaseException:
                self.tally.sending -= sending.sent
                raise
        self.tally.record_copied(sending.sent)
        self.tally.log_line(f"copied {printable(path)}, {sending.sent} bytes")

    async def _compare(self, path: str) -> tuple[bool, str | None]:
        """Return whether the files are equal, and the source's checksum if it was computed."""
        source = await self.source.facts(path)
        try:
            target = await self.target.facts(path)
        except FileMissing:
            return False, None
        if source.size != target.size:
            return False, None
        if self.checksum:
            expected = source.sha256 or await self._sha256(self.source, path)
            actual = target.sha256 or await self._sha256(self.target, path)
            return expected == actual, expected
        if target.is_arrival:
            # Another program uploaded it; equal if it arrived after the source's last change.
            return target.mtime >= source.mtime, None
        return is_same_time(source.mtime, target.mtime, max(source.grain, target.grain)), None

    async def _sha256(self, tree: FileTree, path: str) -> str:
        for _ in range(COPY_TRIES_MAX):
            digest = new_sha256()
            with contextlib.suppress(FileChanged):
                async with (
                    tree.read(path) as reading,
                    contextlib.aclosing(reading.chunks()) as chunks,
                ):
                    async for chunk in chunks:
                        await update_digest(digest, chunk, self.threads)
                return digest.hexdigest()
        raise FileFailure("the file changed each time it was read")


class FileTransfer:
    """A file being copied: counts its bytes, and hashes them if the order compares checksums."""

    def __init__(self, copier: Copier, reading: FileReader, facts: FileFacts) -> None:
        self._copier = copier
        self._reading = reading
        self._digest = new_sha256() if copier.checksum else None
        self.facts = facts
        self.sent = 0

    @property
    def sha256(self) -> str | None:
        return None if self._digest is None else self._digest.hexdigest()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        async with contextlib.aclosing(self._reading.chunks()) as chunks:
            async for chunk in chunks:
                if self._digest is not None:
                    await update_digest(self._digest, chunk, self._copier.threads)
                yield chunk
                self.sent += len(chunk)
                self._copier.tally.record_sent(len(chunk))
        if self._digest is not None and self.facts.sha256 not in {None, self.sha256}:
            raise FileChanged
