"""What the workers of both releases carry out. Every start is a line in a file."""

import asyncio
import os
from pathlib import Path
from typing import Any

from rota.core.executor import AttemptContext
from rota.executors.python import Handlers

STARTS = "UPGRADE_STARTS"
handlers = Handlers()


def witness(context: AttemptContext) -> None:
    """One line per start; what is appended at once is never mixed with another's."""
    with Path(os.environ[STARTS]).open("ab", buffering=0) as file:
        file.write(f"{context.run_id}\n".encode())


@handlers.handler("upgrade.quick")
async def quick(context: AttemptContext, payload: Any) -> Any:
    witness(context)
    return payload


@handlers.handler("upgrade.slow")
async def slow(context: AttemptContext, payload: Any) -> Any:
    witness(context)
    await asyncio.sleep(0.3)  # noqa: TID251 — the work itself
    return payload
