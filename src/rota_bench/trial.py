"""The environment of a benchmark part: database, processes, clock, and how it waits."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from rota.core.clock import ClockSource
from rota.core.errors import InvalidSchedule
from rota.store.pool import DatabaseAccess, open_connection
from rota_bench import database
from rota_bench.errors import BenchFailed, JobsWrittenTooLate
from rota_bench.fleet import Fleet
from rota_bench.workload import BATCH_SIZE, WorkloadWriter, create_writer

# Polling interval in seconds; the measured times do not depend on it.
POLL_INTERVAL_S: Final = 0.25
# Quiet time before a planned start: the scheduler reads ahead and the disk settles.
QUIET_TIME: Final = timedelta(seconds=3)
FAR_FUTURE: Final = timedelta(days=1000)
SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSizes:
    """Workload sizes; `QUICK_SIZES` is for a first impression and for tests."""

    drained: int = 200_000
    fired: int = 150_000
    lag_seconds: int = 10
    pickups: int = 200
    cron_seconds: int = 20
    neighbour_samples: int = 25
    submits: int = 20_000
    bulks: int = 60
    graphs: int = 10_000
    mapped: int = 1_000_000
    relayed: int = 400_000
    watched_jobs: int = 10_000
    watched_rounds: int = 2
    watched_seconds: int = 8
    watched_backlog: int = 60_000
    watched_fires: int = 20_000
    watched_storm: int = 10_000
    ticking: int = 1_000
    doomed: int = 500


FULL_SIZES: Final = WorkloadSizes()
QUICK_SIZES: Final = WorkloadSizes(
    drained=40_000,
    fired=40_000,
    lag_seconds=6,
    pickups=40,
    cron_seconds=10,
    neighbour_samples=20,
    submits=3_000,
    bulks=10,
    graphs=2_000,
    mapped=100_000,
    relayed=60_000,
    watched_rounds=1,
    watched_seconds=4,
    watched_backlog=20_000,
    watched_fires=5_000,
    watched_storm=2_000,
    ticking=200,
    doomed=100,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Database, processes, clock and random generator of one part. `postmaster` is the server's
    process; `patience` is the safety factor for the time to write jobs.
    """

    name: str
    access: DatabaseAccess
    fleet: Fleet
    clock: ClockSource
    rng: Random
    sizes: WorkloadSizes
    postmaster: int | None
    patience: float

    @asynccontextmanager
    async def open_writer(
        self, kind: str, *, tenant: str = "default", hot: bool = False
    ) -> AsyncIterator[WorkloadWriter]:
        """Open a connection that writes runs and jobs of a kind. A hot one is for few rows at a
        time: a batch of jobs is joined with itself.
        """
        async with open_connection(self.access, hot=hot) as conn:
            await database.create_tenant(conn, tenant)
            yield await create_writer(conn, kind, tenant=tenant, clock=self.clock, rng=self.rng)

    async def schedule_jobs(
        self, to: WorkloadWriter, jobs: int, write: Callable[[datetime], Awaitable[None]]
    ) -> datetime:
        """Write jobs that are due from a time soon after all of them are written; return that time.

        The write time is estimated with a few jobs that are due in years.
        """
        started = self.clock.monotonic()
        await to.write_one_time_jobs([self.clock.now() + FAR_FUTURE] * min(jobs, BATCH_SIZE))
        per_job = (self.clock.monotonic() - started) / min(jobs, BATCH_SIZE)
        start = self.clock.now() + self.patience * jobs * per_job * SECOND + 2 * QUIET_TIME
        start = start.replace(microsecond=0)
        too_late = JobsWrittenTooLate(
            who=self.name, reason=f"could not write {jobs:,} jobs in time"
        )
        try:
            await write(start)
        except InvalidSchedule:  # some times have already passed
            raise too_late from None
        await database.vacuum_and_checkpoint(to.conn)
        if self.clock.now() + QUIET_TIME / 2 > start:
            raise too_late
        await self.sleep_until(start)
        return start

    async def sleep_until(self, at: datetime) -> None:
        """Sleep until a time; fail if a process exits meanwhile."""
        while (left := (at - self.clock.now()).total_seconds()) > 0:
            await self.clock.sleep(min(left, POLL_INTERVAL_S))
            self.fleet.check()

    async def wait_until_idle(self, *, patience: timedelta = timedelta(minutes=2)) -> None:
        """Wait until nothing runs, waits or is about to fire."""
        give_up = self.clock.monotonic() + patience.total_seconds()
        async with open_connection(self.access, hot=True) as conn:
            while await database.is_busy(conn, before=self.clock.now() + QUIET_TIME):
                self.fleet.check()
                if self.clock.monotonic() > give_up:
                    waited = f"{patience.total_seconds():.0f} s"
                    raise BenchFailed(
                        who=self.name, reason=f"still has unfinished runs after {waited}"
                    )
                await self.clock.sleep(POLL_INTERVAL_S)
