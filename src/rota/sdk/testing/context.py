"""Provides the context of an attempt for tests; it records everything in memory.

To an executor it behaves like a worker's context: writes never block and are truncated, checkpoints
are copies in JSON, and it is thread-safe. It has no database, so `transaction` raises.
"""

import json
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from rota.core.executor import Fail, MapMember, Stream

# The number of bytes that a worker keeps of one attempt's output.
OUTPUT_BYTES_MAX = 1024 * 1024
DEFAULT_RUN_ID = UUID("01890000-0000-7000-8000-000000000001")
DEFAULT_JOB_ID = UUID("01890000-0000-7000-8000-000000000002")
DEFAULT_SCHEDULED_AT = datetime(2030, 1, 1, 9, tzinfo=UTC)


@dataclass(slots=True)
class RecordedOutput:
    """The output of one stream: its first bytes, and the number of all bytes."""

    content: bytearray = field(default_factory=bytearray)
    size: int = 0

    @property
    def is_truncated(self) -> bool:
        return self.size > len(self.content)

    @property
    def text(self) -> str:
        return self.content.decode(errors="replace")


@dataclass(slots=True, kw_only=True)
class RecordingContext:
    """A `rota.core.executor.AttemptContext`. For the next attempt of a run, create one with the
    next `attempt` number and the same checkpoint.
    """

    kind: str = "test"
    run_id: UUID = DEFAULT_RUN_ID
    job_id: UUID = DEFAULT_JOB_ID
    attempt: int = 1
    idempotency_key: str = str(DEFAULT_RUN_ID)
    traceparent: str | None = None
    scheduled_at: datetime = DEFAULT_SCHEDULED_AT
    due_at: datetime = DEFAULT_SCHEDULED_AT
    timeout: timedelta | None = None
    grace: timedelta = timedelta(seconds=2)
    cancelled: bool = False
    # The JSON text of the last checkpoint.
    stored_checkpoint: str | None = None
    progress_reports: list[tuple[float, str]] = field(default_factory=list)
    # The items that it handed out as the source of a map, and the maps that it may read, by step.
    handed_out_items: list[Any] = field(default_factory=list)
    maps: Mapping[str, Sequence[MapMember]] = field(default_factory=dict)
    _streams: dict[Stream, RecordedOutput] = field(
        default_factory=lambda: defaultdict(RecordedOutput)
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def output_of(self, stream: Stream) -> RecordedOutput:
        with self._lock:
            return self._streams[stream]

    @property
    def all_output(self) -> str:
        """The text of all streams, concatenated."""
        return "".join(self.output_of(stream).text for stream in Stream)

    def write(self, stream: Stream, chunk: bytes) -> None:
        with self._lock:
            recorded = self._streams[stream]
            recorded.content += chunk[: OUTPUT_BYTES_MAX - len(recorded.content)]
            recorded.size += len(chunk)

    def progress(self, fraction: float, message: str = "") -> None:
        if not 0 <= fraction <= 1:
            raise ValueError(f"progress must be from 0 to 1 (got {fraction})")
        self.progress_reports.append((fraction, message))

    async def checkpoint(self, value: object) -> None:
        self.stored_checkpoint = json.dumps(value, allow_nan=False)

    async def resume(self) -> Any:
        return None if self.stored_checkpoint is None else json.loads(self.stored_checkpoint)

    def transaction(self, result: object = None) -> Any:
        raise NotImplementedError("this context has no database; test transactions with a worker")

    async def hand_out(self, items: Sequence[object]) -> None:
        self.handed_out_items += json.loads(json.dumps(list(items), allow_nan=False))

    async def member_page(self, step: str, after: int) -> list[MapMember]:
        if step not in self.maps:
            raise Fail(f"this test has no map {step!r}; pass its members to the context as `maps`")
        return [member for member in self.maps[step] if member.index > after]

    async def members(self, step: str) -> AsyncIterator[MapMember]:
        for member in await self.member_page(step, -1):
            yield member
