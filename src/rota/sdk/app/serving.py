"""What a worker calls: a job's function behind the handlers of the executor. Room: sdk/app.

The check turns a payload into arguments before the attempt begins; the call gives them to the
function, with the context if it asks for one. What it returns is written as JSON by the engine.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from rota.core.errors import InvalidInput
from rota.sdk.app.arguments import Arguments
from rota.sdk.app.contexts import Given

Call = Callable[[Any, dict[str, Any]], Any]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await."""
    faces = (function, getattr(function, "__call__", None))  # noqa: B004 — its own method is wanted
    if any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in faces):
        raise InvalidInput("job", function, "a function that returns its result, without yield")
    return any(inspect.iscoroutinefunction(each) for each in faces)


def call_of(function: Callable[..., Any], arguments: Arguments) -> Call:
    """The function as a handler: of a context, and of what `arguments.read` made of the payload."""
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
