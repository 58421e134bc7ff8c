"""A pool of connections that answers at once while the database is away. Room: api.

Without it, every request of an outage waits for a connect of its own to time out, and thousands of
requests pile up behind a handful of connections. Here the first connect that fails, or the clock
monitor that gets no answer, marks the database as away. Until the monitor gets an answer, all
requests are refused immediately, including those that were already waiting for a connection.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Final

from rota.core.errors import StoreUnavailable
from rota.store.driver import Connection, Pool

# How long a request waits for a connection of a busy pool while the database answers.
CONNECTION_WAIT_MAX_S: Final = 10.0


class GuardedPool:
    """`check` makes the clock monitor ask the database at once; `on_lost` is called when the
    database goes away. `answered_at` is when it last answered, by the monotonic clock.
    """

    def __init__(self, pool: Pool, *, monotonic: Callable[[], float]) -> None:
        self._pool = pool
        self._monotonic = monotonic
        self._waiting: set[asyncio.Timeout] = set()
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
        """The database answers: let requests through."""
        self.answered_at = self._monotonic()
        self._away = None

    def lost(self, error: StoreUnavailable) -> None:
        """The database does not answer: refuse requests, also those that wait already."""
        if self._away is None:
            self._away = error
            self.on_lost(error)
            self.check()
        now = asyncio.get_running_loop().time()
        for limit in self._waiting:
            limit.reschedule(now)

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """A connection for the block, or `StoreUnavailable` without waiting for long."""
        self.refuse_in_outage()
        async with AsyncExitStack() as stack:
            with self._telling():
                async with asyncio.timeout(CONNECTION_WAIT_MAX_S) as limit:
                    self._waiting.add(limit)
                    try:
                        conn = await stack.enter_async_context(self._pool.acquire())
                    finally:
                        self._waiting.discard(limit)
            try:
                yield conn
            except StoreUnavailable:
                # A lock that was not free, or the end of the server: the monitor finds out.
                self.check()
                raise

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self.refuse_in_outage()
            waited = f"no connection was free within {CONNECTION_WAIT_MAX_S:g} s"
            raise StoreUnavailable(reason=waited) from None
        except StoreUnavailable as error:
            self.lost(error)
            raise

    async def close(self) -> None:
        await self._pool.close()

    def terminate(self) -> None:
        self._pool.terminate()

    async def expire_connections(self) -> None:
        await self._pool.expire_connections()
