"""Defines the interface of executors, the plug-ins that run jobs.

An executor runs one kind of job, or a family of kinds. Rota calls `read` with the payload, then
`run` with the result of `read`, on an event loop that only runs attempts, and derives the next
state of the run from the outcome.

    read     rejects a payload by raising `InvalidInput`: the run fails without a retry
    run      returns an `Outcome`, or raises `Fail`, `Retry` or `Snooze`. Any other exception is a
             failure that is retried according to the policy
    cancel   is a `CancelledError` inside `run`, after a timeout or when the run is cancelled. The
             executor stops what it started within `context.grace` and lets the error propagate

An executor must not block the loop: blocking work belongs in a thread or a process. It writes
output through `context.write`, which never blocks and truncates output that is too long. The public
test suite for executors is rota.sdk.testing.executor_contract.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from rota.core.outcome import Outcome


class Stream(IntEnum):
    """The origin of a chunk of an attempt's log."""

    STDOUT = 1
    STDERR = 2
    RECORD = 3
    # Messages of Rota about the attempt, for example that its output was truncated.
    ROTA = 4
    # The traceback of the exception with which the attempt failed.
    ERROR = 5


@dataclass(frozen=True, slots=True)
class MapMember:
    """One member of a map: its index, the state of its run, and its result."""

    index: int
    state: str
    result: Any


class AttemptContext(Protocol):
    """An attempt, as its executor sees it. All members may be used from any thread."""

    @property
    def run_id(self) -> UUID: ...
    @property
    def job_id(self) -> UUID: ...
    @property
    def kind(self) -> str: ...
    @property
    def attempt(self) -> int:
        """The number of the attempt, from 1. It only grows, so it is also the run's fence."""
        ...

    @property
    def idempotency_key(self) -> str:
        """The same for all attempts of the run."""
        ...

    @property
    def traceparent(self) -> str | None:
        """The W3C `traceparent` of this attempt; None if the run is not traced. The executor passes
        it to what it calls or starts.
        """
        ...

    @property
    def scheduled_at(self) -> datetime: ...
    @property
    def due_at(self) -> datetime: ...
    @property
    def timeout(self) -> timedelta | None:
        """The time limit of this attempt; Rota then cancels it."""
        ...

    @property
    def grace(self) -> timedelta:
        """The time that the attempt has to stop after it was asked to."""
        ...

    @property
    def cancelled(self) -> bool:
        """Whether this attempt was asked to stop; for code in threads, which gets no error."""
        ...

    def write(self, stream: Stream, chunk: bytes) -> None:
        """Add to the log of the attempt."""

    def progress(self, fraction: float, message: str = "") -> None:
        """Report progress from 0 to 1. Kept in memory and stored about once a second."""

    async def checkpoint(self, value: object) -> None:
        """Store a checkpoint; durable once this returns. Raises `LeaseLost`."""

    async def resume(self) -> Any:
        """Return the last checkpoint of an earlier attempt, or None."""

    def transaction(self, result: object = None) -> Any:
        """Return an async context manager that yields a database connection in a transaction. The
        same transaction completes the run with this result, so that either both are committed or
        neither is (E2). A later return value of the handler is ignored.
        """

    async def hand_out(self, items: Sequence[object]) -> None:
        """Add items to a map, as its source. Durable once this returns; waits while too many
        members are unfinished. After a crash, the next attempt must yield the same items in the
        same order; Rota skips the items that were added before. Raises `LeaseLost`.
        """

    def members(self, step: str) -> AsyncIterator[MapMember]:
        """Yield all members of a map of this graph run, in order, a page at a time."""
        ...

    async def member_page(self, step: str, after: int) -> list[MapMember]:
        """Return the page of `members` after an index, -1 for the first; empty at the end."""
        ...


@runtime_checkable
class Executor(Protocol):
    """See the module. Entry points of the group `rota.executors` name factories of executors."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds that it runs; a worker claims runs of these kinds only."""
        ...

    def read(self, kind: str, payload: Any) -> Any:
        """Check the payload and return the spec for `run`; raise `InvalidInput` if it is wrong."""

    async def run(self, spec: Any, context: AttemptContext) -> Outcome:
        """Run one attempt."""

    async def open(self) -> None:
        """Called once on the attempt loop, before the first run."""

    async def close(self) -> None:
        """Called once on the attempt loop, after the last run."""


class TargetedExecutor(Protocol):
    """Optional interface of an executor whose attempts depend on a target (core/breaker.py).

    `only_calls` is true if attempts do nothing but wait for the target: a timeout then means that
    the target did not answer. Default: false, because a long query may time out as well.
    """

    only_calls: bool

    def target_of(self, spec: Any) -> str | None:
        """Return the target of a run, such as `example.org:443`; None if it has none.
        `Failed.reached` reports whether the target answered.
        """
        ...


@runtime_checkable
class TenantScopedExecutor(Protocol):
    """Optional interface of an executor whose resources are not open to every tenant."""

    def read_for(self, tenant: str, kind: str, payload: Any) -> Any:
        """Check the payload as `read` does, with the resources that this tenant may use."""
        ...


@runtime_checkable
class AbandoningExecutor(Protocol):
    """Optional interface of an executor that may leave threads behind that did not stop."""

    @property
    def abandoned(self) -> int:
        """The number of such threads that are still running."""
        ...


class Fail(Exception):
    """Raised by a handler: the run cannot succeed; do not retry it."""


class Retry(Exception):
    """Raised by a handler: retry the run, after `after` at the earliest."""

    def __init__(self, reason: str = "", *, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Snooze(Exception):
    """Raised by a handler: nothing to do yet; run again after `delay`, without using a retry."""

    def __init__(self, delay: timedelta, reason: str = "") -> None:
        super().__init__(reason)
        self.delay = delay
