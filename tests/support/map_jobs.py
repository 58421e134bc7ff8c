"""Handlers of a map for worker processes: a source that goes on for a while, and its members."""

from collections.abc import AsyncIterator
from typing import Any

from rota.core.executor import AttemptContext
from rota.executors.python import Handlers

handlers = Handlers()


@handlers.handler("items")
async def items(_context: AttemptContext, payload: Any) -> AsyncIterator[int]:
    for number in range(payload["number"]):
        yield number


@handlers.handler("one")
async def one(_context: AttemptContext, payload: Any) -> int:
    return int(payload["n"])


@handlers.handler("sum")
async def add_up(context: AttemptContext, _payload: Any) -> int:
    return sum([member.result async for member in context.members("each")])
