"""What a function learns about its attempt: `ctx`. Room: sdk/app.

The engine's own context, and `log` beside it. The wrapper is made for functions that ask for a
context, and the logger when it is first used: a job that needs neither pays for neither.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from uuid import UUID

from rota.core import executor
from rota.core.executor import Member, Stream
from rota.executors.python import contexts as apart
from rota.executors.python.output import Records
from rota.executors.python.transactions import BlockingConnection


class Context(executor.Context, Protocol):
    """One attempt, for `async def` jobs."""

    @property
    def log(self) -> logging.Logger:
        """Its records go to the log of the attempt, from any thread."""
        ...


class SyncContext(Protocol):
    """One attempt, for `def` jobs: nothing is awaited. Once the attempt was asked to stop,
    `progress`, `checkpoint`, `resume` and `transaction` raise `rota.AttemptCancelled`.
    """

    @property
    def run_id(self) -> UUID: ...
    @property
    def job_id(self) -> UUID: ...
    @property
    def kind(self) -> str: ...
    @property
    def attempt(self) -> int:
        """1 for the first; it only grows."""
        ...

    @property
    def idempotency_key(self) -> str:
        """The same for all attempts of the run."""
        ...

    @property
    def traceparent(self) -> str | None:
        """This attempt in its run's trace; None if nothing is traced."""
        ...

    @property
    def scheduled_at(self) -> datetime: ...
    @property
    def due_at(self) -> datetime: ...
    @property
    def timeout(self) -> timedelta | None: ...
    @property
    def grace(self) -> timedelta: ...
    @property
    def cancelled(self) -> bool:
        """Whether this attempt was asked to stop."""
        ...

    @property
    def log(self) -> logging.Logger:
        """Its records go to the log of the attempt, from any thread."""
        ...

    def write(self, stream: Stream, chunk: bytes) -> None: ...

    def progress(self, fraction: float, message: str = "") -> None:
        """Tell how far it got, from 0 to 1."""

    def checkpoint(self, value: object) -> None:
        """Store where to go on from; durable once this returns."""

    def resume(self) -> Any:
        """The last checkpoint of an earlier attempt, or None."""

    def hand_out(self, items: Sequence[object]) -> None:
        """Give a map more items, as its source; durable once this returns."""

    def members(self, step: str) -> Iterator[Member]:
        """All members of a map of this graph run, in their order."""
        ...

    def transaction(self, result: object = None) -> AbstractContextManager[BlockingConnection]:
        """A connection in a transaction that also completes the run with this result: both happen,
        or neither (E2). An error inside it, or a request to stop, rolls it back. Not with
        `isolation="process"`.
        """
        ...


# An annotation with one of these asks for the context.
CONTEXTS: Final = frozenset(
    {Context, SyncContext, executor.Context, apart.SyncContext, apart.ChildContext}
)


class Given:
    """A context of the engine, with `log`."""

    __slots__ = ("_context", "_log")

    def __init__(self, context: Any) -> None:
        self._context = context
        self._log: logging.Logger | None = None

    @property
    def log(self) -> logging.Logger:
        if self._log is None:
            self._log = attempt_logger(self._context)
        return self._log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def __repr__(self) -> str:
        return f"<attempt {self._context.attempt} of run {self._context.run_id}>"


def attempt_logger(context: Any) -> logging.Logger:
    """A logger of this attempt alone; Python keeps it nowhere, so it goes when the attempt goes."""
    logger = logging.Logger(context.kind)  # noqa: LOG001 — getLogger would keep one for each
    logger.parent = logging.root  # whose level is the worker's
    logger.propagate = False
    logger.addHandler(Records(lambda: context))
    return logger
