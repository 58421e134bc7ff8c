"""One trial: Rota under load on a real database, one fault, and what became of the promises.

The order: everything up; load; the fault; calm until submissions and ticks are back; the client
stops; the schedulers leave and what is left must end; then the tables and the sink are read.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import asyncpg

from rota.runtime.clock import SystemClock
from rota.store.partitions import create_ahead
from rota.store.schema_migration import migrate
from tests.chaos.history import History, Operation, Plan
from tests.chaos.tables import read_tables
from tests.faults.client import (
    Acknowledged,
    SubmittingClient,
    exclusive_job,
    long_job,
    ticking_job,
)
from tests.faults.fleet import Fleet, running_fleet
from tests.support.sink import read_marks

TICKING: Final = 10
LONG_KINDS: Final = ("faults.slow", "faults.thread", "faults.process")
# Enough that some of them run on the worker that a fault strikes.
EXCLUSIVE_KINDS: Final = (*LONG_KINDS, *LONG_KINDS)
# Ticks of the last moments before the schedulers leave may be undecided.
AT_THE_END: Final = timedelta(seconds=3)
RECOVERY_S: Final = 90.0
STANDSTILL_S: Final = 25.0
LOOK_S: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much there is to do, and for how long before and after the fault."""

    rate: float = 60.0
    before_s: float = 5.0
    after_s: float = 12.0
    # How long attempts take that are under way when the fault strikes; none if 0.
    long_s: float = 0.0
    # How long runs of jobs take that forbid overlap; no such jobs if 0.
    exclusive_s: float = 0.0


@dataclass(kw_only=True)
class Trial:
    """`url` is what the processes are given, `direct_url` a way past any proxy for the test."""

    folder: Path
    url: str
    direct_url: str = ""
    load: Load = field(default_factory=Load)
    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # How long an at-most-once handler takes.
    once_s: float = 1.0
    clock: SystemClock = field(default_factory=SystemClock)
    say: Callable[[str], object] = lambda _: None
    plans: dict[UUID, Plan] = field(default_factory=dict)
    # What a strike found wrong itself.
    violations: list[str] = field(default_factory=list)
    # Monotonic: when the fault struck, and when its cause was gone.
    struck_at: float = 0.0
    over_at: float = 0.0
    fleet: Fleet = field(init=False)
    client: SubmittingClient = field(init=False)
    history: History = field(init=False)

    def __post_init__(self) -> None:
        self.direct_url = self.direct_url or self.url
        self.fleet = Fleet(folder=self.folder, url=self.url, variables=self.variables)

    async def run(self, strike: Callable[["Trial"], Awaitable[object]]) -> None:
        """Carry it out. `strike` makes the fault and returns when its cause is gone."""
        await self._migrate()
        async with running_fleet(self.fleet), asyncio.TaskGroup() as group:
            self.say("up")
            self.client = self.make_client(self.fleet.key)
            tending = group.create_task(self.fleet.tend())
            await self.create_jobs()
            loading = group.create_task(self.client.run())
            await self.clock.sleep(self.load.before_s)
            self.struck_at = self.clock.monotonic()
            self.say("the fault strikes")
            await strike(self)
            self.over_at = self.over_at or self.clock.monotonic()
            self.say(f"its cause is gone after {self.over_at - self.struck_at:.1f} s")
            await self._recover()
            ended = self.clock.now() - AT_THE_END
            self.client.is_over = True
            await loading
            self.fleet.is_over = True
            await tending
            await self._drain()
        self.history = await self.read_history(ended)
        self._keep_answers()

    def make_client(self, key: str) -> SubmittingClient:
        return SubmittingClient(
            url=self.fleet.api_url, key=key, rate=self.load.rate, once_s=self.once_s
        )

    async def _migrate(self) -> None:
        conn = await asyncpg.connect(self.direct_url)
        await migrate(conn)
        await create_ahead(conn, today=self.clock.now().date(), ahead=2)
        await conn.close()

    async def create_jobs(self) -> None:
        for number in range(TICKING):
            await self._create(ticking_job(number), ticks=True)
        if self.load.exclusive_s:
            for number, kind in enumerate(EXCLUSIVE_KINDS):
                await self._create(exclusive_job(number, kind, self.load.exclusive_s))
        if self.load.long_s:
            for number, kind in enumerate(LONG_KINDS):
                await self._create(long_job(number, kind, self.load.long_s))

    async def _create(self, body: Mapping[str, Any], *, ticks: bool = False) -> None:
        job_id = await self.client.submit(body)
        assert job_id is not None
        now = self.clock.now()
        # The anchor is the second of creation, by the database's clock.
        anchor = now.replace(microsecond=0) - timedelta(seconds=5) if ticks else None
        self.plans[job_id] = Plan(
            job_id=job_id,
            kind=body["kind"],
            anchor=anchor,
            every=timedelta(seconds=1) if ticks else None,
            may_from=anchor,
            must_from=now if ticks else None,
            overlap=body.get("overlap", "allow"),
        )

    async def _recover(self) -> None:
        """Wait until something was acknowledged after the fault, then for the calm time."""
        deadline = self.clock.monotonic() + RECOVERY_S
        while self.clock.monotonic() < deadline:
            newest = self.client.acknowledged[-1].at if self.client.acknowledged else 0.0
            if newest > self.over_at:
                break
            await self.clock.sleep(LOOK_S)
        self.say("submissions are back, or never will be")
        await self.clock.sleep(self.load.after_s)

    async def _drain(self) -> None:
        """The schedulers go; the workers stay until nothing is left."""
        await self.fleet.leave("scheduler")
        await self.wait_until_drained()
        await self.fleet.leave("worker", "api")

    async def wait_until_drained(self) -> None:
        """Wait until nothing is left, or until nothing moves any more."""
        self.say("waiting until what is left has ended")
        seen, since = None, self.clock.monotonic()
        while self.clock.monotonic() < since + STANDSTILL_S + self.load.long_s:
            left = await self.count_left()
            if left == (0, None):
                break
            if left != seen:
                seen, since = left, self.clock.monotonic()
            await self.clock.sleep(LOOK_S)

    async def count_left(self) -> tuple[Any, ...] | None:
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            conn = await asyncpg.connect(self.direct_url, timeout=10)
            try:
                left = await conn.fetchrow("select count(*), sum(attempt) from rota.live_runs")
                return (int(left[0]), None if left[1] is None else int(left[1]))
            finally:
                await conn.close()
        return None

    async def read_history(self, ended: datetime) -> History:
        history = History(
            marks=list(read_marks(self.fleet.sink)),
            operations=[self._operation(each) for each in self.client.acknowledged],
            plans=self.plans | self._plans_of_submissions(),
            ended=ended,
        )
        conn = await asyncpg.connect(self.direct_url)
        await read_tables(conn, history)
        await conn.close()
        return history

    def _plans_of_submissions(self) -> dict[UUID, Plan]:
        return {
            each.job_id: Plan(
                job_id=each.job_id,
                kind=each.body["kind"],
                guarantee=each.body.get("guarantee", "at_least_once"),
            )
            for each in self.client.acknowledged
            if each.job_id not in self.plans
        }

    def _operation(self, acknowledged: Acknowledged) -> Operation:
        """Without a schedule it is a submission: a run of the same id, and no job."""
        now = self.clock.now()
        return Operation(
            verb="create" if "schedule" in acknowledged.body else "submit",
            thing=acknowledged.job_id,
            invoked=0,
            returned=0,
            invoked_wall=now,
            returned_wall=now,
            outcome="ok",
        )

    def _keep_answers(self) -> None:
        with (self.folder / "answers.jsonl").open("w") as lines:
            for each in self.client.answers:
                lines.write(json.dumps([each.at - self.struck_at, each.said]) + "\n")
