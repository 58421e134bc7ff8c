"""Computes beside the event loop, unless the caller's driver blocks. Room: store.

`rota.within` with a blocking driver runs the same coroutines without an event loop: they must never
wait. There a computation is done at once, in the caller's own thread.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_is_blocking: ContextVar[bool] = ContextVar("is_blocking", default=False)


async def compute_in_thread(compute: Callable[[], T]) -> T:
    """Return what `compute` returns; other tasks go on meanwhile, if there are any."""
    if _is_blocking.get():
        return compute()
    return await asyncio.to_thread(compute)


@contextmanager
def blocking_driver() -> Iterator[None]:
    """Let `compute_in_thread` compute at once, because nobody drives an event loop."""
    token = _is_blocking.set(True)
    try:
        yield
    finally:
        _is_blocking.reset(token)
