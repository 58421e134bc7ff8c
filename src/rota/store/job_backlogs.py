"""Reads and writes what a job has behind it: decided ticks, and what a pause keeps. Room: store.

For changes of jobs only; the caller has locked the job.
"""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import NotFound
from rota.core.ids import stamped
from rota.store import jobs
from rota.store.driver import Connection
from rota.store.jobs import Job
from rota.store.statement import Nothing, statement


class DecidedUntil(NamedTuple):
    decided_until: datetime


class PausedStretches(NamedTuple):
    stretches: str


DECIDED_UNTIL = statement("jobs/decided_until", DecidedUntil)
READ_STRETCHES = statement("jobs/read_stretches", PausedStretches)
PIN_PAYLOAD = statement("jobs/pin_payload", Nothing)
KEEP_STRETCHES = statement("jobs/keep_stretches", Nothing)


async def decided_until(conn: Connection, job_id: UUID, now: datetime) -> datetime:
    """Return the latest tick up to now that is on record, or when the job was made.

    The id of a tick's run begins with its time, so those to come are left out by their ids.
    """
    before_id = stamped(now + timedelta(milliseconds=1), bytes(10))
    row = await DECIDED_UNTIL.one(conn, id=job_id, before_id=before_id)
    if row is None:
        raise NotFound("job", str(job_id))
    return row.decided_until


async def read_stretches(conn: Connection, job_id: UUID) -> str | None:
    """Return what a paused job keeps for its resumption, as JSON; None if it keeps nothing."""
    row = await READ_STRETCHES.one(conn, id=job_id)
    return None if row is None else row.stretches


async def keep_stretches(conn: Connection, job_id: UUID, stretches: str | None) -> None:
    """Keep this for the resumption of a paused job; None forgets it."""
    await KEEP_STRETCHES.all(conn, id=job_id, stretches=stretches)


async def pin_payload(conn: Connection, job: Job) -> None:
    """Let the runs that exist keep the payload that their job has now: workers of the previous
    release know no other than the job's.
    """
    ids = [run.id for run in await jobs.alive(conn, job.id)]
    await PIN_PAYLOAD.all(conn, id=job.id, run_ids=ids, payload=job.payload or "null")
