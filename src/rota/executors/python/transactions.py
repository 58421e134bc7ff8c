"""Provides `ctx.transaction()` to handlers in threads: a connection with blocking methods.

A database connection belongs to the event loop of the attempts. One task on that loop owns the
transaction from begin to end; the thread sends it statements and waits for the results. An error of
the handler, the end of the handler or a request to stop ends the task and with it the transaction.
A thread cannot keep it open.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, NamedTuple

from rota.executors.python.contexts import AttemptCancelled

TRANSACTION_ENDED_MESSAGE: Final = (
    "the transaction has ended; use the connection inside `with ctx.transaction()` only"
)


class TransactionEnded(RuntimeError):
    """A statement was sent after its transaction had ended."""


class ThreadStatement(NamedTuple):
    """A call of a method of the connection, and the future of its result."""

    method: str
    arguments: tuple[Any, ...]
    answer: Future[Any]


class LoopTransaction:
    """A transaction on the loop that one or more threads use.

    `manager` opens the connection; `is_stopped` returns whether the attempt was asked to stop.
    Threads call `begin`, `send`, `commit` and `roll_back`, which block; the loop calls `abort` and
    `wait`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        manager: Callable[[], AbstractAsyncContextManager[Any]],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._loop = loop
        self._manager = manager
        self._is_stopped = is_stopped
        self._inbox: asyncio.Queue[ThreadStatement | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._pending: set[Future[Any]] = set()
        self._begun: Future[None] = Future()
        self._ended: Future[None] = Future()
        self._is_ending = False

    def begin(self) -> None:
        """Begin the transaction; raise the error if that fails."""
        self._call(self._start)
        self._begun.result()

    def send(self, method: str, *arguments: Any) -> Any:
        """Call a method of the connection and return its result."""
        statement = ThreadStatement(method, arguments, Future())
        self._call(self._take, statement)
        return statement.answer.result()

    def commit(self) -> None:
        """Complete the run and commit; if it raises, nothing is stored."""
        self._call(self._take, None)
        self._ended.result()

    def roll_back(self) -> None:
        """Roll back, and return when that is done."""
        # The error that led here matters more than an error of the rollback.
        with suppress(BaseException):
            self._call(self.abort)
            self._ended.result()

    def abort(self) -> None:
        """Roll back, unless the commit has begun: then the database decides."""
        if self._task is not None and not self._is_ending:
            self._task.cancel()

    async def wait(self) -> None:
        """Wait until it is committed or rolled back."""
        if self._task is not None:
            await asyncio.wait((self._task,))

    def _call(self, callback: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the loop is closed: this thread was abandoned
            raise TransactionEnded(TRANSACTION_ENDED_MESSAGE) from None

    def _start(self) -> None:
        if self._is_stopped():
            self._settle(AttemptCancelled())
            return
        self._task = self._loop.create_task(self._live())
        self._task.add_done_callback(self._finish)

    def _take(self, statement: ThreadStatement | None) -> None:
        if self._ended.done():
            if statement is not None:
                _fail_future(statement.answer, self._refusal())
            return
        if statement is not None:
            self._pending.add(statement.answer)
        self._inbox.put_nowait(statement)

    async def _live(self) -> None:
        async with self._manager() as conn:
            self._begun.set_result(None)
            while (statement := await self._inbox.get()) is not None:
                try:
                    value = await getattr(conn, statement.method)(*statement.arguments)
                except Exception as error:  # noqa: BLE001 — the handler gets it
                    _fail_future(statement.answer, error)
                else:
                    statement.answer.set_result(value)
                self._pending.discard(statement.answer)
            self._is_ending = True

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._settle(self._refusal() if task.cancelled() else task.exception())

    def _settle(self, error: BaseException | None) -> None:
        """End the transaction and fail all pending statements."""
        if self._ended.done():
            return
        if error is None:
            self._ended.set_result(None)
        else:
            self._ended.set_exception(error)
            if not self._begun.done():
                self._begun.set_exception(error)
        for answer in self._pending:
            _fail_future(answer, self._refusal())
        self._pending.clear()

    def _refusal(self) -> BaseException:
        return (
            AttemptCancelled()
            if self._is_stopped()
            else TransactionEnded(TRANSACTION_ENDED_MESSAGE)
        )


class BlockingConnection:
    """The connection of `ctx.transaction()` in a `def` job: asyncpg's methods, not awaited.

    Statements have the placeholders `$1`, `$2` …
    """

    __slots__ = ("_transaction",)

    def __init__(self, transaction: LoopTransaction) -> None:
        self._transaction = transaction

    def execute(self, query: str, *args: Any) -> str:
        """Run a statement, or several without arguments; return the status of the last."""
        return str(self._transaction.send("execute", query, *args))

    def executemany(self, query: str, args: Sequence[Sequence[Any]]) -> None:
        """Run a statement once for each sequence of arguments."""
        self._transaction.send("executemany", query, args)

    def fetch(self, query: str, *args: Any) -> list[Any]:
        """Return all rows."""
        return list(self._transaction.send("fetch", query, *args))

    def fetchrow(self, query: str, *args: Any) -> Any:
        """Return the first row, or None."""
        return self._transaction.send("fetchrow", query, *args)

    def fetchval(self, query: str, *args: Any) -> Any:
        """Return the first column of the first row; None without rows."""
        return self._transaction.send("fetchval", query, *args)


class BlockingTransaction:
    """The `with` block of a transaction in a thread: commits at its end, rolls back on an error."""

    __slots__ = ("_transaction",)

    def __init__(self, transaction: LoopTransaction) -> None:
        self._transaction = transaction

    def __enter__(self) -> BlockingConnection:
        self._transaction.begin()
        return BlockingConnection(self._transaction)

    def __exit__(self, type_: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            self._transaction.commit()
        else:
            self._transaction.roll_back()


def _fail_future(answer: Future[Any], error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)
