"""An attempt that keeps what its handler said, and lets a test wait for it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from rota.core.executor import MapMember, Stream

KEPT = 1_000_000
DEADLINE = 20.0


class Recording:
    """A `AttemptContext` without an engine; keeps a megabyte of each stream, counts the rest."""

    run_id = UUID(int=1)
    job_id = UUID(int=2)
    kind = "test"
    attempt = 3
    idempotency_key = "key-1"
    traceparent: str | None = None
    scheduled_at = datetime(2030, 1, 1, 9, tzinfo=UTC)
    due_at = datetime(2030, 1, 1, 9, 0, 5, tzinfo=UTC)
    timeout: timedelta | None = timedelta(minutes=5)

    def __init__(self, *, grace: float = 10.0, checkpoint: Any = None) -> None:
        self.grace = timedelta(seconds=grace)
        self.cancelled = False
        self.told: list[tuple[float, str]] = []
        self.stored = checkpoint
        # Set to make checkpoints and handing out fail, or wait.
        self.refusal: Exception | None = None
        self.gate: asyncio.Event | None = None
        self.handed: list[list[object]] = []
        self.members_of: list[MapMember] = []
        self.pages: list[tuple[str, int]] = []
        self.size = 0
        self.longest = 0
        self._said: list[tuple[Stream, bytes]] = []
        self._kept: dict[Stream, int] = {}
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    def write(self, stream: Stream, chunk: bytes) -> None:
        with self._lock:
            kept = self._kept.get(stream, 0)
            if kept < KEPT:
                self._said.append((stream, chunk[: KEPT - kept]))
            self._kept[stream] = kept + len(chunk)
            self.size += len(chunk)
            self.longest = max(self.longest, len(chunk))
        self._wake()

    def progress(self, fraction: float, message: str = "") -> None:
        self.told.append((fraction, message))
        self._wake()

    async def checkpoint(self, value: object) -> None:
        self.told.append((-1.0, "checkpoint"))
        self._wake()
        if self.gate is not None:
            await self.gate.wait()
        if self.refusal is not None:
            raise self.refusal
        self.stored = value

    async def resume(self) -> Any:
        return self.stored

    async def hand_out(self, items: Sequence[object]) -> None:
        self.handed.append(list(items))
        self._wake()
        if self.gate is not None:
            await self.gate.wait()
        if self.refusal is not None:
            raise self.refusal

    async def member_page(self, step: str, after: int) -> list[MapMember]:
        self.pages.append((step, after))
        return [member for member in self.members_of if member.index > after][:2]

    async def members(self, step: str) -> AsyncIterator[MapMember]:
        for member in await self.member_page(step, -1):
            yield member

    def transaction(self, result: object = None) -> Any:
        raise NotImplementedError

    def said(self, *streams: Stream) -> str:
        """The text of these streams, or of all."""
        with self._lock:
            chosen = [chunk for stream, chunk in self._said if not streams or stream in streams]
        return b"".join(chosen).decode()

    async def hears(self, text: str) -> None:
        """Wait until the handler has said this, or told it as its progress."""
        await self.until(
            lambda: text in self.said() or text in [message for _, message in self.told]
        )

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that a handler does through this context."""
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._changed.set)
