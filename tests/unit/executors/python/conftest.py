"""An executor for handlers that a test registers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.unit.executors.python.recording import Recording

from rota.core.outcome import Outcome
from rota.executors.python import Handlers, PythonExecutor, PythonLimits


@dataclass
class Bench:
    """Registers handlers and runs them, as a worker would.

    It opens with the first run, inside the test: pytest puts its own streams in place of others
    after the fixtures.
    """

    limits: PythonLimits = field(default_factory=PythonLimits)
    handlers: Handlers = field(default_factory=Handlers)
    is_open: bool = False

    def __post_init__(self) -> None:
        self.executor = PythonExecutor(self.handlers, limits=self.limits)

    async def open(self) -> None:
        if not self.is_open:
            self.is_open = True
            await self.executor.open()

    async def run(
        self, kind: str, payload: Any = None, context: Recording | None = None
    ) -> Outcome:
        await self.open()
        spec = self.executor.read(kind, payload)
        return await self.executor.run(spec, context or Recording())


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    yield bench
    await bench.executor.close()
