"""Adapts a job's function to the handlers that the Python executor calls.

The handler's check converts a payload to arguments before the attempt begins. The call passes them
to the function, with the context if the function takes one. The engine writes the return value as
JSON; yielded values are the items of a map (executors/python/map_sources.py).
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from rota.executors.python import map_sources
from rota.sdk.app.arguments import Arguments
from rota.sdk.app.contexts import LoggingContext

HandlerFunction = Callable[[Any, dict[str, Any]], Any]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling the function returns an awaitable."""
    method = getattr(function, "__call__", None)  # noqa: B004 — the method itself is needed
    return any(inspect.iscoroutinefunction(callee) for callee in (function, method))


def build_handler(function: Callable[..., Any], arguments: Arguments) -> HandlerFunction:
    """Build a handler that takes a context and the arguments that `arguments.read` returned."""
    if map_sources.is_async_generator(function):
        return _wrap_async_generator(function, arguments.context)
    if map_sources.is_generator(function):
        return _wrap_generator(function, arguments.context)
    return (
        _wrap_coroutine(function, arguments.context)
        if is_async(function)
        else _wrap_function(function, arguments.context)
    )


def _wrap_coroutine(
    function: Callable[..., Awaitable[Any]], context: str | None
) -> HandlerFunction:
    async def without_context(_context: Any, args: dict[str, Any]) -> Any:
        return await function(**args)

    async def with_context(attempt: Any, args: dict[str, Any]) -> Any:
        return await function(**{str(context): LoggingContext(attempt)}, **args)

    return without_context if context is None else with_context


def _wrap_function(function: Callable[..., Any], context: str | None) -> HandlerFunction:
    def without_context(_context: Any, args: dict[str, Any]) -> Any:
        return function(**args)

    def with_context(attempt: Any, args: dict[str, Any]) -> Any:
        return function(**{str(context): LoggingContext(attempt)}, **args)

    return without_context if context is None else with_context


def _wrap_async_generator(
    function: Callable[..., AsyncIterator[Any]], context: str | None
) -> HandlerFunction:
    async def source(attempt: Any, args: dict[str, Any]) -> AsyncIterator[Any]:
        async for item in function(**_context_argument(context, attempt), **args):
            yield item

    return source


def _wrap_generator(function: Callable[..., Iterator[Any]], context: str | None) -> HandlerFunction:
    def source(attempt: Any, args: dict[str, Any]) -> Iterator[Any]:
        yield from function(**_context_argument(context, attempt), **args)

    return source


def _context_argument(context: str | None, attempt: Any) -> dict[str, Any]:
    return {} if context is None else {context: LoggingContext(attempt)}
