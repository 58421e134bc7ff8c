"""Handlers of maps that a child process can import."""

from collections.abc import Iterator
from typing import Any

from rota.executors.python import BlockingContext, Handlers

handlers = Handlers()
plain = Handlers()


@plain.handler("sum")
@handlers.handler("sum", isolation="process")
def add_up(context: BlockingContext, step: str) -> int:
    return sum(member.result["n"] for member in context.members(step))


@handlers.handler("count", isolation="process")
def count(_context: Any, number: int) -> Iterator[int]:
    yield from range(number)
