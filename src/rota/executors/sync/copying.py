"""Copies single files and verifies them.

A file that changes while it is read is read again, up to three times. A file gets its real name in
the target only when it has arrived completely (`Tree.write`).
"""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from rota.executors.sync.planning import Step, same_time
from rota.executors.sync.tally import Tally
from rota.executors.sync.threads import Threads, hashed
from rota.executors.sync.tree import (
    Changed,
    Facts,
    Gone,
    Reading,
    Tree,
    Trouble,
    new_sha256,
    printable,
)

TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Copier:
    """Executes the steps of one attempt."""

    source: Tree
    target: Tree
    tally: Tally
    threads: Threads
    checksum: bool
    dry_run: bool

    async def carry(self, step: Step) -> None:
        """Compare and copy one file; record errors of this file in the tally."""
        try:
            await self._carry(step)
        except Gone:
            self.tally.vanished += 1
            self.tally.say(f"disappeared: {printable(step.path)}")
        except Trouble as trouble:
            self.tally.trouble(step.path, str(trouble))
        self.tally.passed(step.size)

    async def remove(self, path: str) -> None:
        if self.dry_run:
            self.tally.removals.add(path)
            return
        try:
            await self.target.delete(path)
        except Trouble as trouble:
            self.tally.trouble(path, f"not deleted: {trouble}")
            return
        self.tally.deleted += 1
        self.tally.say(f"deleted {printable(path)}")

    async def _carry(self, step: Step) -> None:
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
        for _ in range(TRIES):
            with contextlib.suppress(Changed):
                await self._copy(step.path, sha256)
                return
            sha256 = None
        raise Trouble("the file changed each time it was copied")

    async def _copy(self, path: str, sha256: str | None) -> None:
        if self.checksum and self.target.stores_sha256 and sha256 is None:
            sha256 = await self._sha256(self.source, path)
        async with self.source.read(path) as reading:
            sending = Sending(self, reading, replace(reading.facts, sha256=sha256))
            try:
                await self.target.write(path, sending)
            except BaseException:
                self.tally.sending -= sending.sent
                raise
        self.tally.arrived(sending.sent)
        self.tally.say(f"copied {printable(path)}, {sending.sent} bytes")

    async def _compare(self, path: str) -> tuple[bool, str | None]:
        """Return whether the files are equal, and the source's checksum if it was computed."""
        source = await self.source.facts(path)
        try:
            target = await self.target.facts(path)
        except Gone:
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
        return same_time(source.mtime, target.mtime, max(source.grain, target.grain)), None

    async def _sha256(self, tree: Tree, path: str) -> str:
        for _ in range(TRIES):
            digest = new_sha256()
            with contextlib.suppress(Changed):
                async with (
                    tree.read(path) as reading,
                    contextlib.aclosing(reading.chunks()) as chunks,
                ):
                    async for chunk in chunks:
                        await hashed(digest, chunk, self.threads)
                return digest.hexdigest()
        raise Trouble("the file changed each time it was read")


class Sending:
    """A file being copied: counts its bytes, and hashes them if the order compares checksums."""

    def __init__(self, copier: Copier, reading: Reading, facts: Facts) -> None:
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
                    await hashed(self._digest, chunk, self._copier.threads)
                yield chunk
                self.sent += len(chunk)
                self._copier.tally.sent(len(chunk))
        if self._digest is not None and self.facts.sha256 not in {None, self.sha256}:
            raise Changed
