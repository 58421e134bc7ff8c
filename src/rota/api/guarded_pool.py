"""A pool of connections that answers at once while the database is away. Room: api.

Without it, every request of an outage waits for a connect of its own to time out, and thousands of
requests pile up behind a handful of connections. Here the first connect that fails, or the clock
monitor that gets no answer, marks the database as away. Until the monitor gets an answer, all
requests are refused immediately, including those that were already waiting for a connection.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final

from rota.core.errors import StoreUnavailable
from rota.store.driver import Connection, Pool

# How long a request waits for a connection of a busy pool while the database answers. Looked at
# once a second.
CONNECTION_WAIT_MAX_S: Final = 10.0


class GuardedPool:
    """`check` makes the clock monitor ask the database at once; `on_lost` is called when the
    database goes away. `answered_at` is when it last answered, by the monotonic clock.
    """

    def __init__(self, pool: Pool, *, monotonic: Callable[[], float]) -> None:
        self._pool = pool
        self._monotonic = monotonic
        # The requests that wait for a connection: since when, and whether they were refused.
        self._waiting: dict[asyncio.Task[Any], float] = {}
        self._refused: set[asyncio.Task[Any]] = set()
        self._away: StoreUnavailable | None = None
        self.answered_at = monotonic()
        self.check: Callable[[], object] = lambda: None
        self.on_lost: Callable[[StoreUnavailable], object] = lambda _error: None

    @property
    def is_away(self) -> bool:
        return self._away is not None

    def refuse_in_outage(self) -> None:
        """Raise `StoreUnavailable` if the database is away."""
        if self._away is not None:
            raise StoreUnavailable(reason=self._away.reason)

    def answered(self) -> None:
        """The database answers: let requests through, and refuse those that waited for too long."""
        self.answered_at = self._monotonic()
        self._away = None
        self._refuse_since(self.answered_at - CONNECTION_WAIT_MAX_S)

    def lost(self, error: StoreUnavailable) -> None:
        """The database does not answer: refuse requests, also those that wait already."""
        if self._away is None:
            self._away = error
            self.on_lost(error)
            self.check()
        self._refuse_since(float("inf"))

    def _refuse_since(self, latest: float) -> None:
        for task, since in self._waiting.items():
            if since <= latest and task not in self._refused:
                self._refused.add(task)
                task.cancel()

    def acquire(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for the block, or `StoreUnavailable` without waiting for long."""
        return GuardedConnection(self, self._pool.acquire())

    async def wait_for(self, acquiring: AbstractAsyncContextManager[Connection]) -> Connection:
        """Wait for a connection, as long as the database answers and it does not take too long."""
        self.refuse_in_outage()
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is waited for by a task")
        self._waiting[task] = self._monotonic()
        try:
            return await acquiring.__aenter__()
        except asyncio.CancelledError:
            if task not in self._refused or task.uncancel() > 0:
                raise
            self.refuse_in_outage()
            waited = f"no connection was free within {CONNECTION_WAIT_MAX_S:g} s"
            raise StoreUnavailable(reason=waited) from None
        except StoreUnavailable as error:
            # No longer one of those who wait, who are refused by being cancelled.
            del self._waiting[task]
            self.lost(error)
            raise
        finally:
            self._waiting.pop(task, None)
            self._refused.discard(task)

    async def close(self) -> None:
        await self._pool.close()

    def terminate(self) -> None:
        self._pool.terminate()


class GuardedConnection:
    """One use of a connection.

    benefit: a class adds 5 µs to each request, a generator with `asyncio.timeout` added 60
    (measured 2026-11).
    """

    __slots__ = ("_acquiring", "_pool")

    def __init__(
        self, pool: GuardedPool, acquiring: AbstractAsyncContextManager[Connection]
    ) -> None:
        self._pool = pool
        self._acquiring = acquiring

    async def __aenter__(self) -> Connection:
        return await self._pool.wait_for(self._acquiring)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        if isinstance(error, StoreUnavailable):
            # A lock that was not free, or the end of the server: the monitor finds out.
            self._pool.check()
        return await self._acquiring.__aexit__(kind, error, trace)
