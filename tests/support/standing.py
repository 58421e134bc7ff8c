"""A Source that always gives the same connection, and a clock that follows the World's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from rota.store.driver import Connection
from tests.support.world import NOON, World


class Standing:
    """One connection for every duty, so that all of them share its moved clock."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        yield self._conn


class WorldClock:
    """The World's time as a node sees it."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        return self._world.now

    def monotonic(self) -> float:
        return (self._world.now - NOON).total_seconds()

    async def sleep(self, _seconds: float, /) -> None:
        return
