"""Hands in the runs and jobs that a part is about, as everybody does. Room: node/bench.

In batches, through flow/submit: checked, with ids and times like those of real use. What is
measured begins after this, except where a part says that submitting is the subject.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Final, TypeVar
from uuid import UUID

from rota.core.clock import Clock
from rota.core.ids import stamped
from rota.core.overlap import Overlap
from rota.core.submission import JobSpec, RunSpec, SpecVariant
from rota.core.time import durations
from rota.core.time.moments import rfc3339
from rota.core.time.planning import NO_CALENDARS
from rota.flow.submit.drafting import Drafting
from rota.flow.submit.submitting import draft_all, submit, submit_drafts
from rota.flow.submit.triggering import submit_runs
from rota.store import hints, names
from rota.store.driver import Connection

T = TypeVar("T")

BATCH: Final = 1000
# Few enough to be read into a worker's memory once, many enough not to be a special case.
JOBS_OF_RUNS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Hands in for one kind and one tenant. `owners` are jobs without a schedule, for runs."""

    conn: Connection
    clock: Clock
    chance: Random
    kind: str
    kind_id: int
    tenant: str
    owners: Sequence[UUID] = ()

    async def runs(self, number: int, *, payload: object = None) -> list[UUID]:
        """Runs that are due now."""
        made: list[UUID] = []
        for batch in batches(range(number)):
            now = self.clock.now()
            specs = [
                RunSpec(job_id=self.owners[each % len(self.owners)], payload=payload)
                for each in batch
            ]
            made += await submit_runs(self.conn, specs, now=now, new_id=self.new_id)
        return made

    async def run(self) -> None:
        """One run, as a process does that has nothing to hand in but this, and its hint."""
        await self.runs(1)
        await hints.give(self.conn, hints.RUNS)

    async def once(self, dues: Iterable[datetime]) -> None:
        """Submissions for these times."""
        spec = JobSpec(name=None, kind=self.kind, tenant=self.tenant)
        for batch in batches(dues):
            now = self.clock.now()
            asked = [SpecVariant(spec, None, None, {}, None, due) for due in batch]
            drafts = await draft_all(Drafting(now, NO_CALENDARS), asked, self.new_id)
            await submit_drafts(self.conn, drafts, now=now)
        await hints.give(self.conn, hints.JOBS)

    async def every(
        self, interval: timedelta, firsts: Iterable[datetime], *, until: datetime
    ) -> None:
        """Jobs that fire at a fixed rate from these times on; each has a schedule of its own."""
        each, window = durations.iso(interval), {"end": rfc3339(until)}
        await self.jobs(
            {"every": {"interval": each, "anchor": rfc3339(first)}, "window": window}
            for first in firsts
        )

    async def every_second(self, number: int, *, start: datetime, until: datetime) -> None:
        """Cron entries that are due every second, from `start` to the second before `until`."""
        window = {"start": rfc3339(start), "end": rfc3339(until)}
        await self.jobs({"cron": "* * * * * *", "window": window} for _ in range(number))

    async def jobs(self, schedules: Iterable[Mapping[str, object] | None]) -> list[UUID]:
        """A job for each of these schedules."""
        made: list[UUID] = []
        for batch in batches(schedules):
            specs = [
                JobSpec(
                    name=f"bench {self.chance.randbytes(10).hex()}",
                    kind=self.kind,
                    tenant=self.tenant,
                    schedule=schedule,
                    # What is measured is firing: a tick must not be passed over for a slow run.
                    overlap=Overlap.ALLOW,
                )
                for schedule in batch
            ]
            done = await submit(self.conn, specs, now=self.clock.now(), new_id=self.new_id)
            made += [each.job_id for each in done]
        await hints.give(self.conn, hints.JOBS)
        return made

    def new_id(self) -> UUID:
        return stamped(self.clock.now(), self.chance.randbytes(10))


async def writer(
    conn: Connection, kind: str, *, tenant: str, clock: Clock, chance: Random
) -> Writer:
    made = Writer(
        conn=conn,
        clock=clock,
        chance=chance,
        kind=kind,
        kind_id=await names.kind_id(conn, kind),
        tenant=tenant,
    )
    return replace(made, owners=await made.jobs([None] * JOBS_OF_RUNS))


def batches(values: Iterable[T]) -> Iterator[Sequence[T]]:
    rest = iter(values)
    while batch := list(islice(rest, BATCH)):
        yield batch
