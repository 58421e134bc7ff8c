"""One chaos run: a cluster of real processes on a real PostgreSQL, a load, a nemesis, a verdict.

The order of a run: start everything; load and faults together; calm, in which ticks must be on
time again; the schedulers leave, and what is left must end; then the checker has its say. The
seed decides load and faults; everything that was written stays in the folder.
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

import asyncpg

from rota.runtime.clock import SystemClock
from rota.store.embedded import Embedded, start
from rota.store.partitions import create_ahead
from rota.store.schema_migration import migrate
from tests.chaos.checker import Verdict, judge
from tests.chaos.handlers import SINK
from tests.chaos.history import History
from tests.chaos.load import Load
from tests.chaos.menu import NEEDS
from tests.chaos.nemesis import Nemesis, Struck, strikes_of
from tests.chaos.tables import read_tables
from tests.support.cluster import Cluster, Member
from tests.support.processes import kill, postmaster_of
from tests.support.sink import read_marks

GONE: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
# Ticks of the last moments before the schedulers leave may be undecided.
AT_THE_END: Final = timedelta(seconds=3)
RECOVERY: Final = 60.0
LEAVING: Final = 20.0
LONGEST_DOWN: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How long faults go on, how often they come, how long it is calm afterwards, and how long
    nothing may move in the end before what is left counts as stuck.
    """

    seconds: float
    every: float
    calm: float
    standstill: float
    schedulers: int = 3
    workers: int = 3


QUICK: Final = Profile(seconds=100, every=3.0, calm=12, standstill=15)
LONG: Final = Profile(seconds=900, every=4.0, calm=30, standstill=30)

# Shorter than in production, so that more happens; the proportions are the same.
SETTINGS: Final = {
    "ROTA_SCHEDULER__LEASE": "2s",
    "ROTA_SCHEDULER__RENEW_EVERY": "500ms",
    "ROTA_SCHEDULER__STOP_AFTER": "1300ms",
    "ROTA_WORKER__LEASE": "3s",
    "ROTA_WORKER__BEAT_EVERY": "600ms",
    "ROTA_WORKER__STOP_AFTER": "2s",
    "ROTA_WORKER__DRAIN": "2s",
}
LEASE: Final = 3.0
SLOTS: Final = 24


@dataclass(kw_only=True)
class Arena:
    folder: Path
    profile: Profile
    seed: int
    clock: SystemClock = field(default_factory=SystemClock)
    is_over: bool = False

    async def run(self) -> tuple[Verdict, list[Struck]]:
        async with self._database() as server, self._cluster(server) as cluster:
            load = Load(
                url=server.url, chance=Random(self.seed + 1), log=self.folder / "client.jsonl"
            )
            nemesis = Nemesis(
                cluster=cluster,
                kill_database=lambda: self._kill_database(server),
                cut=lambda number: self._cut(server, number),
            )
            history = await self._play(server, cluster, load, nemesis)
            verdict = judge(history)
            self._keep(verdict, nemesis.struck, cluster)
        return verdict, nemesis.struck

    async def _play(
        self, server: Embedded, cluster: Cluster, load: Load, nemesis: Nemesis
    ) -> History:
        strikes = strikes_of(
            Random(self.seed), seconds=self.profile.seconds, every=self.profile.every, lease=LEASE
        )
        async with asyncio.TaskGroup() as group:
            tending = group.create_task(self._tend(cluster))
            loading = group.create_task(load.run())
            await load.is_ready.wait()
            await nemesis.run(strikes)
            load.is_over = True
            await loading
            calm_from = await self._settle(server)
            await self.clock.sleep(self.profile.calm)
            ended = self.clock.now() - AT_THE_END
            self.is_over = True
            await tending
        await self._leave(server, cluster)
        history = History(
            marks=list(read_marks(self.folder / "sink.jsonl")),
            operations=load.operations,
            plans=load.plans,
            ended=ended,
            calm_from=calm_from,
            needs=NEEDS,
        )
        conn = await asyncpg.connect(server.url)
        await read_tables(conn, history)
        effects = await conn.fetch("select run_id from public.effects")
        history.effects = [row[0] for row in effects]
        await conn.close()
        return history

    @asynccontextmanager
    async def _database(self) -> AsyncIterator[Embedded]:
        server = await asyncio.to_thread(start, self.folder / "pg", durable=True)
        try:
            conn = await asyncpg.connect(server.url)
            await migrate(conn)
            await create_ahead(conn, today=self.clock.now().date(), ahead=2)
            await conn.execute("create table public.effects (run_id uuid not null)")
            await conn.close()
            yield server
        finally:
            await asyncio.to_thread(server.close)

    @asynccontextmanager
    async def _cluster(self, server: Embedded) -> AsyncIterator[Cluster]:
        sink = self.folder / "sink.jsonl"
        sink.touch()
        settings = SETTINGS | {"ROTA_DATABASE_URL": server.url, SINK: str(sink)}
        cluster = Cluster(folder=self.folder, settings=settings)
        try:
            for number in range(self.profile.schedulers):
                cluster.add(f"scheduler-{number}", "scheduler")
            for number in range(self.profile.workers):
                words = ("worker", "tests.chaos.handlers:handlers", "--slots", str(SLOTS))
                cluster.add(f"worker-{number}", *words)
            yield cluster
        finally:
            cluster.close()

    async def _tend(self, cluster: Cluster) -> None:
        """Start again what has ended, a little later: what a supervisor does."""
        chance = Random(self.seed + 2)
        again: dict[str, float] = {}
        while not self.is_over:
            now = self.clock.monotonic()
            for member in cluster.members:
                if member.is_alive:
                    continue
                if now >= again.setdefault(member.name, now + chance.uniform(0, LONGEST_DOWN)):
                    del again[member.name]
                    member.start()
            await self.clock.sleep(0.1)

    async def _settle(self, server: Embedded) -> datetime:
        """From here on nothing is disturbed; give leases and restarts their time."""
        await self._answers(server)
        await self.clock.sleep(2 * LEASE + LONGEST_DOWN)
        return self.clock.now()

    async def _leave(self, server: Embedded, cluster: Cluster) -> None:
        """The schedulers go; the workers stay until nothing is left, then go as well."""
        schedulers = [each for each in cluster.members if each.name.startswith("scheduler")]
        workers = [each for each in cluster.members if each not in schedulers]
        for member in schedulers:
            member.signal(signal.SIGTERM)
        await self._gone(schedulers)
        await self._drain(server)
        for member in workers:
            member.signal(signal.SIGTERM)
        await self._gone(workers)

    async def _gone(self, members: list[Member]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVING):
                while any(each.is_alive for each in members):
                    await self.clock.sleep(0.05)

    async def _drain(self, server: Embedded) -> None:
        """Wait until nothing is left, or until nothing moves any more."""
        conn = await asyncpg.connect(server.url)
        seen, since = None, self.clock.monotonic()
        while self.clock.monotonic() < since + self.profile.standstill:
            left = await conn.fetchrow("select count(*), sum(attempt) from rota.live_runs")
            if left[0] == 0:
                break
            if left != seen:
                seen, since = left, self.clock.monotonic()
            await self.clock.sleep(0.1)
        await conn.close()

    async def _kill_database(self, server: Embedded) -> None:
        with suppress(OSError, ValueError, IndexError):  # it may be starting just now
            await asyncio.to_thread(kill, postmaster_of(self.folder / "pg"))
        await self._answers(server)

    async def _answers(self, server: Embedded) -> None:
        """Wait until the database is back."""
        async with asyncio.timeout(RECOVERY):
            while True:
                await asyncio.to_thread(server.ensure_running)
                with suppress(*GONE):
                    conn = await asyncpg.connect(server.url, timeout=5)
                    await conn.close()
                    return
                await self.clock.sleep(0.1)

    async def _cut(self, server: Embedded, number: int) -> int:
        """End a third of the connections of Rota's processes, from the server's side."""
        with suppress(*GONE):
            conn = await asyncpg.connect(server.url, timeout=5)
            cut = await conn.fetchval(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                " where application_name like 'rota%' and pid % 3 = $1",
                number % 3,
            )
            await conn.close()
            return int(cut)
        return 0

    def _keep(self, verdict: Verdict, struck: list[Struck], cluster: Cluster) -> None:
        lines = [f"{each.began} {each.ended} {each.fault} {each.names}" for each in struck]
        (self.folder / "faults.txt").write_text("\n".join(lines) + "\n")
        (self.folder / "verdict.txt").write_text(f"seed {self.seed}\n{verdict}\n")
        codes = {member.name: member.codes for member in cluster.members}
        (self.folder / "codes.json").write_text(json.dumps(codes))
