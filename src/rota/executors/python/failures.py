"""What a handler did wrong, in words. Room: executors/python.

The engine judges what a handler raises on the loop or in a thread. Here is what it cannot see or
must not get: errors in a child process, exceptions that would end the worker, a result that nobody
awaited.
"""

import inspect
from typing import Any

from rota.core.executor import Context, Fail, Stream
from rota.core.outcome import Failed, Failure
from rota.core.tracebacks import render_text
from rota.runtime.tracebacks import locate_error, message_of, trace_error


def contain(error: BaseException, context: Context) -> Failed:
    """Make a failure of an exception that ends processes, such as SystemExit."""
    failure = Failure(
        type=type(error).__name__,
        message=message_of(error),
        traceback=trace_error(error),
        frame=locate_error(error),
    )
    write_traceback(failure, context)
    return Failed(failure=failure)


def write_traceback(failure: Failure, context: Context) -> None:
    """Add the traceback to the log of the attempt."""
    text = render_text(failure.traceback, failure.message)
    context.write(Stream.ERROR, text.encode(errors="replace"))


def refuse_awaitable(value: Any) -> Any:
    """Refuse what a `def` returned that was meant to be awaited: trying again would not help."""
    if not inspect.iscoroutine(value):
        return value
    value.close()
    raise Fail("the handler returned a coroutine; register an `async def` instead")
