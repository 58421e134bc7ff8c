"""Writes a changed job with its cursor, and the runs and records of ticks that were decided.

Room: flow/submit. The caller has locked the job and its cursor (changing.py) and has decided about
their ticks (settling.py); everything is written in the caller's transaction.
"""

import json
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.states import JobState
from rota.core.submission import canonical
from rota.core.time.misfire import Decision
from rota.flow.submit.placing import passing_ticks, place, policy_of, recorded, ticked
from rota.flow.submit.settling import Settled
from rota.store import jobs
from rota.store.driver import Connection
from rota.store.jobs import Change, Cursor, Job

NO_TICKS: Final = Settled()


class Changed(NamedTuple):
    """A job after a change: its version, its state, its next tick, and the runs that were made."""

    version: int
    state: JobState
    next_tick: datetime | None
    runs: tuple[UUID, ...] = ()


def unchanged(job: Job, cursor: Cursor | None, *, state: JobState) -> Change:
    """A job that stays as it is, but for its cursor and state."""
    return Change(
        state=state,
        policy_id=job.policy_id,
        guarantee=job.guarantee,
        schedule=job.schedule,
        payload=job.payload,
        deadline=policy_of(job).deadline,
        cursor=cursor,
    )


def has_changed(job: Job, after: Job, change: Change) -> bool:
    """Return whether a job is defined otherwise afterwards. Name, labels and user are not
    compared.
    """
    texts = [
        (job.schedule, change.schedule),
        (job.payload, change.payload),
        (job.limits, after.limits),
        (job.policy, after.policy),
    ]
    rest = after._replace(limits=job.limits, policy=job.policy)
    return rest != job or any(_spelled(old) != _spelled(new) for old, new in texts)


def _spelled(text: str | None) -> str:
    """Return JSON as it is compared: jsonb has spaces where `canonical` has none."""
    return canonical(json.loads(text or "null"))


async def write_change(
    conn: Connection,
    job: Job,
    change: Change,
    settled: Settled = NO_TICKS,
    *,
    after: Job | None = None,
) -> Changed:
    """Write job and cursor, then the runs and records of the ticks that were decided.

    `after` is the job with what else is changed about it. What was owed is still made as the job
    was before; the past of a new schedule is of the job as it is now.
    """
    same_payload = change.payload == job.payload
    through = await passing_ticks(conn, job, job.schedule, job.payload)
    hence, after = through, after or job
    if not same_payload or after != job or change.schedule != job.schedule:
        hence = await passing_ticks(conn, after, change.schedule, change.payload)
    if change.state is JobState.FINISHED and job.state is JobState.QUARANTINED:
        # There is no such move: it is let go on first, and ends then.
        version = await jobs.replace(
            conn, after, replace(change, state=JobState.ACTIVE, is_edit=False)
        )
        after = after._replace(version=version, state=JobState.ACTIVE)
    version = await jobs.replace(conn, after, replace(change, gates=hence))
    job = job._replace(version=version)
    payload = None if same_payload else job.payload or "null"
    made = await _place_decided(conn, job, settled.owed, through, payload)
    new = after._replace(version=version, policy_id=change.policy_id, guarantee=change.guarantee)
    made += await _place_decided(conn, new, settled.past, hence, None)
    next_tick = None if change.cursor is None else change.cursor.tick_at
    return Changed(version, change.state, next_tick, made)


async def _place_decided(
    conn: Connection,
    job: Job,
    decision: Decision,
    through: tuple[int, ...],
    payload: str | None,
) -> tuple[UUID, ...]:
    """Make the runs of ticks that were decided, and record the others; return those made."""
    runs = [ticked(job, planned, through, payload) for planned in decision.run]
    refused = await place(conn, job, runs) if runs else {}
    if decision.recorded:
        await jobs.record(conn, job, recorded(job, decision.recorded))
    return tuple(run.id for run in runs if run.id not in refused)
