"""Runs computations in a thread, unless the caller's driver blocks.

`rota.in_transaction` with a blocking driver runs the same coroutines without an event loop, so they
must never wait. In that case the computation runs at once, in the caller's own thread.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_is_blocking: ContextVar[bool] = ContextVar("is_blocking", default=False)


async def compute_in_thread(compute: Callable[[], T]) -> T:
    """Return the result of `compute`; other tasks continue meanwhile."""
    if _is_blocking.get():
        return compute()
    return await asyncio.to_thread(compute)


@contextmanager
def blocking_driver() -> Iterator[None]:
    """Make `compute_in_thread` compute at once, because no event loop runs."""
    token = _is_blocking.set(True)
    try:
        yield
    finally:
        _is_blocking.reset(token)
