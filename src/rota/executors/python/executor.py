"""The way of one attempt: on the loop, in a thread, or in a child process. Room: executors/python.

The first of the three is the hot path of the whole worker, so it makes no task, no timer and no
object but the outcome. What a handler raises goes to the engine as it is; only what would end the
worker is turned into a failure here.
"""

import asyncio
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from rota.core.child_environment import inherited_environment
from rota.core.describing import TaskDescription
from rota.core.errors import InvalidInput
from rota.core.executor import Context
from rota.core.outcome import Outcome, Succeeded
from rota.executors.python import output
from rota.executors.python.children import Children
from rota.executors.python.contexts import AttemptCancelled, SyncContext
from rota.executors.python.failures import contain, refuse_awaitable
from rota.executors.python.handlers import Handlers, Spec
from rota.executors.python.output import CURRENT
from rota.executors.python.threads import LoopLine, Threads

# Most handlers return nothing.
DONE: Final = Succeeded()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a worker gives to handlers that do not run on its loop."""

    threads: int = 256
    children: int = 16
    runs_per_child: int = 100
    idle: timedelta = timedelta(seconds=60)

    def __post_init__(self) -> None:
        for name in ("threads", "children", "runs_per_child"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"limits.{name}", getattr(self, name), "1 or more")
        if self.idle < timedelta():
            raise InvalidInput("limits.idle", self.idle, "a time that is not negative")


USUAL: Final = Limits()


class PythonExecutor:
    """Implements `core.executor.Executor`. `source` names the handlers as `module:attribute` for
    child processes, which import them; it is needed as soon as one handler runs in a process.
    `environment` gives the variables of a child that is started now. Default: those of this process
    that a program needs to start (core/child_environment.py).
    """

    def __init__(
        self,
        handlers: Handlers,
        *,
        source: str | None = None,
        limits: Limits = USUAL,
        environment: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        if source is not None and not all(source.partition(":")):
            raise InvalidInput("source", source, "module:attribute")
        self._handlers = handlers
        self._source = source
        self._threads = Threads(limits.threads)
        self._children = Children(
            source,
            most=limits.children,
            runs_per_child=limits.runs_per_child,
            idle=limits.idle,
            environment=environment or functools.partial(inherited_environment, os.environ),
        )

    @property
    def kinds(self) -> Sequence[str]:
        return self._handlers.kinds

    @property
    def abandoned(self) -> int:
        """Threads of handlers that did not stop when asked to, and still run."""
        return self._threads.abandoned

    def payload_schema(self, kind: str) -> Mapping[str, Any] | None:
        return self._handlers.find(kind).schema

    def describe_task(self, kind: str) -> TaskDescription:
        return self._handlers.find(kind).description

    def supports_exactly_once(self, kind: str) -> bool:
        """A child process has no connection to Rota's database; the others have the worker's."""
        return not self._handlers.find(kind).in_child

    def read(self, kind: str, payload: Any) -> Spec:
        return self._handlers.read(kind, payload)

    async def run(self, spec: Spec, context: Context) -> Outcome:
        handler, payload = spec
        CURRENT.set(context)
        try:
            if handler.on_loop:
                value = await handler.call(context, payload)
            elif handler.in_child:
                return await self._children.run(handler, payload, context)
            else:
                value = await self._run_in_thread(spec, context)
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:  # SystemExit, for one: it would end the loop of all
            if isinstance(error, AttemptCancelled) and context.cancelled:
                raise asyncio.CancelledError from error
            return contain(error, context)
        finally:
            # What the engine says in this task from here on is not the attempt's.
            CURRENT.set(None)
        return DONE if value is None else Succeeded(result=value)

    async def open(self) -> None:
        apart = [handler.kind for handler in self._handlers if handler.in_child]
        if apart and self._source is None:
            wanted = f"module:attribute, because these run in a process: {', '.join(apart[:5])}"
            raise InvalidInput("source", None, wanted)
        output.install()

    async def close(self) -> None:
        output.remove()
        self._threads.close()
        await self._children.close()

    async def _run_in_thread(self, spec: Spec, context: Context) -> Any:
        line = LoopLine(context)
        call = functools.partial(spec.handler.call, SyncContext.over(line, context), spec.payload)
        try:
            value = await self._threads.run(call, stop=line.stop, grace=context.grace)
        finally:
            await line.close()
        return refuse_awaitable(value)
