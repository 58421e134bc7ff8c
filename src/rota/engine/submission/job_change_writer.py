"""Writes a changed job with its cursor, and the runs and records of its decided ticks.

The caller has locked the job and its cursor (job_changes.py) and has decided their ticks
(tick_settlement.py). Everything is written in the caller's transaction.
"""

import json
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.states import JobState
from rota.core.submissions import encode_canonical
from rota.core.time.misfire import CatchUpDecision
from rota.engine.submission.overlap_decision import (
    build_tick_records,
    build_tick_run,
    create_runs_with_overlap,
    put_tick_gates,
)
from rota.engine.submission.tick_settlement import SettledTicks
from rota.store import jobs
from rota.store.driver import Connection
from rota.store.jobs import JobChange, JobCursor, StoredJob
from rota.store.run_templates import read_job_policy

NO_SETTLED_TICKS: Final = SettledTicks()


class ChangedJob(NamedTuple):
    """A job after a change: its version, state and next tick, and the runs that were created."""

    version: int
    state: JobState
    next_tick: datetime | None
    runs: tuple[UUID, ...] = ()


def keep_definition(job: StoredJob, cursor: JobCursor | None, *, state: JobState) -> JobChange:
    """Return a change that sets only the cursor and the state of a job."""
    return JobChange(
        state=state,
        policy_id=job.policy_id,
        guarantee=job.guarantee,
        schedule=job.schedule,
        payload=job.payload,
        deadline=read_job_policy(job.policy).deadline,
        cursor=cursor,
    )


def has_changed(job: StoredJob, after: StoredJob, change: JobChange) -> bool:
    """Return whether a change alters the definition of a job. Name, labels and user are not
    compared.
    """
    texts = [
        (job.schedule, change.schedule),
        (job.payload, change.payload),
        (job.limits, after.limits),
        (job.policy, after.policy),
    ]
    rest = after._replace(limits=job.limits, policy=job.policy)
    return rest != job or any(_canonical_json(old) != _canonical_json(new) for old, new in texts)


def _canonical_json(text: str | None) -> str:
    """Return JSON in canonical form: jsonb has spaces where `canonical` has none."""
    return encode_canonical(json.loads(text or "null"))


async def write_change(
    conn: Connection,
    job: StoredJob,
    change: JobChange,
    settled: SettledTicks = NO_SETTLED_TICKS,
    *,
    after: StoredJob | None = None,
) -> ChangedJob:
    """Write job and cursor, then the runs and records of the decided ticks.

    `after` is the job with its other changed fields. Overdue runs of the old schedule use the job
    as it was before the change; runs of the past of a new schedule use the changed job.
    """
    same_payload = change.payload == job.payload
    through = await put_tick_gates(conn, job, job.schedule, job.payload)
    hence, after = through, after or job
    if not same_payload or after != job or change.schedule != job.schedule:
        hence = await put_tick_gates(conn, after, change.schedule, change.payload)
    if change.state is JobState.FINISHED and job.state is JobState.QUARANTINED:
        # A quarantined job cannot finish directly: it becomes active first.
        version = await jobs.replace_job(
            conn, after, replace(change, state=JobState.ACTIVE, is_edit=False)
        )
        after = after._replace(version=version, state=JobState.ACTIVE)
    version = await jobs.replace_job(conn, after, replace(change, gates=hence))
    job = job._replace(version=version)
    payload = None if same_payload else job.payload or "null"
    created = await _place_decided(conn, job, settled.owed, through, payload)
    new = after._replace(version=version, policy_id=change.policy_id, guarantee=change.guarantee)
    created += await _place_decided(conn, new, settled.past, hence, None)
    next_tick = None if change.cursor is None else change.cursor.tick_at
    return ChangedJob(version, change.state, next_tick, created)


async def _place_decided(
    conn: Connection,
    job: StoredJob,
    decision: CatchUpDecision,
    through: tuple[int, ...],
    payload: str | None,
) -> tuple[UUID, ...]:
    """Create the runs of decided ticks and record the others; return the created runs."""
    runs = [build_tick_run(job, planned, through, payload) for planned in decision.runs]
    refused = await create_runs_with_overlap(conn, job, runs) if runs else {}
    if decision.records:
        await jobs.record_skipped(conn, job, build_tick_records(job, decision.records))
    return tuple(run.id for run in runs if run.id not in refused)
