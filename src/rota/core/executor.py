"""What an executor owes Rota, and what it gets: the contract of every plug-in. Room: core.

An executor carries out one kind of job, or a family of kinds. Rota calls `read` with the payload,
then `run` with what `read` returned, on an event loop that belongs to attempts alone, and turns
the answer into the next state of the run.

    read     refuses a payload by raising `InvalidInput`: the run fails at once, without a retry
    run      returns an `Outcome`, or raises: `Fail`, `Retry` and `Snooze` say what they mean, any
             other exception is a failure that is retried as the policy says
    cancel   is `CancelledError` inside `run`, for a time-out as for a cancelled run. The executor
             stops what it started within `context.grace` and lets the error pass

It must not block the loop: what blocks belongs in a thread or a process. It writes output through
`context.write`, which never blocks and cuts what is too long. The public test suite for executors
is rota.sdk.testing.executor_contract.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from rota.core.outcome import Outcome


class Stream(IntEnum):
    """Where a piece of an attempt's log came from."""

    STDOUT = 1
    STDERR = 2
    RECORD = 3
    # What Rota itself says about the attempt, for example that its output was cut.
    ROTA = 4
    # The traceback of the exception that the attempt failed with.
    ERROR = 5


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a map: its place in the list, the state of its run, and what came of it."""

    index: int
    state: str
    result: Any


class Context(Protocol):
    """One attempt, as its executor sees it. All members are safe to use from any thread."""

    @property
    def run_id(self) -> UUID: ...
    @property
    def job_id(self) -> UUID: ...
    @property
    def kind(self) -> str: ...
    @property
    def attempt(self) -> int:
        """1 for the first; it only grows, so it is also the fence of this run."""
        ...

    @property
    def idempotency_key(self) -> str:
        """The same for all attempts of the run."""
        ...

    @property
    def traceparent(self) -> str | None:
        """This attempt in its run's trace, as W3C Trace Context writes it; None if nothing is
        traced. What the executor calls or starts is told it.
        """
        ...

    @property
    def scheduled_at(self) -> datetime: ...
    @property
    def due_at(self) -> datetime: ...
    @property
    def timeout(self) -> timedelta | None:
        """How long this attempt may take; Rota cancels it then."""
        ...

    @property
    def grace(self) -> timedelta:
        """How long stopping may take, once asked."""
        ...

    @property
    def cancelled(self) -> bool:
        """Whether this attempt was asked to stop: for code in threads, which get no error."""
        ...

    def write(self, stream: Stream, chunk: bytes) -> None:
        """Add to the log of the attempt."""

    def progress(self, fraction: float, message: str = "") -> None:
        """Tell how far it got, from 0 to 1. Kept in memory and stored about once a second."""

    async def checkpoint(self, value: object) -> None:
        """Store where to go on from; durable once this returns. Raises `LeaseLost`."""

    async def resume(self) -> Any:
        """The last checkpoint of an earlier attempt, or None."""

    def transaction(self, result: object = None) -> Any:
        """An async context manager that gives a database connection in a transaction. The run is
        completed in the same transaction, with this result: all of it is committed, or nothing
        (E2). What the handler returns later is too late to be its result.
        """

    async def hand_out(self, items: Sequence[object]) -> None:
        """Give a map more items, as its source. Durable once this returns, and it waits while too
        many members are unfinished. An attempt after a crash gives the same items in the same
        order: those that were handed out before are passed over. Raises `LeaseLost`.
        """

    def members(self, step: str) -> AsyncIterator[Member]:
        """All members of a map of this graph run, in their order, a page at a time."""
        ...

    async def member_page(self, step: str, after: int) -> list[Member]:
        """What `members` is made of: those after an index, -1 at first; none at the end."""
        ...


@runtime_checkable
class Executor(Protocol):
    """See the module. Entry points of the group `rota.executors` name callables that make one."""

    @property
    def kinds(self) -> Sequence[str]:
        """What it can run; a worker claims runs of these kinds and of no others."""
        ...

    def read(self, kind: str, payload: Any) -> Any:
        """Check the payload and return what `run` needs; raise `InvalidInput` if it is wrong."""

    async def run(self, spec: Any, context: Context) -> Outcome:
        """Carry it out."""

    async def open(self) -> None:
        """Called once on the loop of the attempts, before the first run."""

    async def close(self) -> None:
        """Called once there, after the last run."""


class Targeting(Protocol):
    """What an executor may have beside that, so that a target which is down is left alone.

    `only_calls` says that its attempts do nothing but wait for the target: one that ran out of time
    found it silent. It may be missing, which is no: of a long query the time says nothing.
    """

    only_calls: bool

    def target_of(self, spec: Any) -> str | None:
        """What a run of this depends on, such as `example.org:443`; None if on nothing. Whether it
        answered is for `Failed.reached` to tell.
        """
        ...


@runtime_checkable
class TenantScoped(Protocol):
    """What an executor has beside that if it does not open all that it reaches to every tenant."""

    def read_for(self, tenant: str, kind: str, payload: Any) -> Any:
        """Check the payload as `read` does, with the resources that are open to this tenant."""
        ...


@runtime_checkable
class Abandoning(Protocol):
    """What an executor has beside that if it may leave threads behind which did not stop."""

    @property
    def abandoned(self) -> int:
        """How many such threads still work."""
        ...


class Fail(Exception):
    """Raised by a handler: this run cannot succeed, do not try again."""


class Retry(Exception):
    """Raised by a handler: try again, not before `after` if that is given."""

    def __init__(self, reason: str = "", *, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Snooze(Exception):
    """Raised by a handler: nothing to do yet, call again after `delay`; costs no retry."""

    def __init__(self, delay: timedelta, reason: str = "") -> None:
        super().__init__(reason)
        self.delay = delay
