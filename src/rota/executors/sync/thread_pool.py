"""Runs blocking calls in threads, beside the event loop.

A cancelled attempt waits for the running call, which is short (a chunk of a file): a file must not
be closed while a thread still writes to it. After a second cancellation it does not wait.
"""

import asyncio
import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

THREADS_MAX = 32
# Bytes that are hashed faster than a call in a thread takes.
INLINE_HASH_MAX_BYTES = 64 * 1024


class SyncThreadPool:
    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=THREADS_MAX, thread_name_prefix="rota-sync")

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


async def update_digest(digest: "hashlib._Hash", chunk: bytes, threads: SyncThreadPool) -> None:
    if len(chunk) <= INLINE_HASH_MAX_BYTES:
        digest.update(chunk)
    else:
        await threads.run(digest.update, chunk)
