"""`ctx.transaction()` for handlers in threads: a connection whose methods block.

Room: executors/python. A database connection belongs to the loop of the attempts. So one task on
that loop owns the transaction from begin to end; the thread sends it statements and waits for the
answers. Whatever ends the task ends the transaction: an error of the handler, the end of the
handler, a request to stop. Nothing that a thread does or leaves undone keeps it open.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, NamedTuple

from rota.executors.python.contexts import AttemptCancelled

OVER: Final = "the transaction has ended; a connection of ctx.transaction() is good inside it only"


class TransactionEnded(RuntimeError):
    """A statement was sent after the transaction it belongs to."""


class Statement(NamedTuple):
    """A call of a method of the connection, and where its answer goes."""

    method: str
    arguments: tuple[Any, ...]
    answer: Future[Any]


class LoopTransaction:
    """A transaction on the loop, used from one thread or several. `manager` gives the connection,
    `is_stopped` says whether the attempt was asked to stop.

    `begin`, `send`, `commit` and `roll_back` are called in threads and block; `abort` and `wait`
    are called on the loop.
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
        self._inbox: asyncio.Queue[Statement | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._pending: set[Future[Any]] = set()
        self._begun: Future[None] = Future()
        self._ended: Future[None] = Future()
        self._is_ending = False

    def begin(self) -> None:
        """Begin the transaction; raises what beginning raises."""
        self._call(self._start)
        self._begun.result()

    def send(self, method: str, *arguments: Any) -> Any:
        """Call a method of the connection and return what it returns."""
        statement = Statement(method, arguments, Future())
        self._call(self._take, statement)
        return statement.answer.result()

    def commit(self) -> None:
        """Complete the run and commit; raises what that raises, and then nothing is stored."""
        self._call(self._take, None)
        self._ended.result()

    def roll_back(self) -> None:
        """Undo it, and return when it is undone."""
        # The error that led here says more than any that comes of this.
        with suppress(BaseException):
            self._call(self.abort)
            self._ended.result()

    def abort(self) -> None:
        """Roll back, unless it is already being committed: then the database decides."""
        if self._task is not None and not self._is_ending:
            self._task.cancel()

    async def wait(self) -> None:
        """Wait until it is committed or rolled back."""
        if self._task is not None:
            await asyncio.wait((self._task,))

    def _call(self, what: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(what, *arguments)
        except RuntimeError:  # the loop is closed: this thread was left behind
            raise TransactionEnded(OVER) from None

    def _start(self) -> None:
        if self._is_stopped():
            self._settle(AttemptCancelled())
            return
        self._task = self._loop.create_task(self._live())
        self._task.add_done_callback(self._finish)

    def _take(self, statement: Statement | None) -> None:
        if self._ended.done():
            if statement is not None:
                _answer(statement.answer, self._refusal())
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
                except Exception as error:  # noqa: BLE001 — it is the handler's to catch
                    _answer(statement.answer, error)
                else:
                    statement.answer.set_result(value)
                self._pending.discard(statement.answer)
            self._is_ending = True

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._settle(self._refusal() if task.cancelled() else task.exception())

    def _settle(self, error: BaseException | None) -> None:
        """Tell all who wait for an answer that there will be none."""
        if self._ended.done():
            return
        if error is None:
            self._ended.set_result(None)
        else:
            self._ended.set_exception(error)
            if not self._begun.done():
                self._begun.set_exception(error)
        for answer in self._pending:
            _answer(answer, self._refusal())
        self._pending.clear()

    def _refusal(self) -> BaseException:
        return AttemptCancelled() if self._is_stopped() else TransactionEnded(OVER)


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
        """All rows."""
        return list(self._transaction.send("fetch", query, *args))

    def fetchrow(self, query: str, *args: Any) -> Any:
        """The first row; None if there is none."""
        return self._transaction.send("fetchrow", query, *args)

    def fetchval(self, query: str, *args: Any) -> Any:
        """The first column of the first row; None if there is no row."""
        return self._transaction.send("fetchval", query, *args)


class BlockingTransaction:
    """The block of a transaction in a thread: committed at its end, or undone by an error in it."""

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


def _answer(answer: Future[Any], error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)
