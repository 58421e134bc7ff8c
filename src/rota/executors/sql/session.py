"""Defines the interface to a database connection for one attempt.

A session begins one transaction, runs statements, returns rows in pieces, and ends. A cancelled
caller just propagates the error: the session stops a statement that runs on the server
(`ThreadedSession`, and asyncpg by itself), and closing rolls back uncommitted changes.
"""

import asyncio
import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, TypeVar

from rota.executors.sql.connections import Dialect, SqlConnection

T = TypeVar("T")
Row = tuple[Any, ...]

# Seconds that connecting may take; a job's own timeout may be shorter.
CONNECT_TIMEOUT_S: Final = 10.0
CLOSE_TIMEOUT_S: Final = 2.0
# Seconds between interrupts: one that comes before the statement has begun is lost.
INTERRUPT_INTERVAL_S: Final = 0.1
INTERRUPT_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumn:
    """A column of a result. `type` is DuckDB's name of its type, None if it is unknown."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementResult:
    """The result of a statement: rows to fetch if it has columns, else the affected rows."""

    columns: tuple[ResultColumn, ...] = ()
    affected: int | None = None
    fetch: Callable[[int], Any] | None = None

    async def read_pieces(self, size: int) -> AsyncIterator[Sequence[Row]]:
        if self.fetch is None:
            return
        while rows := await self.fetch(size):
            yield rows


class SqlSession(ABC):
    """A connection of one attempt. Call `begin` first; without `commit`, closing rolls back."""

    dialect: ClassVar[Dialect]

    @classmethod
    @abstractmethod
    async def open(cls, connection: SqlConnection) -> Self: ...

    @abstractmethod
    async def begin(self, *, read_only: bool = False) -> None: ...

    @abstractmethod
    async def run(
        self, text: str, values: Sequence[object] = (), *, max_rows: int | None = None
    ) -> StatementResult:
        """Run one statement; `most` is the number of rows that the caller will fetch."""

    @abstractmethod
    async def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        """Run the same statement for many rows."""

    @abstractmethod
    async def commit(self) -> None: ...

    @abstractmethod
    async def rollback(self) -> None: ...

    @abstractmethod
    async def close(self) -> None:
        """Close the connection; rolls back uncommitted changes and stops a running statement."""

    @contextlib.asynccontextmanager
    async def transaction(self, *, read_only: bool = False) -> AsyncIterator[None]:
        """Run a block in a transaction. An error needs no rollback: the session closes after it."""
        await self.begin(read_only=read_only)
        yield
        await self.commit()


class ThreadedSession(SqlSession):
    """A session over a blocking driver, which is called in one thread of the session.

    A cancellation calls `interrupt` from another thread until the call has ended.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rota-sql")

    @abstractmethod
    def connect(self) -> None:
        """Open the driver's connection, in the session's thread."""

    @abstractmethod
    def interrupt(self) -> None:
        """Stop the running statement; called from another thread, may block briefly."""

    def abandon(self) -> None:
        """Force the thread to stop waiting, if interrupting did not help."""

    @abstractmethod
    def disconnect(self) -> None:
        """Close the driver's connection, in the session's thread."""

    @abstractmethod
    def translate_errors(self) -> contextlib.AbstractContextManager[None]:
        """Translate the driver's exceptions into `Fault`."""

    async def connect_or_close(self) -> Self:
        try:
            await self.call_in_thread(self.connect)
        except BaseException:
            await self.close()
            raise
        return self

    async def call_in_thread(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        loop = asyncio.get_running_loop()
        task = functools.partial(self._run_translated, work, *args, **named)
        future = loop.run_in_executor(self._thread, task)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await self._stop(future)
            raise

    def _run_translated(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        with self.translate_errors():
            return work(*args, **named)

    async def _stop(self, running: "asyncio.Future[Any]") -> None:
        """Interrupt until the call has ended; its result is ignored."""
        running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        loop = asyncio.get_running_loop()
        end, interrupting = loop.time() + INTERRUPT_TIMEOUT_S, None
        while not running.done() and loop.time() < end:
            if interrupting is None or interrupting.done():
                interrupting = loop.run_in_executor(None, self._interrupt_quietly)
            await asyncio.wait([running], timeout=INTERRUPT_INTERVAL_S)
        if not running.done():
            self.abandon()

    def _interrupt_quietly(self) -> None:
        # If the server is gone, there is nothing to stop.
        with contextlib.suppress(Exception):
            self.interrupt()

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        closing = loop.run_in_executor(self._thread, self._disconnect_quietly)
        self._thread.shutdown(wait=False)
        await asyncio.wait([closing], timeout=INTERRUPT_INTERVAL_S)
        if not closing.done():
            # A statement still runs in the thread: its caller was cancelled twice.
            await self._stop(closing)

    def _disconnect_quietly(self) -> None:
        with contextlib.suppress(Exception):
            self.disconnect()
