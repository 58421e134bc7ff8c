"""Predicts when the current or next run of a job will finish: "will it be done by 06:00?".

core/prediction.py has the method. This module reads the history, finds the deadline in the job's
`expect.finish_by`, and says the result in one sentence.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from rota.contract.expectation_values import read_stored_conditions
from rota.contract.schedule import read_stored_schedule
from rota.core.alerts.conditions import FinishBy
from rota.core.alerts.deadlines import compute_finish_deadline
from rota.core.errors import InvalidInput, NewerDocument, NotFound
from rota.core.prediction import FinishPrediction, PredictedRun, predict_finish
from rota.core.time.zones import get_zone
from rota.store import run_history
from rota.store.driver import Connection
from rota.store.run_history import LiveRunTimes, NextRun, PredictedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPrediction:
    """A prediction for one run; `run_id` is None for a tick that was not fired yet."""

    job_id: UUID
    run_id: UUID | None
    scheduled_at: datetime
    due_at: datetime
    started_at: datetime | None
    deadline: datetime | None
    finish: FinishPrediction
    sentence: str


async def predict_job(
    conn: Connection,
    *,
    tenant_id: int,
    job_id: UUID,
    now: datetime,
    finish_by: FinishBy | None = None,
) -> RunPrediction | None:
    """Predict the unfinished run of a job, or its next tick; None if it has neither.

    `finish_by` is the deadline. Default: that of the job's `expect`, if it has one.
    """
    job = await run_history.read_job(conn, tenant_id=tenant_id, job_id=job_id)
    if job is None:
        raise NotFound("job", job_id)
    run = await run_history.find_next_run(conn, tenant_id=tenant_id, job_id=job_id)
    if run is None:
        return None
    return await _predict(conn, tenant_id, job, run, now=now, finish_by=finish_by)


async def predict_run(
    conn: Connection,
    *,
    tenant_id: int,
    run_id: UUID,
    now: datetime,
    finish_by: FinishBy | None = None,
) -> RunPrediction | None:
    """Predict an unfinished run; None if it has finished or belongs to no job."""
    run = await run_history.read_live_run(conn, tenant_id=tenant_id, run_id=run_id)
    if run is None:
        return None
    job = await run_history.read_job(conn, tenant_id=tenant_id, job_id=run.job_id)
    if job is None:
        return None
    return await _predict(conn, tenant_id, job, run, now=now, finish_by=finish_by)


async def _predict(
    conn: Connection,
    tenant_id: int,
    job: PredictedJob,
    run: NextRun | LiveRunTimes,
    *,
    now: datetime,
    finish_by: FinishBy | None,
) -> RunPrediction:
    zone = read_zone(job.schedule)
    samples = await run_history.read_samples(
        conn, tenant_id=tenant_id, job_id=job.job_id, zone=zone
    )
    finish_by = finish_by or read_finish_by(job.expect)
    deadline = (
        None if finish_by is None else compute_finish_deadline(run.scheduled_at, zone, finish_by)
    )
    finish = predict_finish(
        samples,
        PredictedRun(
            day=run.scheduled_at.astimezone(zone).date(),
            due_at=run.due_at,
            started_at=run.started_at,
            deadline=deadline,
        ),
        now=max(now, run.due_at),
    )
    return RunPrediction(
        job_id=job.job_id,
        run_id=run.run_id,
        scheduled_at=run.scheduled_at,
        due_at=run.due_at,
        started_at=run.started_at,
        deadline=deadline,
        finish=finish,
        sentence=describe_prediction(finish, deadline, zone),
    )


def summarize_prediction(prediction: RunPrediction | None) -> str | None:
    """Return the sentence, unless there is neither a prediction nor a deadline to miss."""
    if prediction is None:
        return None
    is_worth_saying = prediction.finish.expected_at is not None or prediction.deadline is not None
    return prediction.sentence if is_worth_saying else None


def read_zone(schedule: str | None) -> ZoneInfo:
    """Return the time zone of a stored schedule; UTC without one."""
    if schedule is None:
        return get_zone("UTC")
    try:
        return read_stored_schedule(json.loads(schedule)).zone
    except (InvalidInput, NewerDocument):
        return get_zone("UTC")


def read_finish_by(expect: str | None) -> FinishBy | None:
    if expect is None:
        return None
    conditions = read_stored_conditions(json.loads(expect))
    return next((item for item in conditions if isinstance(item, FinishBy)), None)


def describe_prediction(finish: FinishPrediction, deadline: datetime | None, zone: ZoneInfo) -> str:
    """Return the sentence for people, with times of the job's zone."""
    if finish.expected_at is None:
        return f"No prediction: {finish.reason}."
    parts = [f"Expected to finish about {format_local(finish.expected_at, zone)}"]
    if finish.likely_by is not None:
        parts.append(f"9 of 10 times by {format_local(finish.likely_by, zone)}")
    if deadline is not None and finish.probability is not None:
        share = format_percentage(finish.probability)
        parts.append(f"{share} likely to succeed by {format_local(deadline, zone)}")
    return f"{', '.join(parts)} (from {finish.basis})."


def format_local(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S} {local.tzname()}"


def format_percentage(probability: float) -> str:
    """Format a probability; never 0 % or 100 %, which no history can prove."""
    return f"{min(99, max(1, round(probability * 100)))} %"
