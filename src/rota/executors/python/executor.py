"""Runs one attempt of a Python handler: on the event loop, in a thread, or in a child process.

Running on the loop is the hot path of the worker, so it creates no task, no timer and no object but
the outcome. Exceptions of a handler propagate to the engine unchanged; only an exception that would
end the worker becomes a failure here.
"""

import asyncio
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from rota.core.child_environment import select_environment
from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext
from rota.core.kind_descriptions import TaskDescription
from rota.core.outcome import Outcome, Succeeded
from rota.executors.python import output_routing
from rota.executors.python.child_pool import ChildPool
from rota.executors.python.contexts import AttemptCancelled, BlockingContext
from rota.executors.python.failures import contain_error, refuse_awaitable
from rota.executors.python.handlers import HandlerCall, Handlers
from rota.executors.python.output_routing import CURRENT_ATTEMPT
from rota.executors.python.thread_pool import HandlerThreadPool, ThreadEngineConnection

# Most handlers return nothing.
SUCCEEDED_WITHOUT_RESULT: Final = Succeeded()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonLimits:
    """Limits of a worker for handlers that run in threads and child processes."""

    threads: int = 256
    children: int = 16
    runs_per_child: int = 100
    idle: timedelta = timedelta(seconds=60)

    def __post_init__(self) -> None:
        for name in ("threads", "children", "runs_per_child"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"limits.{name}", getattr(self, name), "must be at least 1")
        if self.idle < timedelta():
            raise InvalidInput("limits.idle", self.idle, "must not be negative")


DEFAULT_LIMITS: Final = PythonLimits()


class PythonExecutor:
    """Implements `core.executor.Executor` for Python handlers.

    `source` names the handlers as `module:attribute` for child processes, which import them; it is
    required if a handler runs in a process. `environment` returns the variables of a new child.
    Default: those of this process that a program needs to start (core/child_environment.py).
    """

    def __init__(
        self,
        handlers: Handlers,
        *,
        source: str | None = None,
        limits: PythonLimits = DEFAULT_LIMITS,
        environment: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        if source is not None and not all(source.partition(":")):
            raise InvalidInput("source", source, "expected module:attribute")
        self._handlers = handlers
        self._source = source
        self._threads = HandlerThreadPool(limits.threads)
        self._children = ChildPool(
            source,
            max_children=limits.children,
            runs_per_child=limits.runs_per_child,
            idle=limits.idle,
            environment=environment or functools.partial(select_environment, os.environ),
        )

    @property
    def kinds(self) -> Sequence[str]:
        return self._handlers.kinds

    @property
    def abandoned(self) -> int:
        """Number of threads whose handlers did not stop in time and still run."""
        return self._threads.abandoned

    def payload_schema(self, kind: str) -> Mapping[str, Any] | None:
        return self._handlers.find(kind).schema

    def describe_task(self, kind: str) -> TaskDescription:
        return self._handlers.find(kind).description

    def supports_exactly_once(self, kind: str) -> bool:
        """Return whether the handler shares the worker's database connection; a child has none."""
        return not self._handlers.find(kind).in_child

    def read(self, kind: str, payload: Any) -> HandlerCall:
        return self._handlers.read(kind, payload)

    async def run(self, spec: HandlerCall, context: AttemptContext) -> Outcome:
        handler, payload = spec
        CURRENT_ATTEMPT.set(context)
        try:
            if handler.on_loop:
                value = await handler.call(context, payload)
            elif handler.in_child:
                return await self._children.run(handler, payload, context)
            else:
                value = await self._run_in_thread(spec, context)
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:  # such as SystemExit, which would end the worker's loop
            if isinstance(error, AttemptCancelled) and context.cancelled:
                raise asyncio.CancelledError from error
            return contain_error(error, context)
        finally:
            # Later output of the engine in this task does not belong to the attempt.
            CURRENT_ATTEMPT.set(None)
        return SUCCEEDED_WITHOUT_RESULT if value is None else Succeeded(result=value)

    async def open(self) -> None:
        isolated = [handler.kind for handler in self._handlers if handler.in_child]
        if isolated and self._source is None:
            kinds = ", ".join(isolated[:5])
            wanted = f"expected module:attribute, because these kinds run in a process: {kinds}"
            raise InvalidInput("source", None, wanted)
        output_routing.install_routing()

    async def close(self) -> None:
        output_routing.remove_routing()
        self._threads.close()
        await self._children.close()

    async def _run_in_thread(self, spec: HandlerCall, context: AttemptContext) -> Any:
        line = ThreadEngineConnection(context)
        call = functools.partial(
            spec.handler.call, BlockingContext.connect(line, context), spec.payload
        )
        try:
            value = await self._threads.run(call, stop=line.stop, grace=context.grace)
        finally:
            await line.close()
        return refuse_awaitable(value)
