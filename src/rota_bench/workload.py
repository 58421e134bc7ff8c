"""Submits the runs and jobs of a part through the regular submission code.

It submits in batches, validated, with ids and times as in real use. The measurement starts
afterwards, except in parts that measure submission itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Final, TypeVar
from uuid import UUID

from rota.core.clock import ClockSource
from rota.core.ids import build_id
from rota.core.overlap import Overlap
from rota.core.submissions import JobSpec, RunSpec, SpecVariant
from rota.core.time import durations
from rota.core.time.moments import to_rfc3339
from rota.core.time.planning import NO_CALENDARS
from rota.engine.submission.drafts import Drafter
from rota.engine.submission.job_submission import draft_all, submit_drafts, submit_jobs
from rota.engine.submission.run_triggers import submit_runs
from rota.store import hints, interning
from rota.store.driver import Connection

T = TypeVar("T")

BATCH_SIZE: Final = 1000
# Few enough to fit a worker's cache, many enough not to be a special case.
OWNER_JOBS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadWriter:
    """Submits for one kind and one tenant. `owners` are jobs without a schedule, for runs."""

    conn: Connection
    clock: ClockSource
    rng: Random
    kind: str
    kind_id: int
    tenant: str
    owners: Sequence[UUID] = ()

    async def write_runs(self, number: int, *, payload: object = None) -> list[UUID]:
        """Submit runs that are due now."""
        made: list[UUID] = []
        for batch in split_batches(range(number)):
            now = self.clock.now()
            specs = [
                RunSpec(job_id=self.owners[each % len(self.owners)], payload=payload)
                for each in batch
            ]
            made += await submit_runs(self.conn, specs, now=now, new_id=self.new_id)
        return made

    async def write_run(self) -> None:
        """Submit one run with its hint, as an otherwise idle process does."""
        await self.write_runs(1)
        await hints.send_hint(self.conn, hints.RUNS_CHANNEL)

    async def write_one_time_jobs(self, dues: Iterable[datetime]) -> None:
        """Submit one-time jobs for these times."""
        spec = JobSpec(name=None, kind=self.kind, tenant=self.tenant)
        for batch in split_batches(dues):
            now = self.clock.now()
            variants = [SpecVariant(spec, None, None, {}, None, due) for due in batch]
            drafts = await draft_all(Drafter(now, NO_CALENDARS), variants, self.new_id)
            await submit_drafts(self.conn, drafts, now=now)
        await hints.send_hint(self.conn, hints.JOBS_CHANNEL)

    async def write_interval_jobs(
        self, interval: timedelta, firsts: Iterable[datetime], *, until: datetime
    ) -> None:
        """Create jobs with a fixed interval, one for each first time."""
        period, window = durations.to_iso(interval), {"end": to_rfc3339(until)}
        await self.write_jobs(
            {"every": {"interval": period, "anchor": to_rfc3339(first)}, "window": window}
            for first in firsts
        )

    async def write_cron_jobs(self, number: int, *, start: datetime, until: datetime) -> None:
        """Create cron jobs that are due every second, from `start` to the second before `until`."""
        window = {"start": to_rfc3339(start), "end": to_rfc3339(until)}
        await self.write_jobs({"cron": "* * * * * *", "window": window} for _ in range(number))

    async def write_jobs(self, schedules: Iterable[Mapping[str, object] | None]) -> list[UUID]:
        """Create a job for each of these schedules."""
        made: list[UUID] = []
        for batch in split_batches(schedules):
            specs = [
                JobSpec(
                    name=f"bench {self.rng.randbytes(10).hex()}",
                    kind=self.kind,
                    tenant=self.tenant,
                    schedule=schedule,
                    # The part measures firing: a slow run must not skip a tick.
                    overlap=Overlap.ALLOW,
                )
                for schedule in batch
            ]
            done = await submit_jobs(self.conn, specs, now=self.clock.now(), new_id=self.new_id)
            made += [each.job_id for each in done]
        await hints.send_hint(self.conn, hints.JOBS_CHANNEL)
        return made

    def new_id(self) -> UUID:
        return build_id(self.clock.now(), self.rng.randbytes(10))


async def create_writer(
    conn: Connection, kind: str, *, tenant: str, clock: ClockSource, rng: Random
) -> WorkloadWriter:
    made = WorkloadWriter(
        conn=conn,
        clock=clock,
        rng=rng,
        kind=kind,
        kind_id=await interning.intern_kind(conn, kind),
        tenant=tenant,
    )
    return replace(made, owners=await made.write_jobs([None] * OWNER_JOBS))


def split_batches(values: Iterable[T]) -> Iterator[Sequence[T]]:
    rest = iter(values)
    while batch := list(islice(rest, BATCH_SIZE)):
        yield batch
