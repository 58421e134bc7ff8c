"""A process with an executor, to be killed, or to end although a handler does not."""

# ruff: noqa: T201 — what it prints is for the test

import asyncio
import re
import sys
import threading
from typing import Any

from tests.integration.executors.python.conftest import Family
from tests.unit.executors.python.recording import Recording

from rota.executors.python import BlockingContext, Handlers, PythonExecutor


async def be_killed() -> None:
    """Say the number of a child that runs an endless handler, and wait."""
    async with Family() as family:
        context = Recording()
        attempt = asyncio.ensure_future(family.run("endless", context=context))
        await context.hears("pid ")
        print(*re.findall(r"pid (\d+)", context.said()), flush=True)
        await attempt


async def leave() -> None:
    """End while a handler waits in a thread, for ever."""
    handlers = Handlers()

    @handlers.handler("deaf")
    def deaf(context: BlockingContext, payload: Any) -> None:
        context.progress(0.0, "begun")
        threading.Event().wait()

    executor, context = PythonExecutor(handlers), Recording(grace=0.05)
    await executor.open()
    attempt = asyncio.ensure_future(executor.run(executor.read("deaf", None), context))
    await context.hears("begun")
    attempt.cancel()
    await asyncio.wait([attempt])
    await executor.close()
    print(f"abandoned: {executor.abandoned}")


if __name__ == "__main__":
    asyncio.run(leave() if sys.argv[1] == "thread" else be_killed())
