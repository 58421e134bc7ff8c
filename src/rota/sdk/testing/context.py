"""An attempt for tests: all that an executor may ask for, kept in memory. Room: sdk/testing.

It behaves as the worker's context does where an executor can tell: writing never blocks and is
cut, checkpoints are copies that went through JSON, members may be used from any thread. What it
does not have is a database: `transaction` refuses.
"""

import json
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from rota.core.executor import Fail, Member, Stream

# As much as a worker keeps of one attempt's output.
KEPT = 1024 * 1024
RUN = UUID("01890000-0000-7000-8000-000000000001")
JOB = UUID("01890000-0000-7000-8000-000000000002")
SCHEDULED = datetime(2030, 1, 1, 9, tzinfo=UTC)


@dataclass(slots=True)
class Recorded:
    """What one stream said: its first bytes, and how many there were."""

    kept: bytearray = field(default_factory=bytearray)
    size: int = 0

    @property
    def cut(self) -> bool:
        return self.size > len(self.kept)

    @property
    def text(self) -> str:
        return self.kept.decode(errors="replace")


@dataclass(slots=True, kw_only=True)
class RecordingContext:
    """A `rota.core.executor.Context`; give it another `attempt` and the same checkpoint to play
    the next one.
    """

    kind: str = "test"
    run_id: UUID = RUN
    job_id: UUID = JOB
    attempt: int = 1
    idempotency_key: str = str(RUN)
    traceparent: str | None = None
    scheduled_at: datetime = SCHEDULED
    due_at: datetime = SCHEDULED
    timeout: timedelta | None = None
    grace: timedelta = timedelta(seconds=2)
    cancelled: bool = False
    # The JSON text of the last checkpoint.
    stored: str | None = None
    told: list[tuple[float, str]] = field(default_factory=list)
    # What it handed out as the source of a map, and the maps that it may read, by step.
    handed: list[Any] = field(default_factory=list)
    maps: Mapping[str, Sequence[Member]] = field(default_factory=dict)
    _streams: dict[Stream, Recorded] = field(default_factory=lambda: defaultdict(Recorded))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def said(self, stream: Stream) -> Recorded:
        with self._lock:
            return self._streams[stream]

    @property
    def everything(self) -> str:
        """The text of all streams, one after the other."""
        return "".join(self.said(stream).text for stream in Stream)

    def write(self, stream: Stream, chunk: bytes) -> None:
        with self._lock:
            recorded = self._streams[stream]
            recorded.kept += chunk[: KEPT - len(recorded.kept)]
            recorded.size += len(chunk)

    def progress(self, fraction: float, message: str = "") -> None:
        if not 0 <= fraction <= 1:
            raise ValueError(f"progress is from 0 to 1, not {fraction}")
        self.told.append((fraction, message))

    async def checkpoint(self, value: object) -> None:
        self.stored = json.dumps(value, allow_nan=False)

    async def resume(self) -> Any:
        return None if self.stored is None else json.loads(self.stored)

    def transaction(self, result: object = None) -> Any:
        raise NotImplementedError("a test of transactions needs a database, and a worker")

    async def hand_out(self, items: Sequence[object]) -> None:
        self.handed += json.loads(json.dumps(list(items), allow_nan=False))

    async def member_page(self, step: str, after: int) -> list[Member]:
        if step not in self.maps:
            raise Fail(f"there is no map {step!r} in this test: give the context its members")
        return [member for member in self.maps[step] if member.index > after]

    async def members(self, step: str) -> AsyncIterator[Member]:
        for member in await self.member_page(step, -1):
            yield member
