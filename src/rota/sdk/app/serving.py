"""What a worker calls: a job's function behind the handlers of the executor. Room: sdk/app.

The check turns a payload into arguments before the attempt begins; the call gives them to the
function, with the context if it asks for one. What it returns is written as JSON by the engine;
what it yields are the items of a map (executors/python/sources.py).
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from rota.executors.python import sources
from rota.sdk.app.arguments import Arguments
from rota.sdk.app.contexts import Given

Call = Callable[[Any, dict[str, Any]], Any]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await."""
    faces = (function, getattr(function, "__call__", None))  # noqa: B004 — its own method is wanted
    return any(inspect.iscoroutinefunction(each) for each in faces)


def call_of(function: Callable[..., Any], arguments: Arguments) -> Call:
    """The function as a handler: of a context, and of what `arguments.read` made of the payload."""
    if sources.yields_async(function):
        return _yielding_async(function, arguments.context)
    if sources.yields(function):
        return _yielding(function, arguments.context)
    return (
        _awaited(function, arguments.context)
        if is_async(function)
        else _called(function, arguments.context)
    )


def _awaited(function: Callable[..., Awaitable[Any]], context: str | None) -> Call:
    async def bare(_context: Any, given: dict[str, Any]) -> Any:
        return await function(**given)

    async def informed(attempt: Any, given: dict[str, Any]) -> Any:
        return await function(**{str(context): Given(attempt)}, **given)

    return bare if context is None else informed


def _called(function: Callable[..., Any], context: str | None) -> Call:
    def bare(_context: Any, given: dict[str, Any]) -> Any:
        return function(**given)

    def informed(attempt: Any, given: dict[str, Any]) -> Any:
        return function(**{str(context): Given(attempt)}, **given)

    return bare if context is None else informed


def _yielding_async(function: Callable[..., AsyncIterator[Any]], context: str | None) -> Call:
    async def source(attempt: Any, given: dict[str, Any]) -> AsyncIterator[Any]:
        async for item in function(**_with(context, attempt), **given):
            yield item

    return source


def _yielding(function: Callable[..., Iterator[Any]], context: str | None) -> Call:
    def source(attempt: Any, given: dict[str, Any]) -> Iterator[Any]:
        yield from function(**_with(context, attempt), **given)

    return source


def _with(context: str | None, attempt: Any) -> dict[str, Any]:
    return {} if context is None else {context: Given(attempt)}
