"""Turns one-time jobs of earlier releases into submissions.

An earlier release inserted a row into `rota.jobs` for every one-time submission. They are moved in
bounded batches while processes of that release keep working (docs/adr/0044-submissions.md).
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.ids import derive_tick_run_id
from rota.core.time.durations import to_iso
from rota.core.time.policies import MisfirePolicy
from rota.store.driver import Connection
from rota.store.statement import statement

_DEFAULT: Final = MisfirePolicy()
# The stored form of a schedule with default misfire options, without its nulls.
MISFIRE_DEFAULT: Final = json.dumps(
    {
        "on_outage": _DEFAULT.on_outage.value,
        "on_resume": _DEFAULT.on_resume.value,
        "on_edit": _DEFAULT.on_edit.value,
        "max_catchup": _DEFAULT.max_catchup,
        "late_after": to_iso(_DEFAULT.late_after),
    }
)


class OneTimeJob(NamedTuple):
    """A locked job. `tick_at` and `version` are its cursor's, None without a cursor."""

    id: UUID
    tick_at: datetime | None
    version: int | None
    is_movable: bool


class ConvertedJob(NamedTuple):
    id: UUID


class LockedRun(NamedTuple):
    id: UUID


READ = statement("one_time_jobs/read", OneTimeJob)
SCHEDULE = statement("one_time_jobs/schedule", ConvertedJob)
LOCK_RUNS = statement("one_time_jobs/lock_runs", LockedRun)
ARCHIVE = statement("one_time_jobs/archive", ConvertedJob)


async def read_jobs(conn: Connection, *, after: UUID, limit: int) -> list[OneTimeJob]:
    """Lock at most `limit` jobs after an id; the caller is in a transaction."""
    return await READ.all(conn, after=after, look=limit, misfire=MISFIRE_DEFAULT)


async def move_jobs(conn: Connection, jobs: Sequence[OneTimeJob]) -> int:
    """Turn jobs that were read in this transaction into submissions; return how many."""
    waiting = [job for job in jobs if job.tick_at is not None]
    finished = [job.id for job in jobs if job.tick_at is None]
    moved = 0
    if waiting:
        scheduled = await SCHEDULE.all(
            conn,
            job_ids=[job.id for job in waiting],
            versions=[job.version for job in waiting],
            run_ids=[derive_tick_run_id(job.id, job.tick_at) for job in waiting if job.tick_at],
        )
        moved += len(scheduled)
    if finished:
        await LOCK_RUNS.all(conn, job_ids=finished)
        moved += len(await ARCHIVE.all(conn, job_ids=finished))
    return moved
