"""The handlers of the example jobs. Room: node.

Each shows one thing: progress, retries, a dead letter, a checkpoint, a limit, an overlap.
What goes wrong here goes wrong on purpose, by the number in the run's id, so that it is the same on
every machine.
"""

import asyncio
from typing import Any

from rota.core.executor import Context, Fail
from rota.executors.python import Handlers

handlers = Handlers()


async def pause(seconds: float) -> None:
    """A handler is user code: it may wait as users do."""
    await asyncio.sleep(seconds)  # noqa: TID251 — see above


@handlers.handler("demo.heartbeat")
async def heartbeat(context: Context, _payload: Any) -> str:
    """Say that all is well."""
    print(f"all is well at {context.scheduled_at:%H:%M:%S}")  # noqa: T201 — its output is the point
    return "well"


@handlers.handler("demo.report")
async def report(context: Context, payload: Any) -> dict[str, int]:
    """Work in steps, and tell how far it got."""
    pages = int(payload["pages"])
    for page in range(1, pages + 1):
        await pause(0.5)
        context.progress(page / pages, f"page {page} of {pages}")
        print(f"page {page} is written")  # noqa: T201 — as above
    return {"pages": pages}


@handlers.handler("demo.flaky")
async def flaky(context: Context, _payload: Any) -> str:
    """Fail on the first attempt, every other time."""
    if context.attempt == 1 and context.run_id.int % 2:
        raise ConnectionError("the other side did not answer")
    return f"answered at attempt {context.attempt}"


@handlers.handler("demo.hopeless")
async def hopeless(_context: Context, _payload: Any) -> None:
    """End among the dead letters."""
    raise Fail("customer 4711 does not exist")


@handlers.handler("demo.import")
async def import_rows(context: Context, _payload: Any) -> dict[str, int]:
    """Fail half-way, and go on from the checkpoint."""
    done = int(await context.resume() or 0)
    began = done
    while done < 100:
        await pause(0.1)
        done += 10
        await context.checkpoint(done)
        context.progress(done / 100, f"{done} rows")
        if done == 50 and context.attempt == 1:
            raise ConnectionError("the source went away at row 50")
    return {"rows": done, "began_at": began}


@handlers.handler("demo.slow")
def slow(context: Any, _payload: Any) -> None:
    """Take longer than its interval: every other tick is skipped, and says why."""
    import time  # noqa: PLC0415 — a handler in a thread may block

    for second in range(7):
        time.sleep(1)  # noqa: TID251 — as above
        context.progress((second + 1) / 7)


@handlers.handler("demo.customer")
async def customer(_context: Context, payload: Any) -> str:
    """One at a time for each customer, whoever else is served."""
    await pause(1.5)
    return f"customer {payload['customer']} served"
