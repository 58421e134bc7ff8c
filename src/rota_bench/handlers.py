"""The handlers of the benchmark's runs, which do almost nothing.

`rota worker rota_bench.handlers:handlers` serves them. A handler that reports its start reads the
machine's clock. The database uses the same clock for due times, so both are comparable to the
microsecond.
"""

import asyncio
import contextlib
import time
from typing import Any, Final

from rota.core.executor import AttemptContext, Fail
from rota.executors.python import Handlers

NOOP: Final = "bench.noop"
STAMP: Final = "bench.stamp"
NAP: Final = "bench.nap"
BARRIER: Final = "bench.barrier"
DOOMED: Final = "bench.doomed"
MEMBER: Final = "bench.member"
WATCHED: Final = "bench.watched"
FAILING: Final = "bench.failing"

# One run in this many of `WATCHED` fails.
FAILED_ONE_IN: Final = 100

BARRIER_TIMEOUT_S: Final = 20.0

handlers = Handlers()


@handlers.handler(NOOP)
async def noop(_context: AttemptContext, _payload: Any) -> None:
    """Do nothing: the remaining cost is that of Rota."""


@handlers.handler(MEMBER)
async def member(_context: AttemptContext, _payload: Any) -> None:
    """Do nothing, as a member of a map."""


@handlers.handler(STAMP)
async def stamp(_context: AttemptContext, _payload: Any) -> int:
    """Return the start time in microseconds since 1970."""
    return time.time_ns() // 1000


@handlers.handler(WATCHED)
async def watched(context: AttemptContext, _payload: Any) -> int:
    """Return the start time in microseconds since 1970; a few runs fail instead."""
    started = time.time_ns() // 1000
    if context.run_id.int % FAILED_ONE_IN == 0:
        raise Fail("bench")
    return started


@handlers.handler(FAILING)
async def failing(_context: AttemptContext, _payload: Any) -> None:
    """Fail for good."""
    raise Fail("bench")


@handlers.handler(NAP)
async def nap(_context: AttemptContext, payload: Any) -> None:
    """Occupy a slot for a while, like a network call."""
    await asyncio.sleep(payload["seconds"])  # noqa: TID251 - the work of this handler is to wait


@handlers.handler(DOOMED)
async def doomed(context: AttemptContext, _payload: Any) -> int:
    """Run until the worker is killed; the next attempt returns its start time."""
    started = time.time_ns() // 1000
    if context.attempt == 1:
        await asyncio.Event().wait()
    return started


class RunBarrier:
    """A barrier that counts concurrent runs; none leaves before all expected runs have entered."""

    def __init__(self) -> None:
        self._inside = 0
        self._peak = 0
        self._complete: asyncio.Event | None = None

    async def join(self, expected: int) -> int:
        """Wait for the expected runs, with a timeout, and return the peak of concurrent runs."""
        complete = self._complete = self._complete or asyncio.Event()
        self._inside += 1
        self._peak = max(self._peak, self._inside)
        if self._inside >= expected:
            complete.set()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BARRIER_TIMEOUT_S):
                    await complete.wait()
        finally:
            self._inside -= 1
        return self._peak


_crowd = RunBarrier()


@handlers.handler(BARRIER)
async def barrier(_context: AttemptContext, payload: Any) -> int:
    """Wait until `expected` runs are in this handler at once; return the peak."""
    return await _crowd.join(payload["expected"])
