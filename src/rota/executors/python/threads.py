"""Sync handlers, each in a thread while it runs. Room: executors/python.

Threads are made when runs ask for them, up to a limit, and kept for the next run. A thread cannot
be ended from outside: one that does not stop within its grace is left behind. It then takes
nobody's place, it is counted, and being a daemon it cannot keep the process from ending.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from queue import SimpleQueue
from typing import Any, NamedTuple

from rota.core.executor import Context, Member, Stream
from rota.executors.python.transactions import BlockingTransaction, LoopTransaction


class Ending(NamedTuple):
    """How a call ended: with a value, or with an error."""

    value: Any
    error: BaseException | None


class Order:
    """One call, on its way through a thread. Only the loop's thread touches `is_abandoned`."""

    __slots__ = ("_call", "_loop", "_settle", "done", "is_abandoned")

    def __init__(self, call: Callable[[], Any], settle: Callable[["Order"], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._settle = settle
        # The current attempt is a context variable, and a thread would begin without it.
        self._call = (contextvars.copy_context(), call)
        self.done: asyncio.Future[Ending] = self._loop.create_future()
        self.is_abandoned = False

    def carry_out(self) -> bool:
        """Called in the thread; False when there is no loop any more that could give it more."""
        context, call = self._call
        try:
            ending = Ending(context.run(call), None)
        except BaseException as error:  # noqa: BLE001 — whatever it is, it ends the run alone
            ending = Ending(None, error)
        try:
            self._loop.call_soon_threadsafe(self._end, ending)
        except RuntimeError:  # the loop is closed: this call was left behind
            return False
        return True

    def _end(self, ending: Ending) -> None:
        self.done.set_result(ending)
        self._settle(self)


class Threads:
    """At most `most` calls at a time; more wait for their turn."""

    def __init__(self, most: int) -> None:
        # Threads that were left behind and have still not ended.
        self.abandoned = 0
        self._places = asyncio.Semaphore(most)
        self._idle: list[SimpleQueue[Order | None]] = []
        self._is_closed = False

    async def run(
        self, call: Callable[[], Any], *, stop: Callable[[], None], grace: timedelta
    ) -> Any:
        """Call it in a thread. When cancelled, `stop` it and give it `grace` to end."""
        async with self._places:
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
                del error  # or the traceback and this frame would keep each other alive
        return value

    def close(self) -> None:
        """Let the idle threads go; those left behind are beyond reach."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _start(self, call: Callable[[], Any]) -> Order:
        inbox = self._idle.pop() if self._idle else open_thread()
        order = Order(call, lambda order: self._settle(order, inbox))
        inbox.put(order)
        return order

    def _settle(self, order: Order, inbox: SimpleQueue[Order | None]) -> None:
        self.abandoned -= order.is_abandoned
        if order.is_abandoned or self._is_closed:
            inbox.put(None)
        else:
            self._idle.append(inbox)

    async def _wind_down(self, order: Order, grace: timedelta) -> None:
        try:
            await asyncio.wait((order.done,), timeout=grace.total_seconds())
        finally:
            if not order.done.done():
                order.is_abandoned = True
                self.abandoned += 1


def open_thread() -> SimpleQueue[Order | None]:
    """Start a thread and return its inbox; None in it ends the thread."""
    inbox: SimpleQueue[Order | None] = SimpleQueue()
    threading.Thread(target=serve, args=(inbox,), name="rota-handler", daemon=True).start()
    return inbox


def serve(inbox: SimpleQueue[Order | None]) -> None:
    while (order := inbox.get()) is not None and order.carry_out():
        del order  # or its payload and result would live until the next one comes


class LoopLine:
    """The line of a sync handler in a thread: it asks the loop and waits for the answer."""

    __slots__ = ("_context", "_is_stopped", "_loop", "_transactions")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._is_stopped = False
        self._transactions: tuple[LoopTransaction, ...] = ()

    def stop(self) -> None:
        """Roll back what the handler has not begun to commit; nothing begins any more."""
        self._is_stopped = True
        for each in self._transactions:
            each.abort()

    async def close(self) -> None:
        """End the transactions that the handler left open, and wait for those that are ending."""
        for each in self._transactions:
            each.abort()
            await each.wait()

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

    def member_page(self, step: str, after: int) -> list[Member]:
        page: list[Member] = self._ask(self._context.member_page(step, after))
        return page

    def transaction(self, result: object) -> BlockingTransaction:
        transaction = LoopTransaction(
            self._loop, lambda: self._context.transaction(result), lambda: self.cancelled
        )
        self._transactions += (transaction,)
        return BlockingTransaction(transaction)

    def _ask(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
