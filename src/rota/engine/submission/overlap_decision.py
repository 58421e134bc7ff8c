"""Creates runs of a job as its overlap policy allows while previous runs are still active (E4).

The caller holds the job's lock and has raised its version, so that neither another caller nor a
tick decides at the same time. The rule is in core/overlap.py.
"""

import json
from collections.abc import Sequence
from uuid import UUID

from rota.core.event_rules.payloads import check_template
from rota.core.ids import derive_tick_run_id
from rota.core.overlap import ActiveRun, Overlap, OverlapDecision, decide_overlap
from rota.core.states import RunState
from rota.core.stored_documents import check_known
from rota.core.submissions import encode_canonical
from rota.core.time.misfire import MisfireRecord, build_history_row
from rota.core.time.planning import PlannedTick
from rota.engine.submission.drafts import build_gates
from rota.store import gates, jobs, live_runs
from rota.store.driver import Connection
from rota.store.jobs import SkippedRun, StoredJob
from rota.store.live_runs import NewRun
from rota.store.run_templates import RunTemplate, read_job_limits


async def put_run_gates(conn: Connection, job: StoredJob, payload: object) -> tuple[int, ...]:
    """Return the gates of a run with this payload. Create those that do not exist."""
    check_known(job.overlap, "overlap")
    wanted = build_gates(job.id, job.tenant_id, job.overlap, read_job_limits(job.limits), payload)
    ids = await gates.put_gates(conn, wanted)
    return tuple(ids[gate.tenant_id, gate.key] for gate in wanted)


async def put_tick_gates(
    conn: Connection, job: StoredJob, schedule: str | None, payload: str | None
) -> tuple[int, ...]:
    """Return the gates of the runs of a job's ticks. A job that waits for events has none: each of
    its runs gets gates of its own. Its payload may be a template, which is checked here.
    """
    decoded = json.loads(payload or "null")
    if "event" in json.loads(schedule or "{}"):
        check_template(decoded)
        return ()
    return await put_run_gates(conn, job, decoded)


async def create_runs_with_overlap(
    conn: Connection, job: StoredJob, runs: Sequence[NewRun], *, overlap: Overlap | None = None
) -> dict[UUID, str]:
    """Create runs of a job and apply the overlap policy to its active runs.

    Refused runs are recorded as skipped; return the refusal code of each. `overlap` overrides the
    job's policy.
    """
    policy = job.overlap if overlap is None else overlap
    check_known(policy, "overlap")
    alive: list[ActiveRun] = []
    if policy is not Overlap.ALLOW:
        alive = await jobs.read_unfinished_runs(conn, job.id, backfills=False)
    plan = decide_overlap(policy, [run.id for run in runs], alive, keep_first=job.keep_first)
    await end_replaced_runs(conn, plan)
    by_id = {run.id: run for run in runs}
    if plan.created:
        await live_runs.insert_runs(conn, [by_id[id_] for id_ in plan.created])
    if plan.skipped:
        records = [_refusal_record(by_id[id_], code) for id_, code in plan.skipped]
        await jobs.record_skipped(conn, job, records, trigger=runs[0].trigger)
    return dict(plan.skipped)


async def end_replaced_runs(conn: Connection, plan: OverlapDecision) -> None:
    """End the active runs that the first new run replaces. Without a new run, end none."""
    for into in plan.created[:1]:
        reason = encode_canonical({"code": "overlap", "into": str(into)})
        if plan.replaced:
            await jobs.supersede_runs(conn, plan.replaced, into=into)
        if plan.cancelled:
            await live_runs.cancel_runs(conn, ids=plan.cancelled, reason=reason)
        if plan.ended:
            await live_runs.cancel_runs_now(conn, ids=plan.ended, reason=reason)


def build_tick_run(
    job: StoredJob, planned: PlannedTick, gate_ids: tuple[int, ...], payload: str | None = None
) -> NewRun:
    """Return the run of a caught-up tick. It has the id that the scheduler would give it."""
    return RunTemplate.from_job(job, trigger="tick").build_run(
        derive_tick_run_id(job.id, planned.tick.at),
        scheduled_at=planned.tick.at,
        due_at=planned.due_at,
        payload=payload,
        gates=gate_ids,
    )


def build_tick_records(job: StoredJob, records: Sequence[MisfireRecord]) -> list[SkippedRun]:
    """Return the records of ticks that do not run: one for each stretch of ticks, under the id of
    its last tick.
    """
    rows = [build_history_row(job.id, record) for record in records]
    return [
        SkippedRun(row.id, row.tick_at, row.state, encode_canonical(row.reason)) for row in rows
    ]


def _refusal_record(run: NewRun, code: str) -> SkippedRun:
    reason = encode_canonical({"code": code})
    return SkippedRun(run.id, run.scheduled_at, RunState.SKIPPED, reason, run.payload)
