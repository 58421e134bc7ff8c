"""What the benchmark's runs do, which is next to nothing. Room: node/bench.

`rota worker rota.node.bench.handlers:handlers` serves them. A handler that reports its start reads
the machine's own clock: it is one machine, so due times, which the database decides by the same
clock, can be compared with it to the microsecond.
"""

import asyncio
import contextlib
import time
from typing import Any, Final

from rota.core.executor import Context
from rota.executors.python import Handlers

NOOP: Final = "bench.noop"
STAMP: Final = "bench.stamp"
NAP: Final = "bench.nap"
BARRIER: Final = "bench.barrier"
DOOMED: Final = "bench.doomed"
MEMBER: Final = "bench.member"

BARRIER_PATIENCE: Final = 20.0

handlers = Handlers()


@handlers.handler(NOOP)
async def noop(_context: Context, _payload: Any) -> None:
    """Nothing: what is left is Rota's own cost."""


@handlers.handler(MEMBER)
async def member(_context: Context, _payload: Any) -> None:
    """Nothing, as a member of a map."""


@handlers.handler(STAMP)
async def stamp(_context: Context, _payload: Any) -> int:
    """When this handler started, in microseconds since 1970."""
    return time.time_ns() // 1000


@handlers.handler(NAP)
async def nap(_context: Context, payload: Any) -> None:
    """Occupy a slot for a while, as a call over the network does."""
    await asyncio.sleep(payload["seconds"])  # noqa: TID251 - the work of this handler is to wait


@handlers.handler(DOOMED)
async def doomed(context: Context, _payload: Any) -> int:
    """The first attempt runs until its worker is killed; the next says when it started."""
    started = time.time_ns() // 1000
    if context.attempt == 1:
        await asyncio.Event().wait()
    return started


class Crowd:
    """Counts who is inside; nobody leaves before all that are expected have come."""

    def __init__(self) -> None:
        self._inside = 0
        self._most = 0
        self._complete: asyncio.Event | None = None

    async def join(self, expected: int) -> int:
        """Return how many were inside at the same time; give up waiting after a while."""
        complete = self._complete = self._complete or asyncio.Event()
        self._inside += 1
        self._most = max(self._most, self._inside)
        if self._inside >= expected:
            complete.set()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BARRIER_PATIENCE):
                    await complete.wait()
        finally:
            self._inside -= 1
        return self._most


_crowd = Crowd()


@handlers.handler(BARRIER)
async def barrier(_context: Context, payload: Any) -> int:
    """Wait until `expected` runs are inside this handler at once; return how many were."""
    return await _crowd.join(payload["expected"])
