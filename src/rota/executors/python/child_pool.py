"""Keeps a pool of warm child processes, one run at a time each.

Starting an interpreter and importing an application takes from a tenth of a second to several, so
the pool reuses a child until it has had its number of runs, holds too much memory, was interrupted
or was idle for too long. Handlers with different memory limits use different children.
`child_process.py` implements the communication.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext
from rota.core.outcome import Outcome
from rota.executors.python import frames
from rota.executors.python.child_process import EXIT_TIMEOUT_S, KILL_TIMEOUT_S, ChildProcess
from rota.executors.python.contexts import AttemptFacts
from rota.executors.python.handlers import Handler

# Share of the memory limit: a child that holds more would leave the next run too little.
MEMORY_REUSE_MAX_FRACTION: Final = 0.5


class ChildPool:
    """Runs calls in at most `most` child processes; further calls wait."""

    def __init__(
        self,
        source: str | None,
        *,
        max_children: int,
        runs_per_child: int,
        idle: timedelta,
        environment: Callable[[], Mapping[str, str]],
    ) -> None:
        self._source = source
        self._environment = environment
        self._max_children = max_children
        self._runs_per_child = runs_per_child
        self._idle_for = idle.total_seconds()
        self._slots = asyncio.Semaphore(max_children)
        self._live: set[ChildProcess] = set()
        # Ordered by idle time, longest first.
        self._idle: dict[ChildProcess, tuple[int, asyncio.TimerHandle]] = {}

    def __len__(self) -> int:
        return len(self._live)

    async def run(self, handler: Handler, payload: Any, context: AttemptContext) -> Outcome:
        call = frames.CallFrame(
            kind=handler.kind,
            facts=AttemptFacts.from_context(context),
            payload=frames.to_json(payload),
        )
        async with self._slots:
            child = self._take(handler.memory) or await self._start(handler.memory)
            try:
                return await child.run_call(call, context)
            finally:
                self._give_back(child, handler.memory)

    async def close(self) -> None:
        """End all child processes."""
        for child in tuple(self._live):
            self._forget(child)
            child.dismiss()
        if self._live:
            endings = [child.exit_future for child in self._live]
            await asyncio.wait(endings, timeout=EXIT_TIMEOUT_S + KILL_TIMEOUT_S)

    def _take(self, memory: int) -> ChildProcess | None:
        """Take the child that was used last, so that superfluous children become idle and end."""
        for child, (limit, _) in reversed(self._idle.items()):
            if limit == memory:
                self._forget(child)
                return child
        return None

    async def _start(self, memory: int) -> ChildProcess:
        if self._source is None:
            wanted = "expected the module:attribute from which a process can import the handlers"
            raise InvalidInput("source", None, wanted)
        if len(self._live) >= self._max_children and self._idle:
            oldest = next(iter(self._idle))
            self._forget(oldest)
            oldest.dismiss()
        child = await ChildProcess.start(
            self._source, memory=memory, environment=self._environment()
        )
        self._live.add(child)
        child.exit_future.add_done_callback(lambda _: self._remove_ended(child))
        return child

    def _give_back(self, child: ChildProcess, memory: int) -> None:
        is_used_up = (
            child.runs >= self._runs_per_child
            or child.resident > MEMORY_REUSE_MAX_FRACTION * memory
        )
        if child.is_spent or is_used_up:
            child.dismiss()
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._idle_for, self._retire, child)
        self._idle[child] = (memory, timer)

    def _retire(self, child: ChildProcess) -> None:
        self._forget(child)
        child.dismiss()

    def _remove_ended(self, child: ChildProcess) -> None:
        self._live.discard(child)
        if child in self._idle:
            self._retire(child)

    def _forget(self, child: ChildProcess) -> None:
        """Remove a child from the idle ones, if it is idle."""
        if child in self._idle:
            _, timer = self._idle.pop(child)
            timer.cancel()
