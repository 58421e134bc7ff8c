"""Blocking calls beside the event loop. Room: executors/sync.

A cancelled attempt waits for the call that is under way, which is short (a chunk of a file): a file
must not be closed while a thread still writes to it. Cancelled once more, it does not wait.
"""

import asyncio
import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MOST = 32
# What is hashed in less time than it takes to go to a thread.
SMALL = 64 * 1024


class Threads:
    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=MOST, thread_name_prefix="rota-sync")

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._pool, lambda: call(*args, **kwargs))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


async def hashed(digest: "hashlib._Hash", chunk: bytes, threads: Threads) -> None:
    if len(chunk) <= SMALL:
        digest.update(chunk)
    else:
        await threads.run(digest.update, chunk)
