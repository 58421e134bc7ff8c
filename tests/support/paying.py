"""Handlers for worker processes that are killed inside and after their transactions.

Each pauses where a test wants to kill its worker, and says so in a file: a row would be rolled back
with the transaction.
"""

import os
import threading
from pathlib import Path
from typing import Any

from rota.core.executor import AttemptContext
from rota.executors.python import Handlers
from rota.executors.python.contexts import BlockingContext

handlers = Handlers()
INSERT = "insert into payments (run_id, attempt) values ($1, $2)"


def note(context: Any, where: str) -> None:
    with (Path(os.environ["WITNESS"]) / str(context.run_id)).open("a") as file:
        file.write(f"{context.attempt} {where}\n")


def rest() -> None:
    """Until the worker is killed."""
    threading.Event().wait()


@handlers.handler("inside")
def inside(context: BlockingContext, _payload: Any) -> None:
    """Killed with the row written and nothing committed, the first time."""
    with context.transaction() as conn:
        conn.execute(INSERT, context.run_id, context.attempt)
        note(context, "inside")
        while context.attempt == 1:
            # Or the server ends a transaction that does nothing.
            conn.fetchval("select pg_sleep(0.05)")


@handlers.handler("inside async")
async def inside_async(context: AttemptContext, _payload: Any) -> None:
    async with context.transaction() as conn:
        await conn.execute(INSERT, context.run_id, context.attempt)
        note(context, "inside")
        while context.attempt == 1:
            await conn.fetchval("select pg_sleep(0.05)")


@handlers.handler("after")
def after(context: BlockingContext, _payload: Any) -> None:
    """Killed when everything is committed, and the handler has not returned."""
    with context.transaction() as conn:
        conn.execute(INSERT, context.run_id, context.attempt)
    note(context, "after")
    rest()
