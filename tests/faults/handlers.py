"""What the workers carry out while a fault strikes: every attempt says what becomes of it.

An attempt marks `start`, then `beat` while it goes on, `done` if it came to its own end or `cut` if
it was ended from outside, and `end` in both cases. One that is killed marks nothing more; its last
beat says how long it lived.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from rota.core.executor import AttemptContext
from rota.executors.python import BlockingContext, Handlers
from rota.runtime.clock import SystemClock
from tests.support.sink import Attempt, Sink

SINK: Final = "FAULTS_SINK"
BEAT_S: Final = 0.2
handlers = Handlers()
clock = SystemClock()


@cache
def sink() -> Sink:
    """One per process; a child process opens its own."""
    return Sink(Path(os.environ[SINK]))


@contextmanager
def witness(context: Attempt) -> Iterator[None]:
    sink().mark("start", context)
    ending = "cut"
    try:
        yield
        ending = "done"
    finally:
        sink().mark(ending, context)
        sink().mark("end", context)


def count_beats(payload: Any) -> range:
    return range(round(payload["seconds"] / BEAT_S))


@handlers.handler("faults.quick")
async def run_quickly(context: AttemptContext, _: Any) -> None:
    with witness(context):
        pass


@handlers.handler("faults.tick")
async def run_tick(context: AttemptContext, _: Any) -> None:
    with witness(context):
        pass


@handlers.handler("faults.slow")
async def run_slowly(context: AttemptContext, payload: Any) -> None:
    with witness(context):
        for _ in count_beats(payload):
            await clock.sleep(BEAT_S)
            sink().mark("beat", context)


@handlers.handler("faults.thread")
def run_in_thread(context: BlockingContext, payload: Any) -> None:
    with witness(context):
        for _ in count_beats(payload):
            threading.Event().wait(BEAT_S)
            sink().mark("beat", context)


@handlers.handler("faults.process", isolation="process")
def run_in_process(context: BlockingContext, payload: Any) -> None:
    with witness(context):
        for _ in count_beats(payload):
            threading.Event().wait(BEAT_S)
            sink().mark("beat", context)
