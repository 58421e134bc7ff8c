"""Defines the contexts of handlers that run outside the worker's event loop.

An async handler on the loop gets the engine's own context. A sync handler gets a `SyncContext`,
whose methods block; an async handler in a child process gets a `ChildContext`. Both reach the
engine through a connection: threads.py implements one to the loop, link.py one over a socket.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self
from uuid import UUID

from rota.core.executor import AttemptContext, Fail, MapMember, Stream

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rota.executors.python.transactions import BlockingConnection

NO_TRANSACTION = (
    "ctx.transaction() needs a handler without isolation: a child process has no connection to "
    "Rota's database"
)


class AttemptCancelled(BaseException):
    """Raised inside a sync handler when its attempt was asked to stop.

    Not an `Exception`, so that `except Exception` around a unit of work does not swallow it.
    """


class EngineConnection(Protocol):
    """The connection from a handler to the engine; any thread of the handler may use it."""

    @property
    def cancelled(self) -> bool: ...
    def write(self, stream: Stream, chunk: bytes) -> None: ...
    def progress(self, fraction: float, message: str) -> None: ...
    def checkpoint(self, value: object) -> None: ...
    def resume(self) -> Any: ...
    def hand_out(self, items: Sequence[object]) -> None: ...
    def member_page(self, step: str, after: int) -> list[MapMember]: ...
    def transaction(self, result: object) -> "AbstractContextManager[BlockingConnection]": ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttemptFacts:
    """The constant facts of an attempt; core/executor.py documents each field."""

    run_id: UUID
    job_id: UUID
    kind: str
    attempt: int
    idempotency_key: str
    traceparent: str | None
    scheduled_at: datetime
    due_at: datetime
    timeout: timedelta | None
    grace: timedelta

    @classmethod
    def from_context(cls, context: "AttemptContext | AttemptFacts") -> "AttemptFacts":
        return AttemptFacts(**{name: getattr(context, name) for name in FACT_NAMES})


FACT_NAMES = tuple(fact.name for fact in fields(AttemptFacts))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RemoteContext(AttemptFacts):
    """The base class of both contexts."""

    connection: EngineConnection = field(repr=False)

    @classmethod
    def connect(cls, line: EngineConnection, context: AttemptContext | AttemptFacts) -> Self:
        return cls(connection=line, **{name: getattr(context, name) for name in FACT_NAMES})

    @property
    def cancelled(self) -> bool:
        return self.connection.cancelled

    def write(self, stream: Stream, chunk: bytes) -> None:
        self.connection.write(stream, chunk)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockingContext(RemoteContext):
    """`AttemptContext` for sync handlers, with blocking methods instead of coroutines.

    Once the attempt was asked to stop, every method that calls the engine raises
    `AttemptCancelled`.
    """

    def progress(self, fraction: float, message: str = "") -> None:
        self._refuse_if_cancelled()
        self.connection.progress(fraction, message)

    def checkpoint(self, value: object) -> None:
        """Store the point to resume from; durable once this returns. Raises `LeaseLost`."""
        self._refuse_if_cancelled()
        self.connection.checkpoint(value)
        self._refuse_if_cancelled()

    def resume(self) -> Any:
        """Return the last checkpoint of an earlier attempt, or None."""
        self._refuse_if_cancelled()
        return self.connection.resume()

    def hand_out(self, items: Sequence[object]) -> None:
        """Add items to a map; durable once this returns. Raises `LeaseLost`."""
        self._refuse_if_cancelled()
        self.connection.hand_out(items)
        self._refuse_if_cancelled()

    def member_page(self, step: str, after: int) -> list[MapMember]:
        self._refuse_if_cancelled()
        return self.connection.member_page(step, after)

    def members(self, step: str) -> Iterator[MapMember]:
        """Iterate over all members of a map of this graph run, in order."""
        after = -1
        while page := self.member_page(step, after):
            yield from page
            after = page[-1].index

    def transaction(self, result: object = None) -> "AbstractContextManager[BlockingConnection]":
        """Open a transaction that also completes the run with this result, atomically.

        An error inside the block, or a request to stop, rolls it back.
        """
        self._refuse_if_cancelled()
        return self.connection.transaction(result)

    def _refuse_if_cancelled(self) -> None:
        if self.connection.cancelled:
            raise AttemptCancelled


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChildContext(RemoteContext):
    """Implements `core.executor.Context` for async handlers in a child process.

    A checkpoint blocks the child's loop for the round trip, which is acceptable: a child runs one
    call at a time, and the worker replies at once.
    """

    def progress(self, fraction: float, message: str = "") -> None:
        self.connection.progress(fraction, message)

    async def checkpoint(self, value: object) -> None:
        self.connection.checkpoint(value)

    async def resume(self) -> Any:
        return self.connection.resume()

    async def hand_out(self, items: Sequence[object]) -> None:
        self.connection.hand_out(items)

    async def member_page(self, step: str, after: int) -> list[MapMember]:
        return self.connection.member_page(step, after)

    def transaction(self, result: object = None) -> NoReturn:  # noqa: ARG002 — the contract's signature
        raise Fail(NO_TRANSACTION)

    async def members(self, step: str) -> AsyncIterator[MapMember]:
        after = -1
        while page := await self.member_page(step, after):
            for member in page:
                yield member
            after = page[-1].index
