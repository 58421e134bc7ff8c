"""Waits for the database when a process starts.

So a supervisor can start everything at once, or restart a process during an outage, in any order.
Only `StoreUnavailable` is retried; every other error ends the start.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final, Self, TypeVar

from rota.config.database import DatabaseSettings
from rota.core.errors import StoreUnavailable
from rota.runtime.backoff import Backoff
from rota.runtime.clock import AlarmClock
from rota.runtime.events import DatabaseReached, Emit, WaitingForDatabase
from rota.runtime.service import Halt

# How often a waiting process logs that it waits.
WAITING_LOG_INTERVAL: Final = timedelta(seconds=30)

Opened = TypeVar("Opened")


class StoppedAtStart(Exception):
    """The process was stopped before it was ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseWait:
    """Retries a step that needs the database, for at most `limit`, until `stop` is set."""

    limit: timedelta
    clock: AlarmClock
    emit: Emit
    rng: Random
    stop: Halt

    @classmethod
    def from_settings(
        cls, settings: DatabaseSettings, *, clock: AlarmClock, emit: Emit, rng: Random, stop: Halt
    ) -> Self:
        """Wait for a server only: the embedded one is started by this process."""
        if settings.url is None:
            return cls(limit=timedelta(), clock=clock, emit=emit, rng=rng, stop=Halt())
        return cls(limit=settings.wait_at_start, clock=clock, emit=emit, rng=rng, stop=stop)

    async def enter_context(
        self, stack: AsyncExitStack, make: Callable[[], AbstractAsyncContextManager[Opened]]
    ) -> Opened:
        """Enter a context on `stack`, and retry while the database is unreachable.

        Raises `StoppedAtStart` as soon as the process is stopped, and the last `StoreUnavailable`
        after the limit.
        """
        started, backoff, logged = self.clock.monotonic(), Backoff(rng=self.rng), -float("inf")
        async with cancel_on_stop(self.stop):
            while True:
                try:
                    opened = await stack.enter_async_context(make())
                except StoreUnavailable as error:
                    now = self.clock.monotonic()
                    left = self.limit.total_seconds() - (now - started)
                    if left <= 0 or self.stop.is_set():
                        raise
                    pause = min(backoff.next_pause().total_seconds(), left)
                    if now - logged >= WAITING_LOG_INTERVAL.total_seconds():
                        logged = now
                        self._log_waiting(error.reason, backoff.failures, now - started)
                    await self.clock.sleep(pause)
                    continue
                if backoff.failures:
                    waited = timedelta(seconds=self.clock.monotonic() - started)
                    self.emit(DatabaseReached(failures=backoff.failures, waited=waited))
                return opened

    def _log_waiting(self, reason: str, failures: int, waited: float) -> None:
        self.emit(
            WaitingForDatabase(reason=reason, failures=failures, waited=timedelta(seconds=waited))
        )


@asynccontextmanager
async def cancel_on_stop(stop: Halt) -> AsyncIterator[None]:
    """Cancel the block as soon as `stop` is set, and raise `StoppedAtStart` instead."""
    async with asyncio.timeout(None) as scope:
        watching = asyncio.create_task(_expire(scope, stop))
        try:
            yield
        except asyncio.CancelledError:
            if stop.is_set():
                raise StoppedAtStart from None
            raise
        finally:
            watching.cancel()


async def _expire(scope: asyncio.Timeout, stop: Halt) -> None:
    await stop.wait()
    scope.reschedule(asyncio.get_running_loop().time())
