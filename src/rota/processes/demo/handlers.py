"""The handlers of the example jobs.

Each shows one feature: progress, retries, a dead letter, a checkpoint, a limit, an overlap.
Failures are deliberate and depend only on the attempt and the run's id.
"""

import asyncio
from typing import Any

from rota.core.executor import AttemptContext, Fail
from rota.executors.python import Handlers

handlers = Handlers()


async def pause(seconds: float) -> None:
    """Sleep as user code does."""
    await asyncio.sleep(seconds)  # noqa: TID251 - a handler is user code


@handlers.handler("demo.heartbeat")
async def heartbeat(context: AttemptContext, _payload: Any) -> str:
    """Report that all is well."""
    print(f"all is well at {context.scheduled_at:%H:%M:%S %Z}")  # noqa: T201 - shows output
    return "well"


@handlers.handler("demo.report")
async def report(context: AttemptContext, payload: Any) -> dict[str, int]:
    """Work in steps and report progress."""
    pages = int(payload["pages"])
    for page in range(1, pages + 1):
        await pause(0.5)
        context.progress(page / pages, f"page {page} of {pages}")
        print(f"wrote page {page}")  # noqa: T201 - as above
    return {"pages": pages}


@handlers.handler("demo.flaky")
async def flaky(context: AttemptContext, _payload: Any) -> str:
    """Fail on the first attempt of every other run."""
    if context.attempt == 1 and context.run_id.int % 2:
        raise ConnectionError("the remote service did not respond")
    return f"succeeded at attempt {context.attempt}"


@handlers.handler("demo.hopeless")
async def hopeless(_context: AttemptContext, _payload: Any) -> None:
    """Become a dead letter."""
    raise Fail("customer 4711 does not exist")


@handlers.handler("demo.import")
async def import_rows(context: AttemptContext, _payload: Any) -> dict[str, int]:
    """Fail halfway, and resume from the checkpoint."""
    done = int(await context.resume() or 0)
    resumed_at = done
    while done < 100:
        await pause(0.1)
        done += 10
        await context.checkpoint(done)
        context.progress(done / 100, f"{done} rows")
        if done == 50 and context.attempt == 1:
            raise ConnectionError("lost the connection to the source at row 50")
    return {"rows": done, "began_at": resumed_at}


@handlers.handler("demo.slow")
def slow(context: Any, _payload: Any) -> None:
    """Take longer than the interval, so that every other tick is skipped with a reason."""
    import time  # noqa: PLC0415 - a handler in a thread may block

    for second in range(7):
        time.sleep(1)  # noqa: TID251 - as above
        context.progress((second + 1) / 7)


@handlers.handler("demo.customer")
async def customer(_context: AttemptContext, payload: Any) -> str:
    """Run one at a time per customer."""
    await pause(1.5)
    return f"served customer {payload['customer']}"
