"""What a handler did wrong, in words. Room: executors/python.

The engine judges what a handler raises on the loop or in a thread. Here is what it cannot see or
must not get: errors in a child process, exceptions that would end the worker, a result that nobody
awaited.
"""

import inspect
import traceback
from typing import Any, Final

from rota.core.executor import Context, Fail, Stream
from rota.core.outcome import Failed, Failure

LONGEST_MESSAGE: Final = 8_000
LONGEST_TRACEBACK: Final = 16_000


def contain(error: BaseException, context: Context) -> Failed:
    """Make a failure of an exception that ends processes, such as SystemExit."""
    context.write(Stream.ROTA, traceback_of(error).encode("utf-8", "backslashreplace"))
    return Failed(failure=Failure(type=type(error).__name__, message=message_of(error)))


def refuse_awaitable(value: Any) -> Any:
    """Refuse what a `def` returned that was meant to be awaited: trying again would not help."""
    if not inspect.iscoroutine(value):
        return value
    value.close()
    raise Fail("the handler returned a coroutine; register an `async def` instead")


def message_of(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 — the error's own __str__ is foreign code and may be broken
        text = "an error that cannot be shown"
    return text[:LONGEST_MESSAGE]


def traceback_of(error: BaseException) -> str:
    """The end of the traceback: what is nearest to the mistake."""
    return "".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:]
