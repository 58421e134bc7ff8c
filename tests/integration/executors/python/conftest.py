"""An executor whose handlers run in child processes."""

import asyncio
import contextlib
import os
import re
import select
import signal
from collections.abc import AsyncIterator
from typing import Any, Self

import pytest
from tests.integration.executors.python.app import handlers
from tests.unit.executors.python.recording import DEADLINE, Recording

from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.python import PythonExecutor, PythonLimits

SOURCE = "tests.integration.executors.python.app:handlers"


class Family:
    """A worker's executor, and its children."""

    def __init__(self, *, source: str = SOURCE, **limits: Any) -> None:
        self.executor = PythonExecutor(handlers, source=source, limits=PythonLimits(**limits))

    async def __aenter__(self) -> Self:
        await self.executor.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.executor.close()

    async def run(
        self, kind: str, payload: Any = None, *, context: Recording | None = None
    ) -> Outcome:
        spec = self.executor.read(kind, payload)
        return await self.executor.run(spec, context or Recording())

    async def result(self, kind: str, payload: Any = None) -> Any:
        outcome = await self.run(kind, payload)
        assert isinstance(outcome, Succeeded), outcome
        return outcome.result

    async def failure(
        self, kind: str, payload: Any = None, *, context: Recording | None = None
    ) -> Failed:
        outcome = await self.run(kind, payload, context=context)
        assert isinstance(outcome, Failed), outcome
        return outcome

    async def begin(self, kind: str, context: Recording) -> "Started":
        """Start a handler that says its number, and wait until it did."""
        task = asyncio.ensure_future(self.run(kind, context=context))
        await context.hears("pid ")
        return Started(task, *(Held(int(pid)) for pid in re.findall(r" (\d+)\.", context.said())))


class Held:
    """A process by its pidfd, so that its number cannot pass to another."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    @property
    def has_ended(self) -> bool:
        return bool(select.select([self._descriptor], [], [], 0)[0])

    async def ends(self) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._descriptor, ended.set)
        try:
            async with asyncio.timeout(DEADLINE):
                await ended.wait()
        finally:
            loop.remove_reader(self._descriptor)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def __del__(self) -> None:
        os.close(self._descriptor)


class Started:
    def __init__(self, task: "asyncio.Future[Outcome]", *processes: Held) -> None:
        self.task = task
        self.processes = processes

    async def cancel(self) -> None:
        self.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await self.task


@pytest.fixture
async def family() -> AsyncIterator[Family]:
    async with Family() as family:
        yield family
