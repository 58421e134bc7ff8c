"""One attempt: what is known of it, and the context its executor gets. Room: flow/execute.

Made for every run on the hot path, so it is one object with slots that computes nothing before it
is asked. The engine's thread and the stage's thread share it: each field has one writer.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

import msgspec

from rota.core.attempt import Stopping
from rota.core.errors import InvalidInput
from rota.core.executor import Executor, Member, Stream
from rota.core.policy import Policy
from rota.flow.execute.output import Output
from rota.store.live_runs import Claimed

if TYPE_CHECKING:
    from rota.flow.execute.handing import Handing

LONGEST_MESSAGE: Final = 200


class Effects(Protocol):
    """What an attempt may ask for while it runs; see effects.py."""

    def now(self) -> datetime: ...
    def noted(self, attempt: "Attempt", /) -> None: ...
    async def checkpoint(self, attempt: "Attempt", value: object, /) -> None: ...
    async def resume(self, attempt: "Attempt", /) -> Any: ...
    def transaction(self, attempt: "Attempt", result: object, /) -> Any: ...
    async def hand_out(self, attempt: "Attempt", items: Sequence[object], /) -> None: ...
    async def members(self, attempt: "Attempt", step: str, after: int, /) -> list[Member]: ...


class Attempt:
    """Implements `core.executor.Context`."""

    __slots__ = (
        "_effects",
        "_progress",
        "began",
        "executor",
        "give_up_at",
        "handing",
        "is_closed",
        "is_counted",
        "is_gated",
        "is_recorded",
        "kind",
        "output",
        "payload",
        "policy",
        "run",
        "start_at",
        "stop_at",
        "stopping",
        "task",
    )

    def __init__(
        self,
        run: Claimed,
        kind: str,
        policy: Policy,
        payload: str | None,
        executor: Executor,
        effects: Effects,
    ) -> None:
        self.run = run
        self.kind = kind
        self.policy = policy
        self.payload = payload
        self.executor = executor
        self.task: asyncio.Task[None] | None = None
        # Monotonic times: when it began, before which it must not start, when to ask it to stop,
        # and when to wait for it no longer.
        self.began = 0.0
        self.start_at: float | None = None
        self.stop_at: float | None = None
        self.give_up_at: float | None = None
        self.stopping: Stopping | None = None
        # Its ending was told; whatever it still does is void.
        self.is_closed = False
        self.is_counted = False
        # It passed gates: others may wait for its place until its ending is stored.
        self.is_gated = False
        # It completed its run in a transaction of its own.
        self.is_recorded = False
        self.output: Output | None = None
        # What it hands out, if it is the source of a map.
        self.handing: Handing | None = None
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
        return self.policy.grace

    @property
    def cancelled(self) -> bool:
        return self.stopping is not None

    def time_limit(self) -> timedelta | None:
        """How long it may take: its timeout, or what the deadline of the run leaves."""
        deadline = self.run.deadline_at
        if deadline is None:
            return self.policy.timeout
        left = deadline - self.run.started_at
        return left if self.policy.timeout is None else min(left, self.policy.timeout)

    def read(self) -> Any:
        """Let the executor check the payload."""
        try:
            value = None if self.payload is None else msgspec.json.decode(self.payload)
        except msgspec.DecodeError as error:
            raise InvalidInput("payload", self.payload, f"valid JSON: {error}") from error
        return self.executor.read(self.kind, value)

    def write(self, stream: Stream, chunk: bytes) -> None:
        if self.is_closed or not chunk:
            return
        if self.output is None:
            self.output = Output()
        self.output.write(stream, chunk, self._effects.now())
        self._effects.noted(self)

    def progress(self, fraction: float, message: str = "") -> None:
        fraction = min(1.0, max(0.0, float(fraction)))
        self._progress = (fraction, message[:LONGEST_MESSAGE])
        self._effects.noted(self)

    def take_progress(self) -> tuple[float, str] | None:
        """The last progress that nobody has stored yet."""
        progress, self._progress = self._progress, None
        return progress

    async def checkpoint(self, value: object) -> None:
        await self._effects.checkpoint(self, value)

    async def resume(self) -> Any:
        return await self._effects.resume(self)

    def transaction(self, result: object = None) -> Any:
        return self._effects.transaction(self, result)

    async def hand_out(self, items: Sequence[object]) -> None:
        await self._effects.hand_out(self, items)

    async def member_page(self, step: str, after: int) -> list[Member]:
        return await self._effects.members(self, step, after)

    async def members(self, step: str) -> AsyncIterator[Member]:
        after = -1
        while page := await self.member_page(step, after):
            for member in page:
                yield member
            after = page[-1].index
