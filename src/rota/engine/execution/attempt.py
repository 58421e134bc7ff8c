"""Holds the state of one attempt, and is the context that its executor gets.

Created for every run on the hot path, so it is one object with slots that computes on demand. The
engine's thread and the attempt loop's thread share it; the constructor groups the fields by what
sets them.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from uuid import UUID

import msgspec

from rota.core.errors import InvalidInput
from rota.core.executor import Executor, MapMember, Stream
from rota.core.outcome import Outcome
from rota.core.policy import Policy
from rota.core.secret_references import REFERENCE_START, insert_secrets
from rota.core.settlement import StopReason
from rota.core.tenancy import DEFAULT_TENANT
from rota.store.live_runs import ClaimedRun
from rota.store.logs import ATTEMPT_LOG_MAX_BYTES, LOG_TRUNCATED_LINE

if TYPE_CHECKING:
    from rota.engine.execution.attempt_effects import MapMemberFeed
    from rota.engine.execution.attempt_secrets import AttemptMask
    from rota.engine.execution.pipeline import BreakerPass

PROGRESS_MESSAGE_MAX: Final = 200
# Bytes of output stored as one row (reliability 5.9).
PIECE_BYTES_MAX: Final = 16_000
ERROR_BYTES_MAX: Final = 64_000


class AttemptEffects(Protocol):
    """The database operations that an attempt may request while it runs; see attempt_effects.py."""

    def now(self) -> datetime: ...
    def on_output(self, attempt: "Attempt", /) -> None: ...
    async def checkpoint(self, attempt: "Attempt", value: object, /) -> None: ...
    async def resume(self, attempt: "Attempt", /) -> Any: ...
    def transaction(self, attempt: "Attempt", result: object, /) -> Any: ...
    async def add_map_items(self, attempt: "Attempt", items: Sequence[object], /) -> None: ...
    async def read_members(
        self, attempt: "Attempt", step: str, after: int, /
    ) -> list[MapMember]: ...
    async def secrets(self, attempt: "Attempt", names: Sequence[str], /) -> Mapping[str, str]: ...


class AttemptTraceSpan(Protocol):
    """The span of an attempt in its run's trace; engine/observability writes it."""

    @property
    def traceparent(self) -> str: ...
    def end(self, outcome: Outcome, /) -> None: ...


class StartAttemptSpan(Protocol):
    """Starts the span of an attempt that starts in `ahead` seconds."""

    def __call__(self, run: ClaimedRun, kind: str, /, *, ahead: float) -> AttemptTraceSpan: ...


class Attempt:
    """Implements `core.executor.AttemptContext`."""

    __slots__ = (
        "_effects",
        "_progress",
        "began_at",
        "breaker_pass",
        "executor",
        "forbids_overlap",
        "give_up_at",
        "is_closed",
        "is_counted",
        "is_gated",
        "is_recorded",
        "is_started",
        "kind",
        "map_feed",
        "output",
        "payload",
        "policy",
        "run",
        "secret_mask",
        "span",
        "start_at",
        "stop_at",
        "stop_grace",
        "stop_reason",
        "task",
        "tenant",
    )

    def __init__(
        self,
        run: ClaimedRun,
        kind: str,
        policy: Policy,
        payload: str | None,
        executor: Executor,
        effects: AttemptEffects,
    ) -> None:
        self.run = run
        self.kind = kind
        self.policy = policy
        self.payload = payload
        self.executor = executor
        # Set by the attempt pool, before the attempt starts.
        # The tenant's name; it decides which of the worker's resources the attempt may use.
        self.tenant = DEFAULT_TENANT
        # It passed gates: other runs may wait for its place until its ending is stored.
        self.is_gated = False
        # It must not overlap its successor, so it must end before the worker's lease expires.
        self.forbids_overlap = False
        # The monotonic time from which it may start, if it was claimed early.
        self.start_at: float | None = None
        # Set by the attempt pool: its slot is free.
        self.is_counted = False
        # Set by the attempt loop. Monotonic times: when it began, when to ask it to stop, and when
        # to stop waiting for it.
        self.task: asyncio.Task[None] | None = None
        self.began_at = 0.0
        self.stop_at: float | None = None
        self.give_up_at: float | None = None
        self.stop_reason: StopReason | None = None
        # How long stopping may take, if less than the policy's grace.
        self.stop_grace: timedelta | None = None
        # Set by the steps of the pipeline (pipeline.py), if they apply to this attempt.
        # Its span, if tracing is on.
        self.span: AttemptTraceSpan | None = None
        # Masks the secrets it was given, if its payload references any.
        self.secret_mask: AttemptMask | None = None
        # How it passed the circuit breaker of its target, if it has a target.
        self.breaker_pass: BreakerPass | None = None
        # Its executor was called, so it may have had effects.
        self.is_started = False
        # Its ending was reported; anything it still does is ignored. The attempt pool also sets it,
        # for graph runs and when it replaces a blocked loop.
        self.is_closed = False
        # Set by what the attempt does while it runs: its output, the items it feeds to a map, and
        # whether it completed its run in its own transaction.
        self.output: OutputBuffer | None = None
        self.map_feed: MapMemberFeed | None = None
        self.is_recorded = False
        self._effects = effects
        self._progress: tuple[float, str] | None = None

    @property
    def run_id(self) -> UUID:
        return self.run.id

    @property
    def job_id(self) -> UUID:
        return self.run.job_id

    @property
    def attempt(self) -> int:
        return self.run.attempt

    @property
    def idempotency_key(self) -> str:
        return str(self.run.id)

    @property
    def traceparent(self) -> str | None:
        return None if self.span is None else self.span.traceparent

    @property
    def scheduled_at(self) -> datetime:
        return self.run.scheduled_at

    @property
    def due_at(self) -> datetime:
        return self.run.due_at

    @property
    def timeout(self) -> timedelta | None:
        return self.policy.timeout

    @property
    def grace(self) -> timedelta:
        return self.policy.grace if self.stop_grace is None else self.stop_grace

    @property
    def cancelled(self) -> bool:
        return self.stop_reason is not None

    def time_limit(self) -> timedelta | None:
        """Return how long the attempt may take: its timeout, or what the run's deadline leaves."""
        deadline = self.run.deadline_at
        if deadline is None:
            return self.policy.timeout
        left = deadline - self.run.started_at
        return left if self.policy.timeout is None else min(left, self.policy.timeout)

    @property
    def names_secrets(self) -> bool:
        return self.payload is not None and REFERENCE_START in self.payload

    async def secrets(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the values of those named secrets of its tenant that exist."""
        return await self._effects.secrets(self, names)

    def decode_payload(self) -> Any:
        try:
            return None if self.payload is None else msgspec.json.decode(self.payload)
        except msgspec.DecodeError as error:
            raise InvalidInput("payload", self.payload, f"expected valid JSON: {error}") from error

    def read_spec(self, secrets: Mapping[str, str] | None = None) -> Any:
        """Let the executor validate the payload, with these secrets injected."""
        value = self.decode_payload()
        if secrets:
            value = insert_secrets(value, secrets)
        read_for = getattr(self.executor, "read_for", None)
        if read_for is None:
            return self.executor.read(self.kind, value)
        return read_for(self.tenant, self.kind, value)

    def write(self, stream: Stream, chunk: bytes) -> None:
        if self.secret_mask is not None:
            chunk = self.secret_mask.mask_output(stream, chunk)
        self._write(stream, chunk)

    def _write(self, stream: Stream, chunk: bytes) -> None:
        if self.is_closed or not chunk:
            return
        if self.output is None:
            self.output = OutputBuffer()
        self.output.write(stream, chunk, self._effects.now())
        self._effects.on_output(self)

    def progress(self, fraction: float, message: str = "") -> None:
        fraction = min(1.0, max(0.0, float(fraction)))
        if self.secret_mask is not None:
            message = self.secret_mask.mask_text(message)
        self._progress = (fraction, message[:PROGRESS_MESSAGE_MAX])
        self._effects.on_output(self)

    def take_progress(self) -> tuple[float, str] | None:
        """Return the last progress if it has not been stored yet."""
        progress, self._progress = self._progress, None
        return progress

    def close(self, outcome: Outcome, result: str | None) -> tuple[Outcome, str | None]:
        """End the attempt: later output is ignored. Return its ending with secrets masked."""
        if self.secret_mask is not None:
            for stream, chunk in self.secret_mask.flush_output():
                self._write(stream, chunk)
            outcome, result = self.secret_mask.mask_ending(outcome, result)
        self.is_closed = True
        return outcome, result

    async def checkpoint(self, value: object) -> None:
        await self._effects.checkpoint(self, value)

    async def resume(self) -> Any:
        return await self._effects.resume(self)

    def transaction(self, result: object = None) -> Any:
        return self._effects.transaction(self, result)

    async def hand_out(self, items: Sequence[object]) -> None:
        await self._effects.add_map_items(self, items)

    async def member_page(self, step: str, after: int) -> list[MapMember]:
        return await self._effects.read_members(self, step, after)

    async def members(self, step: str) -> AsyncIterator[MapMember]:
        after = -1
        while page := await self.member_page(step, after):
            for member in page:
                yield member
            after = page[-1].index


class OutputChunk(NamedTuple):
    seq: int
    stream: Stream
    at: datetime
    chunk: bytes


class OutputBuffer:
    """Buffers the output of one attempt until it is stored.

    Any thread may write; the engine takes the pieces. Small writes to the same stream are joined,
    so that a handler that prints one character at a time does not create a row for each.
    """

    __slots__ = (
        "_begun_at",
        "_cut",
        "_error_size",
        "_lock",
        "_ready",
        "_seq",
        "_size",
        "_stream",
        "_tail",
    )

    def __init__(self) -> None:
        self._lock = Lock()
        self._ready: deque[OutputChunk] = deque()
        self._tail = bytearray()
        self._stream = Stream.STDOUT
        self._begun_at: datetime | None = None
        self._seq = 0
        self._size = 0
        self._error_size = 0
        self._cut = False

    def write(self, stream: Stream, chunk: bytes, at: datetime) -> None:
        """Add `chunk`, written at `at`. Output over the limit is cut, once and visibly."""
        with self._lock:
            if stream is Stream.ERROR:
                # The error matters most, so it has its own limit.
                room = max(0, ERROR_BYTES_MAX - self._error_size)
                self._error_size += len(chunk)
                self._append(stream, chunk[:room], at)
                return
            if self._cut:
                return
            room = ATTEMPT_LOG_MAX_BYTES - self._size
            self._size += len(chunk)
            self._append(stream, chunk[:room], at)
            if len(chunk) > room:
                self._cut = True
                self._append(Stream.ROTA, LOG_TRUNCATED_LINE, at)

    def take(self, limit: int) -> list[OutputChunk]:
        """Return the oldest pieces, at most `limit`."""
        with self._lock:
            self._finish_piece()
            return [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]

    def _append(self, stream: Stream, chunk: bytes, at: datetime) -> None:
        for start in range(0, len(chunk), PIECE_BYTES_MAX):
            part = chunk[start : start + PIECE_BYTES_MAX]
            if stream is not self._stream or len(self._tail) + len(part) > PIECE_BYTES_MAX:
                self._finish_piece()
            if self._begun_at is None:
                self._begun_at, self._stream = at, stream
            self._tail += part

    def _finish_piece(self) -> None:
        if self._begun_at is not None:
            piece = OutputChunk(self._seq, self._stream, self._begun_at, bytes(self._tail))
            self._ready.append(piece)
            self._seq += 1
            self._tail.clear()
            self._begun_at = None
