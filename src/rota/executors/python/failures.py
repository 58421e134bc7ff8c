"""Turns errors that the engine cannot handle itself into failures.

The engine handles exceptions of handlers on the loop and in threads. This module covers errors in a
child process, exceptions that would end the worker, and a coroutine that was never awaited.
"""

import inspect
from typing import Any

from rota.core.executor import AttemptContext, Fail, Stream
from rota.core.outcome import Failed, Failure
from rota.core.tracebacks import render_traceback
from rota.runtime.tracebacks import locate_error, render_message, trace_error


def contain_error(error: BaseException, context: AttemptContext) -> Failed:
    """Turn an exception that would end the process, such as SystemExit, into a failure."""
    failure = Failure(
        type=type(error).__name__,
        message=render_message(error),
        traceback=trace_error(error),
        frame=locate_error(error),
    )
    write_traceback(failure, context)
    return Failed(failure=failure)


def write_traceback(failure: Failure, context: AttemptContext) -> None:
    """Add the traceback to the log of the attempt."""
    text = render_traceback(failure.traceback, failure.message)
    context.write(Stream.ERROR, text.encode(errors="replace"))


def refuse_awaitable(value: Any) -> Any:
    """Refuse a coroutine that a `def` handler returned: a retry would not help."""
    if not inspect.iscoroutine(value):
        return value
    value.close()
    raise Fail("the handler returned a coroutine; register an `async def` function instead")
