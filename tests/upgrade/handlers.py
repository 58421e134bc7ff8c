"""What the workers of both releases carry out. Every start is a line in a file."""

import asyncio
import os
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from rota.executors.python import Handlers

STARTS = "UPGRADE_STARTS"
handlers = Handlers()


class HasRunId(Protocol):
    """The context of an attempt, which the two releases name differently."""

    @property
    def run_id(self) -> UUID: ...


def witness(context: HasRunId) -> None:
    """One line per start; what is appended at once is never mixed with another's."""
    with Path(os.environ[STARTS]).open("ab", buffering=0) as file:
        file.write(f"{context.run_id}\n".encode())


@handlers.handler("upgrade.quick")
async def quick(context: HasRunId, payload: Any) -> Any:
    witness(context)
    return payload


@handlers.handler("upgrade.slow")
async def slow(context: HasRunId, payload: Any) -> Any:
    witness(context)
    await asyncio.sleep(0.3)  # noqa: TID251 — the work itself
    return payload
