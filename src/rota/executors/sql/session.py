"""One connection to a database, whichever it is, for the length of one attempt.

Room: executors/sql. A session begins one transaction, runs statements, hands out rows in pieces,
and ends. Whoever is cancelled meanwhile only lets the error pass: a statement that runs on the
server is stopped there (`Threaded`, and asyncpg by itself), and what was not committed is undone
by closing.
"""

import asyncio
import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, TypeVar

from rota.executors.sql.connections import Connection, Dialect

T = TypeVar("T")
Row = tuple[Any, ...]

# How long connecting may take; a job's own limit may be shorter.
CONNECTING: Final = 10.0
CLOSING: Final = 2.0
# An interruption that comes before the statement has begun is lost, so it is said again.
AGAIN: Final = 0.1
PATIENCE: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """`type` is DuckDB's name for it where the driver tells enough, else None."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a statement gave: rows to fetch if it has columns, else how many rows it touched."""

    columns: tuple[Column, ...] = ()
    affected: int | None = None
    fetch: Callable[[int], Any] | None = None

    async def pieces(self, size: int) -> AsyncIterator[Sequence[Row]]:
        if self.fetch is None:
            return
        while rows := await self.fetch(size):
            yield rows


class Session(ABC):
    """See the module. `begin` comes first; without `commit`, closing undoes everything."""

    dialect: ClassVar[Dialect]

    @classmethod
    @abstractmethod
    async def open(cls, connection: Connection) -> Self: ...

    @abstractmethod
    async def begin(self, *, read_only: bool = False) -> None: ...

    @abstractmethod
    async def run(
        self, text: str, values: Sequence[object] = (), *, most: int | None = None
    ) -> Answer:
        """Carry out one statement; `most` is how many rows anybody is going to ask for."""

    @abstractmethod
    async def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        """The same statement for many rows."""

    @abstractmethod
    async def commit(self) -> None: ...

    @abstractmethod
    async def rollback(self) -> None: ...

    @abstractmethod
    async def close(self) -> None:
        """Let go; undoes what was not committed and stops what still runs."""

    @contextlib.asynccontextmanager
    async def transaction(self, *, read_only: bool = False) -> AsyncIterator[None]:
        """A failure inside is not rolled back here: the session is closed after it anyway."""
        await self.begin(read_only=read_only)
        yield
        await self.commit()


class Threaded(Session):
    """A session over a driver that blocks: it has one thread of its own, and all calls are made
    there. Cancelling calls `interrupt` from another thread until the call has ended.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rota-sql")

    @abstractmethod
    def connect(self) -> None:
        """Open the driver's connection, in the session's thread."""

    @abstractmethod
    def interrupt(self) -> None:
        """Stop the running statement; called from another thread, may block for a moment."""

    def abandon(self) -> None:
        """When interrupting did not help: end the waiting of the thread by force."""

    @abstractmethod
    def let_go(self) -> None:
        """Close the driver's connection, in the session's thread."""

    @abstractmethod
    def translating(self) -> contextlib.AbstractContextManager[None]:
        """Make a `Fault` of what the driver raises."""

    async def connected(self) -> Self:
        try:
            await self.call(self.connect)
        except BaseException:
            await self.close()
            raise
        return self

    async def call(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        loop = asyncio.get_running_loop()
        made = functools.partial(self._translated, work, *args, **named)
        future = loop.run_in_executor(self._thread, made)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await self._stop(future)
            raise

    def _translated(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        with self.translating():
            return work(*args, **named)

    async def _stop(self, running: "asyncio.Future[Any]") -> None:
        """Interrupt until the call has ended. Nobody is going to ask how it did."""
        running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        loop = asyncio.get_running_loop()
        end, saying = loop.time() + PATIENCE, None
        while not running.done() and loop.time() < end:
            if saying is None or saying.done():
                saying = loop.run_in_executor(None, self._interrupt_quietly)
            await asyncio.wait([running], timeout=AGAIN)
        if not running.done():
            self.abandon()

    def _interrupt_quietly(self) -> None:
        # The server may be gone, and then there is nothing to stop.
        with contextlib.suppress(Exception):
            self.interrupt()

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        gone = loop.run_in_executor(self._thread, self._let_go_quietly)
        self._thread.shutdown(wait=False)
        await asyncio.wait([gone], timeout=AGAIN)
        if not gone.done():
            # Something still runs there: who called it was cancelled twice.
            await self._stop(gone)

    def _let_go_quietly(self) -> None:
        with contextlib.suppress(Exception):
            self.let_go()
