"""Runs handlers in a child process, one call after the other.

    python -m rota.executors.python.child <socket> <parent> <memory> <module:attribute>

`child_process.py` starts it. Sync handlers run in the main thread, where an interrupt reaches them;
async handlers run on a loop that lives as long as the child. A faulty handler ends this process at
worst.
"""

import asyncio
import contextlib
import faulthandler
import importlib
import io
import logging
import os
import socket
import sys
import traceback
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.executor import Fail, Retry, Snooze
from rota.executors.python import confinement, frames
from rota.executors.python.child_link import ChildLink, Interrupts, SocketEngineConnection
from rota.executors.python.contexts import AttemptCancelled, BlockingContext, ChildContext
from rota.executors.python.failures import refuse_awaitable
from rota.executors.python.frames import RaisedMeaning
from rota.executors.python.handlers import Handler, Handlers
from rota.executors.python.output_routing import AttemptLogHandler, OutputSink
from rota.runtime.tracebacks import locate_error, render_message, trace_error

MEANINGS: Final[tuple[tuple[type[BaseException], RaisedMeaning], ...]] = (
    (Fail, RaisedMeaning.FAIL),
    (Retry, RaisedMeaning.RETRY),
    (Snooze, RaisedMeaning.SNOOZE),
    (InvalidInput, RaisedMeaning.INVALID),
    (AttemptCancelled, RaisedMeaning.STOPPED),
    (asyncio.CancelledError, RaisedMeaning.STOPPED),
)


class CallRunner:
    """Runs calls. `current` is the context of the call in progress."""

    def __init__(self, link: ChildLink, interrupts: Interrupts) -> None:
        self.handlers = Handlers()
        self.current: OutputSink | None = None
        self._link = link
        self._interrupts = interrupts

    def run_call(self, call: frames.CallFrame, runner: asyncio.Runner) -> None:
        line = SocketEngineConnection(self._link)
        last: frames.ReturnedFrame | frames.RaisedFrame
        try:
            handler = self.handlers.find(call.kind)
            payload = frames.from_json(call.payload)
            if handler.check is not None:
                payload = handler.check(payload)
            if handler.is_async:
                context = ChildContext.connect(line, call.facts)
                value = runner.run(self._await(handler, payload, context))
            else:
                value = self._call(handler, payload, BlockingContext.connect(line, call.facts))
            last = frames.ReturnedFrame(
                value=frames.to_json(value), resident=confinement.read_resident_bytes()
            )
        except BaseException as error:  # noqa: BLE001 — any error ends this run only
            last = build_raised(error)
        self.current = None
        flush_output()
        try:
            line.end(last)
        except InvalidInput as error:  # a result larger than a frame
            line.end(build_raised(error))

    def _call(self, handler: Handler, payload: Any, context: BlockingContext) -> Any:
        self.current = context
        join_trace(context.traceparent)
        with self._interrupts.deliver_to(raise_cancelled):
            return refuse_awaitable(handler.call(context, payload))

    async def _await(self, handler: Handler, payload: Any, context: ChildContext) -> Any:
        self.current = context
        join_trace(context.traceparent)
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def cancel() -> None:
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)

        with self._interrupts.deliver_to(cancel):
            return await handler.call(context, payload)


def join_trace(traceparent: str | None) -> None:
    """Make the attempt the parent of all spans and programs of this call.

    A child runs one call at a time, so the trace applies to the whole process. OpenTelemetry gets
    it if the handlers have imported it.
    """
    if traceparent is None:
        return
    os.environ["TRACEPARENT"] = traceparent
    if "opentelemetry.trace" in sys.modules:
        otel = importlib.import_module("opentelemetry.context")
        propagation = importlib.import_module("opentelemetry.trace.propagation.tracecontext")
        reader = propagation.TraceContextTextMapPropagator()
        otel.attach(reader.extract({"traceparent": traceparent}, otel.Context()))


def raise_cancelled() -> None:
    raise AttemptCancelled


def build_raised(error: BaseException, *, is_leaving: bool = False) -> frames.RaisedFrame:
    if isinstance(error, MemoryError):
        # The handler's frames may hold all memory, and building the report needs some.
        traceback.clear_frames(error.__traceback__)
    delay = getattr(error, "after", None) if isinstance(error, Retry) else None
    return frames.RaisedFrame(
        type=type(error).__name__,
        message=render_message(error),
        traceback=trace_error(error),
        own_frame=locate_error(error),
        meaning=next((m for type_, m in MEANINGS if isinstance(error, type_)), RaisedMeaning.ERROR),
        delay=error.delay if isinstance(error, Snooze) else delay,
        resident=confinement.read_resident_bytes(),
        is_leaving=is_leaving or isinstance(error, MemoryError),
    )


def load_handlers(source: str) -> Handlers:
    """Import the registry that `module:attribute` names."""
    module, _, attribute = source.partition(":")
    registry: Any = importlib.import_module(module)
    for name in attribute.split("."):
        registry = getattr(registry, name)
    if not isinstance(registry, Handlers):
        raise InvalidInput("source", source, "expected the module:attribute of a Handlers object")
    return registry


def flush_output() -> None:
    """Flush the output of a handler, so that it reaches the worker before the result."""
    for stream in (sys.stdout, sys.stderr):
        # A handler may have closed or replaced them.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def main(arguments: list[str]) -> int:
    descriptor, parent, memory, source = arguments
    confinement.die_with(int(parent))
    confinement.forbid_new_privileges()
    confinement.limit_resources(memory=int(memory))
    confinement.restore_path()
    faulthandler.enable()  # a crash in C leaves its stack in the log of the attempt
    interrupts = Interrupts()
    interrupts.install()
    link = ChildLink(socket.socket(fileno=int(descriptor)), interrupts)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    performer = CallRunner(link, interrupts)
    logging.root.addHandler(AttemptLogHandler(lambda: performer.current))
    logging.root.setLevel(logging.INFO)
    try:
        performer.handlers = load_handlers(source)
    except BaseException as error:  # noqa: BLE001 — reported as the first result
        link.send(build_raised(error, is_leaving=True))
        return 1
    with asyncio.Runner() as runner:
        while isinstance(call := link.receive(), frames.CallFrame):
            performer.run_call(call, runner)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
