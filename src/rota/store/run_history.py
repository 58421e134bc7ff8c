"""Reads what a prediction needs: how long earlier runs of a job took, and which run is next."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from rota.core.prediction import CENTRE_WINDOW, SAMPLES_MAX, RunSample
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.statement import statement


class RunTimes(NamedTuple):
    """The times of a finished run."""

    scheduled_at: datetime
    due_at: datetime
    started_at: datetime
    finished_at: datetime
    state: RunState


class NextRun(NamedTuple):
    """The run to predict; `run_id` is None for a tick that was not fired yet."""

    run_id: UUID | None
    scheduled_at: datetime
    due_at: datetime
    started_at: datetime | None


class LiveRunTimes(NamedTuple):
    """The times of an unfinished run."""

    run_id: UUID
    job_id: UUID
    scheduled_at: datetime
    due_at: datetime
    started_at: datetime | None


class PredictedJob(NamedTuple):
    """The job of a prediction; JSON as text."""

    job_id: UUID
    schedule: str | None
    expect: str | None


JOB = statement("run_history/job", PredictedJob)
SAMPLES = statement("run_history/samples", RunTimes)
NEXT_RUN = statement("run_history/next_run", NextRun)
LIVE_RUN = statement("run_history/live_run", LiveRunTimes)


async def read_samples(
    conn: Connection, *, tenant_id: int, job_id: UUID, zone: ZoneInfo
) -> list[RunSample]:
    """Return the newest finished runs of a job for a prediction, newest last, with days of `zone`.

    Failures count for the probability and must not displace successes, so more rows are read than a
    prediction uses.
    """
    limit = SAMPLES_MAX + CENTRE_WINDOW
    rows = await SAMPLES.all(conn, tenant_id=tenant_id, job_id=job_id, most=limit)
    return [
        RunSample(
            day=row.scheduled_at.astimezone(zone).date(),
            total_s=(row.finished_at - row.due_at).total_seconds(),
            running_s=(row.finished_at - row.started_at).total_seconds(),
            succeeded=row.state is RunState.SUCCEEDED,
        )
        for row in reversed(rows)
    ]


async def find_next_run(conn: Connection, *, tenant_id: int, job_id: UUID) -> NextRun | None:
    """Return the unfinished run that is due first, else the next tick."""
    return await NEXT_RUN.one(conn, tenant_id=tenant_id, job_id=job_id)


async def read_live_run(conn: Connection, *, tenant_id: int, run_id: UUID) -> LiveRunTimes | None:
    return await LIVE_RUN.one(conn, tenant_id=tenant_id, run_id=run_id)


async def read_job(conn: Connection, *, tenant_id: int, job_id: UUID) -> PredictedJob | None:
    return await JOB.one(conn, tenant_id=tenant_id, job_id=job_id)
