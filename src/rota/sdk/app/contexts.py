"""Defines `ctx`: the attempt as its function sees it.

It is the engine's context plus `log`. The wrapper is created only for functions that take a
context, and the logger on first use, so that other jobs do not pay for them.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from uuid import UUID

from rota.core import executor
from rota.core.executor import MapMember, Stream
from rota.executors.python import contexts as apart
from rota.executors.python.output_routing import AttemptLogHandler
from rota.executors.python.transactions import BlockingConnection


class Context(executor.AttemptContext, Protocol):
    """One attempt, for `async def` jobs."""

    @property
    def log(self) -> logging.Logger:
        """A logger that writes to the attempt's log. Usable from any thread."""
        ...


class SyncContext(Protocol):
    """One attempt, for `def` jobs: its methods block. Once the attempt was asked to stop,
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
        """The attempt's number: 1 for the first. It only grows."""
        ...

    @property
    def idempotency_key(self) -> str:
        """A key that is the same for all attempts of the run."""
        ...

    @property
    def traceparent(self) -> str | None:
        """This attempt's span in the trace of its run; None if tracing is off."""
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
        """A logger that writes to the attempt's log. Usable from any thread."""
        ...

    def write(self, stream: Stream, chunk: bytes) -> None: ...

    def progress(self, fraction: float, message: str = "") -> None:
        """Report progress as a fraction from 0 to 1."""

    def checkpoint(self, value: object) -> None:
        """Store a value from which a later attempt resumes; durable once this returns."""

    def resume(self) -> Any:
        """The last checkpoint of an earlier attempt, or None."""

    def hand_out(self, items: Sequence[object]) -> None:
        """Add items to the map for which this job is the source; durable once this returns."""

    def members(self, step: str) -> Iterator[MapMember]:
        """All members of a map step of this graph run, in order."""
        ...

    def transaction(self, result: object = None) -> AbstractContextManager[BlockingConnection]:
        """A connection in a transaction that also completes the run with this result: both commit
        or neither does (E2). An error in the block, or a request to stop, rolls it back. Not
        available with `isolation="process"`.
        """
        ...


# A parameter annotated with one of these receives the context.
CONTEXT_TYPES: Final = frozenset(
    {Context, SyncContext, executor.AttemptContext, apart.BlockingContext, apart.ChildContext}
)


class LoggingContext:
    """The engine's context, extended by `log`."""

    __slots__ = ("_context", "_log")

    def __init__(self, context: Any) -> None:
        self._context = context
        self._log: logging.Logger | None = None

    @property
    def log(self) -> logging.Logger:
        if self._log is None:
            self._log = create_attempt_logger(self._context)
        return self._log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def __repr__(self) -> str:
        return f"<attempt {self._context.attempt} of run {self._context.run_id}>"


def create_attempt_logger(context: Any) -> logging.Logger:
    """Create a logger for one attempt; it is not registered, so it is freed with the attempt."""
    logger = logging.Logger(context.kind)  # noqa: LOG001 — getLogger would keep every logger
    logger.parent = logging.root  # its level is the worker's
    logger.propagate = False
    logger.addHandler(AttemptLogHandler(lambda: context))
    return logger
