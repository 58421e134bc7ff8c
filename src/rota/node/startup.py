"""Waits for the database when a process starts. Room: node.

A supervisor that starts everything at once, or restarts a process in an outage, must not have to
know the order. What waiting can mend is `StoreUnavailable`; every other error ends the start.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final, Self, TypeVar

from rota.config.database import Database
from rota.core.errors import StoreUnavailable
from rota.runtime.backoff import Backoff
from rota.runtime.clock import AlarmClock
from rota.runtime.events import DatabaseReached, Emit, WaitingForDatabase
from rota.runtime.stop import Halt

# How often a process that waits says so again.
WAITING_LOG_INTERVAL: Final = timedelta(seconds=30)

Opened = TypeVar("Opened")


class StoppedAtStart(Exception):
    """The process was told to stop before it was up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartWait:
    """Retries what needs the database, for `limit` at most, until `stop` is set."""

    limit: timedelta
    clock: AlarmClock
    emit: Emit
    rng: Random
    stop: Halt

    @classmethod
    def of(
        cls, settings: Database, *, clock: AlarmClock, emit: Emit, rng: Random, stop: Halt
    ) -> Self:
        """Wait for a server. The embedded one is started by this process, and there or not."""
        if settings.url is None:
            return cls(limit=timedelta(), clock=clock, emit=emit, rng=rng, stop=Halt())
        return cls(limit=settings.wait_at_start, clock=clock, emit=emit, rng=rng, stop=stop)

    async def enter(
        self, stack: AsyncExitStack, make: Callable[[], AbstractAsyncContextManager[Opened]]
    ) -> Opened:
        """Enter a context on `stack`, again and again while the database is away.

        Raises `StoppedAtStart` as soon as the process is told to stop, and the last
        `StoreUnavailable` when the limit has passed.
        """
        begun, backoff, said = self.clock.monotonic(), Backoff(chance=self.rng), -float("inf")
        async with cut_short_by(self.stop):
            while True:
                try:
                    opened = await stack.enter_async_context(make())
                except StoreUnavailable as error:
                    now = self.clock.monotonic()
                    left = self.limit.total_seconds() - (now - begun)
                    if left <= 0 or self.stop.is_set():
                        raise
                    pause = min(backoff.pause().total_seconds(), left)
                    if now - said >= WAITING_LOG_INTERVAL.total_seconds():
                        said = now
                        self._say(error.reason, backoff.failures, now - begun)
                    await self.clock.sleep(pause)
                    continue
                if backoff.failures:
                    waited = timedelta(seconds=self.clock.monotonic() - begun)
                    self.emit(DatabaseReached(failures=backoff.failures, waited=waited))
                return opened

    def _say(self, reason: str, failures: int, waited: float) -> None:
        self.emit(
            WaitingForDatabase(reason=reason, failures=failures, waited=timedelta(seconds=waited))
        )


@asynccontextmanager
async def cut_short_by(stop: Halt) -> AsyncIterator[None]:
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
