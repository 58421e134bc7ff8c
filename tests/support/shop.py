"""A real worker inside the test's process: submit runs, wait for what becomes of them.

The clock is the machine's. Nothing here waits for a time; `until` waits for a condition, and fails
with what it last saw.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, TypeVar
from uuid import UUID

from rota.config.settings import ApiSettings, Settings, WorkerSettings
from rota.contract.policy import write_policy
from rota.core.executor import Executor
from rota.core.ids import build_id
from rota.core.policy import Policy
from rota.core.states import RunState
from rota.engine.observability.tracing import TraceWriter
from rota.executors.python import Handlers, PythonExecutor
from rota.processes.worker import open_worker
from rota.runtime.clock import SystemClock
from rota.runtime.service import ProcessEnding, ServiceContext, Stop, run_tiers
from rota.runtime.watchdog import Watchdog
from rota.store import interning, live_runs
from rota.store.driver import Connection
from rota.store.live_runs import NewRun, StoredRun
from rota.store.pool import DatabaseAccess, open_connection

T = TypeVar("T")
PATIENCE = 20.0
CLOCK = SystemClock()
QUICK = WorkerSettings(
    lease=timedelta(seconds=2),
    beat_every=timedelta(milliseconds=200),
    stop_after=timedelta(milliseconds=1200),
    drain=timedelta(seconds=10),
    blocked_after=timedelta(seconds=1),
    tenants=("*",),
)


async def until(look: Callable[[], Awaitable[T | None]], *, patience: float = PATIENCE) -> T:
    """Look again and again until the answer is true; return it."""
    end = CLOCK.monotonic() + patience
    while True:
        seen = await look()
        if seen:
            return seen
        if CLOCK.monotonic() > end:
            raise AssertionError(f"still {seen!r} after {patience} s")
        await CLOCK.sleep(0.01)


@dataclass(kw_only=True)
class Crewed:
    """A worker that runs."""

    stop: Stop
    node: "asyncio.Task[ProcessEnding]"

    async def drain(self) -> ProcessEnding:
        self.stop.request()
        return await self.node


@dataclass(kw_only=True)
class Shop:
    conn: Connection
    access: DatabaseAccess
    handlers: Handlers = field(default_factory=Handlers)
    others: tuple[Callable[[], Executor], ...] = ()
    events: list[object] = field(default_factory=list)
    chance: Random = field(default_factory=lambda: Random(7))
    # Workers know the master key by its settings.
    api: ApiSettings = field(default_factory=ApiSettings)
    # Of the workers' machine.
    clock: SystemClock = CLOCK

    def make_executors(self) -> tuple[Executor, ...]:
        return (PythonExecutor(self.handlers), *(make() for make in self.others))

    @asynccontextmanager
    async def worker(
        self, settings: WorkerSettings = QUICK, *, traces: TraceWriter | None = None
    ) -> AsyncIterator[Crewed]:
        """A worker for the block; it is drained at the end unless it has ended already."""
        stop = Stop()
        async with AsyncExitStack() as stack:
            watchdog = stack.enter_context(Watchdog())
            ground = ServiceContext(
                clock=self.clock, emit=self.events.append, rng=self.chance, watchdog=watchdog
            )
            opened = await stack.enter_async_context(
                open_worker(
                    Settings(worker=settings, api=self.api),
                    self.access,
                    ground,
                    self.make_executors,
                    drain=stop.drain.set,
                    traces=traces,
                )
            )
            node = asyncio.create_task(run_tiers(opened.tiers, stop, ground))
            try:
                yield Crewed(stop=stop, node=node)
            finally:
                stop.request()
                await node

    async def submit(
        self, kind: str, payload: object = None, *, policy: Policy | None = None, **given: Any
    ) -> UUID:
        now = CLOCK.now()
        due_at = given.pop("due_at", now)
        body = json.dumps(write_policy(policy or Policy()))
        run = NewRun(
            id=build_id(now, self.chance.randbytes(10)),
            job_id=given.pop("job_id", None) or build_id(now, self.chance.randbytes(10)),
            scheduled_at=due_at,
            due_at=due_at,
            tenant_id=given.pop("tenant_id", 1),
            queue_id=await interning.intern_queue(self.conn, given.pop("queue", "default")),
            kind_id=await interning.intern_kind(self.conn, kind),
            policy_id=await interning.intern_policy(self.conn, body),
            guarantee=(policy or Policy()).guarantee,
            payload=json.dumps(payload),
            **given,
        )
        return (await live_runs.insert_runs(self.conn, [run]))[0]

    async def look(self, run_id: UUID) -> StoredRun:
        return (await live_runs.get_runs(self.conn, [run_id]))[run_id]

    async def reaches(self, run_id: UUID, *states: RunState) -> StoredRun:
        """Wait until the run is in one of the states."""

        async def arrived() -> StoredRun | None:
            run = await self.look(run_id)
            return run if run.state in states else None

        return await until(arrived)

    async def ends(self, run_id: UUID) -> StoredRun:
        async def ended() -> StoredRun | None:
            run = await self.look(run_id)
            return run if run.finished_at else None

        return await until(ended)

    async def attempts(self, run_id: UUID) -> list[tuple[int, str]]:
        rows = await self.conn.fetch(
            "select attempt, outcome from rota.attempts where run_id = $1 order by attempt", run_id
        )
        return [(row[0], row[1]) for row in rows]


@asynccontextmanager
async def open_shop(database: str) -> AsyncIterator[Shop]:
    access = DatabaseAccess(url=database)
    async with open_connection(access) as conn:
        yield Shop(conn=conn, access=access)
