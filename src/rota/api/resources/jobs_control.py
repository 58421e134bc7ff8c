"""Operations that control jobs: pause, resume, run now, status and runs."""

from rota.api import identifiers, views
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import read_job_row, write_audit_entry
from rota.api.resources.jobs import reply_job
from rota.api.schemas.jobs import (
    JobStatus,
    JobView,
    PauseDraft,
    ResumeDraft,
    RunNowDraft,
    StartedRun,
)
from rota.api.schemas.runs import RunsOfJobQuery, RunView
from rota.core.access import Permission
from rota.core.aliases import RUN_STATUSES, resolve_statuses
from rota.core.lanes import parse_priority
from rota.core.overlap import Overlap
from rota.core.states import RunState
from rota.core.submissions import RunSpec
from rota.core.time.policies import CatchUp
from rota.engine.observability.explanations import explain_job
from rota.engine.observability.predictions import predict_job, summarize_prediction
from rota.engine.observability.submission_explanations import explain_submission
from rota.engine.submission import job_changes, run_triggers
from rota.engine.submission.submission_changes import (
    RunNowRequest,
    TriggeredSubmission,
    refuse_pause,
    run_submission,
)
from rota.store import calendars, hints, run_views
from rota.store.job_views import JobRow
from rota.store.run_views import RunListFilter


@operation(
    "POST",
    "/v1/jobs/{job_id}/pause",
    tag="jobs",
    permission=Permission.OPERATE,
    body=PauseDraft,
    body_required=False,
    answer=JobView,
    problems=("illegal_move",),
    example={"reason": "the mail server is being moved"},
)
async def pause_job(call: Call) -> Reply:
    """Pause a job.

    It fires no ticks until it is resumed; existing runs continue. Ticks that were due before the
    pause but not fired, because no scheduler ran, are handled first, as `misfire.on_outage` says.
    """
    row = await read_job_row(call)
    refuse_pause(row)
    reason = None if call.body is None else call.body.reason
    created = await job_changes.pause_job(
        call.conn, row.id, by=call.actor, reason=reason, now=call.now
    )
    if created:
        call.hints.add(hints.RUNS_CHANNEL)
    await write_audit_entry(
        call, "job.pause", "job", identifiers.format_job_id(row.id), {"reason": reason}
    )
    return reply_job(await read_job_row(call))


@operation(
    "POST",
    "/v1/jobs/{job_id}/resume",
    tag="jobs",
    permission=Permission.OPERATE,
    body=ResumeDraft,
    body_required=False,
    answer=JobView,
    problems=("illegal_move",),
    example={"missed": "once"},
)
async def resume_job(call: Call) -> Reply:
    """Resume a job.

    Ticks missed during the pause run or are recorded as `missed` says.
    """
    row = await read_job_row(call)
    refuse_pause(row)
    choice = None if call.body is None else call.body.missed
    known = await calendars.read_calendars(call.conn, tenant_id=call.tenant_id)
    missed = None if choice is None else CatchUp(choice)
    await job_changes.resume_job(call.conn, row.id, now=call.now, missed=missed, calendars=known)
    await write_audit_entry(
        call, "job.resume", "job", identifiers.format_job_id(row.id), {"missed": choice}
    )
    call.hints |= {hints.JOBS_CHANNEL, hints.RUNS_CHANNEL}
    return reply_job(await read_job_row(call))


@operation(
    "POST",
    "/v1/jobs/{job_id}/runNow",
    tag="jobs",
    permission=Permission.OPERATE,
    body=RunNowDraft,
    body_required=False,
    answer=StartedRun,
    status=202,
    problems=("illegal_move",),
    example={"payload": {"format": "csv"}},
)
async def run_job_now(call: Call) -> Reply:
    """Run a job now, regardless of its schedule.

    A waiting one-time submission becomes due. A submission that has already run runs again: the
    new run has the same `job_id`. The run is accepted (202) and starts when a worker is free; poll
    `GET /v1/runs/{run_id}` for its state.
    """
    row = await read_job_row(call)
    draft: RunNowDraft = call.body or RunNowDraft()
    started = await _run_now(call, row, draft)
    await write_audit_entry(
        call, "job.run", "job", identifiers.format_job_id(row.id), {"refused": started.refused}
    )
    call.link_runs([started.run_id])
    call.hints.add(hints.RUNS_CHANNEL)
    return Reply(
        StartedRun(
            job_id=identifiers.format_job_id(row.id),
            run_id=identifiers.format_run_id(started.run_id),
            refused=started.refused,
        )
    )


async def _run_now(
    call: Call, row: JobRow, draft: RunNowDraft
) -> run_triggers.TriggeredRun | TriggeredSubmission:
    priority = None if draft.priority is None else parse_priority(draft.priority)
    overlap = None if draft.overlap is None else Overlap(draft.overlap)
    if row.run_id is None:
        spec = RunSpec(job_id=row.id, payload=draft.payload, priority=priority)
        return await run_triggers.run_now(
            call.conn, spec, now=call.now, new_id=call.service.new_id, overlap=overlap
        )
    wanted = RunNowRequest(
        by=call.actor,
        address=call.address,
        payload=draft.payload,
        priority=priority,
        overlap=overlap,
    )
    return await run_submission(
        call.conn,
        row,
        wanted,
        tenant_id=call.tenant_id,
        now=call.now,
        new_id=call.service.new_id,
    )


@operation(
    "GET", "/v1/jobs/{job_id}/status", tag="jobs", permission=Permission.READ, answer=JobStatus
)
async def get_job_status(call: Call) -> Reply:
    """Get the status of a job: its newest run, and why it waits."""
    row = await read_job_row(call)
    latest = await run_views.read_latest_runs(call.conn, tenant_id=call.tenant_id, job_ids=[row.id])
    newest = latest.get(row.id)
    prediction = None
    if row.run_id is None:
        why = await explain_job(call.conn, tenant_id=call.tenant_id, job_id=row.id)
        prediction = await predict_job(
            call.conn, tenant_id=call.tenant_id, job_id=row.id, now=call.now
        )
    else:
        run_id = row.run_id if newest is None else newest.id
        why = await explain_submission(call.conn, tenant_id=call.tenant_id, run_id=run_id)
    return Reply(
        JobStatus(
            job_id=identifiers.format_job_id(row.id),
            status=row.state.value,
            latest_run=None if newest is None else views.build_latest_run(newest),
            explanation=why.sentence,
            prediction=summarize_prediction(prediction),
        )
    )


@operation(
    "GET",
    "/v1/jobs/{job_id}/runs",
    tag="jobs",
    permission=Permission.READ,
    query=RunsOfJobQuery,
    answer=ListPage[RunView],
    problems=("malformed_request",),
)
async def list_runs_of_job(call: Call) -> Reply:
    """List the runs of a job, newest first."""
    row = await read_job_row(call)
    status = resolve_statuses(call.query.status, RUN_STATUSES)
    trigger = call.query.trigger or None
    filters = ["runs of", row.id.hex, trigger, *status]
    place = read_cursor(call.query.cursor, filters)
    found = await run_views.list_runs(
        call.conn,
        tenant_id=call.tenant_id,
        filter=RunListFilter(
            job_id=row.id, states=frozenset(map(RunState, status)), trigger=trigger
        ),
        after=None if place is None else identifiers.parse_id("run_id", place[0]),
        limit=call.query.limit,
    )
    following = (
        None
        if found.after is None
        else write_cursor(filters, [identifiers.format_run_id(found.after)])
    )
    data = [views.build_run_view(run) for run in found.rows]
    return Reply(ListPage[RunView](data=data, next_cursor=following))
