"""Reads and writes the backlog of a job: its decided ticks, and what a pause stores.

For changes of jobs only; the caller has locked the job.
"""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import NotFound
from rota.core.ids import build_id
from rota.store import jobs
from rota.store.driver import Connection
from rota.store.jobs import StoredJob
from rota.store.statement import NoRow, statement


class DecidedUntil(NamedTuple):
    decided_until: datetime


class PausedStretches(NamedTuple):
    stretches: str


DECIDED_UNTIL = statement("jobs/decided_until", DecidedUntil)
READ_STRETCHES = statement("jobs/read_stretches", PausedStretches)
PIN_PAYLOAD = statement("jobs/pin_payload", NoRow)
KEEP_STRETCHES = statement("jobs/store_stretches", NoRow)


async def read_decided_until(conn: Connection, job_id: UUID, now: datetime) -> datetime:
    """Return the latest recorded tick up to now, or when the job was created.

    The id of a tick's run begins with its time, so future ones are excluded by id.
    """
    before_id = build_id(now + timedelta(milliseconds=1), bytes(10))
    row = await DECIDED_UNTIL.one(conn, id=job_id, before_id=before_id)
    if row is None:
        raise NotFound("job", str(job_id))
    return row.decided_until


async def read_stretches(conn: Connection, job_id: UUID) -> str | None:
    """Return what a paused job stores for its resumption, as JSON; None if nothing."""
    row = await READ_STRETCHES.one(conn, id=job_id)
    return None if row is None else row.stretches


async def store_stretches(conn: Connection, job_id: UUID, stretches: str | None) -> None:
    """Store this for the resumption of a paused job; None deletes it."""
    await KEEP_STRETCHES.all(conn, id=job_id, stretches=stretches)


async def pin_payload(conn: Connection, job: StoredJob) -> None:
    """Store the job's current payload in its existing runs: workers of the previous release know
    only the job's payload.
    """
    ids = [run.id for run in await jobs.read_unfinished_runs(conn, job.id)]
    await PIN_PAYLOAD.all(conn, id=job.id, run_ids=ids, payload=job.payload or "null")
