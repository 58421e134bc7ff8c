"""Warm child processes, one run at a time each. Room: executors/python.

Starting an interpreter and importing an application takes from a tenth of a second to several, so a
child is kept for the next run: until it has had its number of runs, holds too much memory, was
interrupted, or nobody needed it for a while. Handlers with different memory limits have different
children. How a child is talked to is in child_process.py.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.core.executor import Context
from rota.core.outcome import Outcome
from rota.executors.python import frames
from rota.executors.python.child_process import DYING, LEAVING, ChildProcess
from rota.executors.python.contexts import Facts
from rota.executors.python.handlers import Handler

# A child that holds half of what it may use would leave the next run too little.
FULL: Final = 0.5


class Children:
    """At most `most` processes; more calls wait for their turn."""

    def __init__(
        self,
        source: str | None,
        *,
        most: int,
        runs_per_child: int,
        idle: timedelta,
        environment: Callable[[], Mapping[str, str]],
    ) -> None:
        self._source = source
        self._environment = environment
        self._most = most
        self._runs_per_child = runs_per_child
        self._idle_for = idle.total_seconds()
        self._places = asyncio.Semaphore(most)
        self._live: set[ChildProcess] = set()
        # The one that has been idle for the longest time comes first.
        self._idle: dict[ChildProcess, tuple[int, asyncio.TimerHandle]] = {}

    def __len__(self) -> int:
        return len(self._live)

    async def run(self, handler: Handler, payload: Any, context: Context) -> Outcome:
        call = frames.Call(
            kind=handler.kind, facts=Facts.of(context), payload=frames.to_json(payload)
        )
        async with self._places:
            child = self._take(handler.memory) or await self._start(handler.memory)
            try:
                return await child.perform(call, context)
            finally:
                self._give_back(child, handler.memory)

    async def close(self) -> None:
        """End all of them."""
        for child in tuple(self._live):
            self._forget(child)
            child.dismiss()
        if self._live:
            endings = [child.ended for child in self._live]
            await asyncio.wait(endings, timeout=LEAVING + DYING)

    def _take(self, memory: int) -> ChildProcess | None:
        """The one that was used last, so that those nobody needs grow old."""
        for child, (limit, _) in reversed(self._idle.items()):
            if limit == memory:
                self._forget(child)
                return child
        return None

    async def _start(self, memory: int) -> ChildProcess:
        if self._source is None:
            wanted = "the module:attribute of the handlers, where a process can import them"
            raise InvalidInput("source", None, wanted)
        if len(self._live) >= self._most and self._idle:
            oldest = next(iter(self._idle))
            self._forget(oldest)
            oldest.dismiss()
        child = await ChildProcess.start(
            self._source, memory=memory, environment=self._environment()
        )
        self._live.add(child)
        child.ended.add_done_callback(lambda _: self._bury(child))
        return child

    def _give_back(self, child: ChildProcess, memory: int) -> None:
        is_used_up = child.runs >= self._runs_per_child or child.resident > FULL * memory
        if child.is_spent or is_used_up:
            child.dismiss()
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._idle_for, self._retire, child)
        self._idle[child] = (memory, timer)

    def _retire(self, child: ChildProcess) -> None:
        self._forget(child)
        child.dismiss()

    def _bury(self, child: ChildProcess) -> None:
        self._live.discard(child)
        if child in self._idle:
            self._retire(child)

    def _forget(self, child: ChildProcess) -> None:
        """Take it from the idle ones, if it is one."""
        if child in self._idle:
            _, timer = self._idle.pop(child)
            timer.cancel()
