"""What the workers of a chaos run carry out: one handler for each way in which a run can go.

Every handler tells the sink when it begins and when it ends, and nobody else. A handler that is
killed tells nothing; that is how the checker knows.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from rota.core.executor import AttemptContext, Snooze
from rota.executors.python import BlockingContext, Handlers
from rota.runtime.clock import SystemClock
from tests.support.sink import Attempt, Sink

SINK = "CHAOS_SINK"
handlers = Handlers()
clock = SystemClock()


class Unlucky(Exception):
    """The failure that some handlers are asked for."""


@cache
def sink() -> Sink:
    """One per process; a child process opens its own."""
    return Sink(Path(os.environ[SINK]))


@contextmanager
def witnessed(context: Attempt) -> Iterator[None]:
    sink().mark("start", context)
    try:
        yield
    finally:
        sink().mark("end", context)


@handlers.handler("chaos.quick")
async def quick(context: AttemptContext, _: Any) -> None:
    with witnessed(context):
        pass


@handlers.handler("chaos.slow")
async def slow(context: AttemptContext, payload: Any) -> None:
    """Takes a while; also the handler that is cancelled, because a sleep can be."""
    with witnessed(context):
        await clock.sleep(payload["seconds"])


@handlers.handler("chaos.failing")
async def failing(context: AttemptContext, payload: Any) -> None:
    """Fails as often as it is told to, which may be always."""
    with witnessed(context):
        if context.attempt <= payload["failures"]:
            raise Unlucky


@handlers.handler("chaos.snoozing")
async def snoozing(context: AttemptContext, _: Any) -> None:
    with witnessed(context):
        if context.attempt == 1:
            raise Snooze(timedelta(milliseconds=300))


@handlers.handler("chaos.effect")
async def effect(context: AttemptContext, payload: Any) -> None:
    """Writes a row in the transaction that completes the run."""
    with witnessed(context):
        await clock.sleep(payload["seconds"])
        async with context.transaction() as conn:
            await conn.execute("insert into public.effects (run_id) values ($1)", context.run_id)


@handlers.handler("chaos.thread")
def in_thread(context: BlockingContext, payload: Any) -> None:
    with witnessed(context):
        threading.Event().wait(payload["seconds"])


@handlers.handler("chaos.process", isolation="process")
def in_process(context: BlockingContext, payload: Any) -> None:
    with witnessed(context):
        threading.Event().wait(payload["seconds"])


@handlers.handler("chaos.crasher")
async def crasher(context: AttemptContext, _: Any) -> None:
    """Ends its whole worker, at the first attempt only."""
    with witnessed(context):
        if context.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
