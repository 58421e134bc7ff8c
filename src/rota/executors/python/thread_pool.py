"""Runs sync handlers in a pool of threads.

Threads start on demand, up to a limit, and are reused. A thread cannot be killed: one that does not
stop within its grace period is abandoned. An abandoned thread frees its place in the pool, is
counted, and as a daemon thread it does not keep the process alive.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from queue import SimpleQueue
from typing import Any, NamedTuple

from rota.core.executor import AttemptContext, MapMember, Stream
from rota.executors.python.transactions import BlockingTransaction, LoopTransaction


class CallResult(NamedTuple):
    """The result of a call: a value or an error."""

    value: Any
    error: BaseException | None


class ThreadCall:
    """One call that a thread runs. Only the loop's thread accesses `is_abandoned`."""

    __slots__ = ("_call", "_loop", "_settle", "done", "is_abandoned")

    def __init__(self, call: Callable[[], Any], settle: Callable[["ThreadCall"], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._settle = settle
        # The current attempt is a context variable, which threads do not inherit.
        self._call = (contextvars.copy_context(), call)
        self.done: asyncio.Future[CallResult] = self._loop.create_future()
        self.is_abandoned = False

    def run(self) -> bool:
        """Run the call, in the thread; return False if the loop is closed and sends no more."""
        context, call = self._call
        try:
            ending = CallResult(context.run(call), None)
        except BaseException as error:  # noqa: BLE001 — any error ends this run only
            ending = CallResult(None, error)
        try:
            self._loop.call_soon_threadsafe(self._end, ending)
        except RuntimeError:  # the loop is closed: this call was abandoned
            return False
        return True

    def _end(self, ending: CallResult) -> None:
        self.done.set_result(ending)
        self._settle(self)


class HandlerThreadPool:
    """Runs at most `most` calls at a time; further calls wait."""

    def __init__(self, max_threads: int) -> None:
        # Abandoned threads that are still running.
        self.abandoned = 0
        self._slots = asyncio.Semaphore(max_threads)
        self._idle: list[SimpleQueue[ThreadCall | None]] = []
        self._is_closed = False

    async def run(
        self, call: Callable[[], Any], *, stop: Callable[[], None], grace: timedelta
    ) -> Any:
        """Run a call in a thread. On cancellation, call `stop` and wait for `grace` at most."""
        async with self._slots:
            order = self._start(call)
            try:
                await asyncio.wait((order.done,))
            except asyncio.CancelledError:
                stop()
                await self._wind_down(order, grace)
                raise
        value, error = order.done.result()
        if error is not None:
            try:
                raise error
            finally:
                del error  # breaks the reference cycle of traceback and frame
        return value

    def close(self) -> None:
        """End the idle threads; abandoned threads cannot be ended."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _start(self, call: Callable[[], Any]) -> ThreadCall:
        inbox = self._idle.pop() if self._idle else start_thread()
        order = ThreadCall(call, lambda order: self._settle(order, inbox))
        inbox.put(order)
        return order

    def _settle(self, order: ThreadCall, inbox: SimpleQueue[ThreadCall | None]) -> None:
        self.abandoned -= order.is_abandoned
        if order.is_abandoned or self._is_closed:
            inbox.put(None)
        else:
            self._idle.append(inbox)

    async def _wind_down(self, order: ThreadCall, grace: timedelta) -> None:
        try:
            await asyncio.wait((order.done,), timeout=grace.total_seconds())
        finally:
            if not order.done.done():
                order.is_abandoned = True
                self.abandoned += 1


def start_thread() -> SimpleQueue[ThreadCall | None]:
    """Start a thread and return its inbox; None in it ends the thread."""
    inbox: SimpleQueue[ThreadCall | None] = SimpleQueue()
    threading.Thread(target=serve_inbox, args=(inbox,), name="rota-handler", daemon=True).start()
    return inbox


def serve_inbox(inbox: SimpleQueue[ThreadCall | None]) -> None:
    while (order := inbox.get()) is not None and order.run():
        del order  # frees its payload and result before the next call


class ThreadEngineConnection:
    """Connects a sync handler in a thread to the engine: calls the loop and waits."""

    __slots__ = ("_context", "_is_stopped", "_loop", "_transactions")

    def __init__(self, context: AttemptContext) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._is_stopped = False
        self._transactions: tuple[LoopTransaction, ...] = ()

    def stop(self) -> None:
        """Roll back transactions that are not yet committing, and refuse new ones."""
        self._is_stopped = True
        for transaction in self._transactions:
            transaction.abort()

    async def close(self) -> None:
        """Roll back transactions that the handler left open; wait for those that are committing."""
        for transaction in self._transactions:
            transaction.abort()
            await transaction.wait()

    @property
    def cancelled(self) -> bool:
        return self._is_stopped or self._context.cancelled

    def write(self, stream: Stream, chunk: bytes) -> None:
        self._context.write(stream, chunk)

    def progress(self, fraction: float, message: str) -> None:
        self._context.progress(fraction, message)

    def checkpoint(self, value: object) -> None:
        self._ask(self._context.checkpoint(value))

    def resume(self) -> Any:
        return self._ask(self._context.resume())

    def hand_out(self, items: Sequence[object]) -> None:
        self._ask(self._context.hand_out(items))

    def member_page(self, step: str, after: int) -> list[MapMember]:
        page: list[MapMember] = self._ask(self._context.member_page(step, after))
        return page

    def transaction(self, result: object) -> BlockingTransaction:
        transaction = LoopTransaction(
            self._loop, lambda: self._context.transaction(result), lambda: self.cancelled
        )
        self._transactions += (transaction,)
        return BlockingTransaction(transaction)

    def _ask(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
