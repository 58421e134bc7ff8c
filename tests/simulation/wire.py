"""One connection that many duties share, and duties that stop before each statement.

A `Story` is one pass of a duty. It goes on a statement at a time, as far as it is told, so another
node may act in between, the clock may move, or the process may die there. A statement can be cut
off before it reaches the database, and an answer can be lost after it did. Statements of one
transaction are one step: what two open transactions do to each other is the chaos tests' business.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from enum import Enum
from typing import Any, NamedTuple, TypeVar, cast

from rota.core.errors import StoreUnavailable
from rota.store.driver import Connection

T = TypeVar("T")


class Fault(Enum):
    """What happens to one statement: it never arrives, its answer never comes back, or the process
    dies just before it.
    """

    CUT = "cut"
    UNANSWERED = "unanswered"
    KILLED = "killed"


class Died(Exception):
    """The process of a story is gone, and the story with it."""


class Mishap(NamedTuple):
    """A fault, and the statement of the story that it happens to, counted from 0."""

    at: int
    fault: Fault


class Story:
    """A pass of a duty under way. It is at rest between two calls of `go`."""

    def __init__(self, name: str, tick: Coroutine[Any, Any, Any], mishap: Mishap | None) -> None:
        self.name = name
        self.in_transaction = False
        self._mishap = mishap
        self._said = 0
        self._may_go = asyncio.Event()
        self._rests = asyncio.Event()
        self.task = asyncio.get_running_loop().create_task(self._tell(tick))
        self.task.add_done_callback(lambda _: self._rests.set())

    async def _tell(self, tick: Coroutine[Any, Any, Any]) -> None:
        try:
            await self._may_go.wait()
        except asyncio.CancelledError:
            tick.close()
            raise
        await tick

    async def go(self, statements: int | None = None) -> None:
        """Go on to the so manyth statement from here, or to the end; raise what the duty raises.

        The first one to come to is only reached, not said: the story stands right before it.
        """
        done = 0
        while not self.task.done() and (statements is None or done < statements):
            self._rests.clear()
            self._may_go.set()
            await self._rests.wait()
            done += 1
        if self.task.cancelled():
            raise Died
        if self.task.done():
            self.task.result()

    @property
    def succeeded(self) -> bool:
        done = self.task.done() and not self.task.cancelled()
        return done and self.task.exception() is None

    async def end(self) -> None:
        """The process is gone."""
        self.task.cancel()
        await asyncio.wait({self.task})
        if not self.task.cancelled():
            self.task.exception()

    async def before_statement(self) -> Fault | None:
        """Rest until told to go on, unless inside a transaction; then see what fate has ready."""
        if not self.in_transaction:
            self._may_go.clear()
            self._rests.set()
            await self._may_go.wait()
        mishap, place = self._mishap, self._said
        self._said += 1
        if mishap is None or mishap.at != place:
            return None
        if mishap.fault is Fault.KILLED:
            raise asyncio.CancelledError
        return mishap.fault


class Wire:
    """The connection as the duties of all nodes have it; the test itself uses the bare one."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        # Whether the database is away.
        self.is_down = False
        # How many statements have reached the database.
        self.said = 0
        self._stories: dict[asyncio.Task[None], Story] = {}

    def begin(
        self, name: str, tick: Coroutine[Any, Any, Any], mishap: Mishap | None = None
    ) -> Story:
        story = Story(name, tick, mishap)
        self._stories[story.task] = story
        story.task.add_done_callback(self._stories.pop)
        return story

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        if self.is_down:
            raise StoreUnavailable(reason="connection refused", is_down=True)
        yield self.as_connection

    @property
    def as_connection(self) -> Connection:
        """It has what duties use of a connection, and no more."""
        return cast("Connection", self)

    def is_in_transaction(self) -> bool:
        return self._story().in_transaction

    async def fetch(self, query: str, *args: Any) -> Any:
        return await self._say(lambda: self._conn.fetch(query, *args))

    async def fetchrow(self, query: str, *args: Any) -> Any:
        return await self._say(lambda: self._conn.fetchrow(query, *args))

    async def _say(self, ask: Callable[[], Awaitable[T]]) -> T:
        fault = await self._story().before_statement()
        if fault is Fault.CUT:
            raise StoreUnavailable(reason="the line was cut")
        self.said += 1
        answer = await ask()
        if fault is Fault.UNANSWERED:
            raise StoreUnavailable(reason="the answer was lost")
        return answer

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """One step of the story: begin, all statements, and the commit, which may go unanswered."""
        story = self._story()
        fault = await story.before_statement()
        if fault is Fault.CUT:
            raise StoreUnavailable(reason="the line was cut")
        story.in_transaction = True
        try:
            async with self._conn.transaction():
                yield
        finally:
            story.in_transaction = False
        if fault is Fault.UNANSWERED:
            raise StoreUnavailable(reason="the answer to the commit was lost")

    def _story(self) -> Story:
        task = asyncio.current_task()
        assert task is not None
        return self._stories[task]
