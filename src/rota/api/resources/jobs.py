"""Operations for jobs: create, list, get, update and delete."""

from typing import Final

from rota.api import identifiers, job_creation, views
from rota.api.call import Call, Reply
from rota.api.commit_batching import NotBatchable
from rota.api.job_differences import compare_jobs
from rota.api.job_edits import build_edit
from rota.api.job_lists import CURSOR_PARTS, read_job_page, read_position, write_position
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import (
    parse_instant,
    read_expected_version,
    read_job_row,
    single_job_errors,
    write_audit_entry,
)
from rota.api.schemas.job_queries import DeleteQuery, JobsQuery
from rota.api.schemas.jobs import (
    CreatedJob,
    CreatedJobs,
    JobDraft,
    JobDrafts,
    JobEdit,
    JobView,
)
from rota.contract.policy import read_stored_policy
from rota.core import aliases
from rota.core.access import Permission
from rota.core.errors import NotFound
from rota.core.secret_references import REFERENCE_START
from rota.core.states import JobState
from rota.core.time.planning import NO_CALENDARS
from rota.engine.submission import job_changes
from rota.engine.submission.drafts import Drafter, is_costly_schedule
from rota.engine.submission.job_submission import SubmittedJob
from rota.engine.submission.submission_changes import (
    cancel_submission,
    check_version,
    edit_submission,
)
from rota.store import calendars, hints, job_views
from rota.store.job_views import JobActivity, JobFilter, JobRow

BULK_BODY_BYTES_MAX: Final = 5_000_000
# A graph and a payload of the maximum size, and the other fields.
JOB_BODY_BYTES_MAX: Final = 1_500_000
JOB_EXAMPLE: Final = {
    "name": "nightly report",
    "schedule_type": "CRON",
    "cron_expression": "30 2 * * *",
    "timezone": "Europe/Berlin",
    "payload": {"format": "pdf"},
    "max_retries": 3,
}
SCHEDULE_PROBLEMS: Final = ("invalid_schedule", "conflict", "quota_exceeded")
ACTIVITY_NAMES: Final = frozenset(doing.value for doing in JobActivity)
EDIT_PROBLEMS: Final = (*SCHEDULE_PROBLEMS, "illegal_move", "version_changed")


async def create_job_batched(call: Call) -> Reply:
    """Create a single job in a shared commit with concurrent requests."""
    with single_job_errors():
        spec = job_creation.build_spec_for_caller(call, call.body)
        if is_costly_schedule(spec.schedule):
            # Drafted off the event loop; its transaction reads and locks the calendars.
            raise NotBatchable
        if spec.expect is not None or spec.alert is not None:
            # Its warnings, and the check of its route, need the job's transaction.
            raise NotBatchable
        drafting = Drafter(call.now, NO_CALENDARS, origin=job_creation.build_origin(call))
        draft = drafting.draft(spec, call.service.new_id())
        if REFERENCE_START in f"{draft.payload_text}{draft.graph_text}":
            # The check for missing secrets needs the tenant's transaction.
            raise NotBatchable
        if draft.exactly_once:
            # The check whether its kind supports it needs the job's transaction.
            raise NotBatchable
        served = await call.service.served_kinds.read_kinds(
            call.service.pool, call.principal.tenant
        )

        def answer(submitted: SubmittedJob) -> Reply:
            created = job_creation.build_created_job(submitted, spec, served)
            return Reply(created, headers={"Location": f"/v1/jobs/{created.job_id}"})

        submitted, reply = await call.service.batchers.jobs.submit(call, draft, answer)
    call.hints |= job_creation.select_hints(call, [submitted])
    call.link_runs([submitted.run_id])
    return reply


@operation(
    "POST",
    "/v1/jobs",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobDraft,
    body_bytes_max=JOB_BODY_BYTES_MAX,
    answer=CreatedJob,
    status=201,
    problems=SCHEDULE_PROBLEMS,
    handle_batched=create_job_batched,
    example=JOB_EXAMPLE,
)
async def create_job(call: Call) -> Reply:
    """Create a job.

    The job runs on its schedule; without one it runs at once. If no live worker serves its kind, or
    if the payload references a secret that does not exist (`{{secret:name}}`), the job is still
    created and the response contains a warning.
    """
    with single_job_errors():
        (created,) = await job_creation.create_jobs(call, [call.body])
    return Reply(created, headers={"Location": f"/v1/jobs/{created.job_id}"})


@operation(
    "POST",
    "/v1/jobs/bulk",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobDrafts,
    answer=CreatedJobs,
    status=201,
    problems=SCHEDULE_PROBLEMS,
    body_bytes_max=BULK_BODY_BYTES_MAX,
    example={"jobs": [JOB_EXAMPLE]},
)
async def create_jobs(call: Call) -> Reply:
    """Create up to 1,000 jobs, all or none."""
    return Reply(CreatedJobs(jobs=await job_creation.create_jobs(call, call.body.jobs)))


@operation(
    "GET",
    "/v1/jobs",
    tag="jobs",
    permission=Permission.READ,
    query=JobsQuery,
    answer=ListPage[JobView],
    problems=("malformed_request",),
)
async def list_jobs(call: Call) -> Reply:
    """List jobs, newest first.

    One-time submissions are sorted by their due time.
    """
    query: JobsQuery = call.query
    status = aliases.resolve_statuses(query.status, aliases.JOB_STATUSES)
    sort = query.type or ("all" if ACTIVITY_NAMES & set(status) else "definition")
    filters = [sort, status, query.user_id, query.kind, query.queue, query.label, query.q]
    filters += [query.created_after, query.created_before]
    place = read_cursor(query.cursor, filters, parts=CURSOR_PARTS)
    key, _, value = (query.label or "").partition(":")
    found = await read_job_page(
        call.conn,
        tenant_id=call.tenant_id,
        filter=JobFilter(
            states=frozenset(JobState(name) for name in status if name not in ACTIVITY_NAMES),
            doing=frozenset(JobActivity(name) for name in status if name in ACTIVITY_NAMES),
            user_id=query.user_id,
            kind=query.kind,
            queue=query.queue,
            label=(key, value) if query.label else None,
            q=query.q,
            created_after=parse_instant(query.created_after, "created_after"),
            created_before=parse_instant(query.created_before, "created_before"),
        ),
        job_type=sort,
        after=None if place is None else read_position(place),
        limit=query.limit,
    )
    following = None if found.after is None else write_cursor(filters, write_position(found.after))
    data = [views.build_job_view(row) for row in found.rows]
    return Reply(ListPage[JobView](data=data, next_cursor=following))


@operation("GET", "/v1/jobs/{job_id}", tag="jobs", permission=Permission.READ, answer=JobView)
async def get_job(call: Call) -> Reply:
    """Get a job."""
    return reply_job(await read_job_row(call))


def reply_job(row: JobRow, status: int | None = None) -> Reply:
    return Reply(views.build_job_view(row), status, headers={"ETag": f'"{row.version}"'})


@operation(
    "PUT",
    "/v1/jobs/{job_id}",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobEdit,
    body_bytes_max=JOB_BODY_BYTES_MAX,
    answer=JobView,
    problems=EDIT_PROBLEMS,
    example={"payload": {"format": "csv"}},
)
async def update_job(call: Call) -> Reply:
    """Update a job: only the given fields change.

    With `If-Match`, the update succeeds only if the job still has that version. A one-time
    submission can be updated until it starts. A recurring schedule turns it into a job with the
    same id.
    """
    return await _edit(call, await read_job_row(call))


@operation(
    "PATCH",
    "/v1/jobs/{job_id}",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobEdit,
    body_bytes_max=JOB_BODY_BYTES_MAX,
    answer=JobView,
    problems=EDIT_PROBLEMS,
    example={"priority": "high"},
)
async def patch_job(call: Call) -> Reply:
    """Update a job, as with PUT."""
    return await _edit(call, await read_job_row(call))


@operation(
    "PUT",
    "/v1/jobs/by-name/{name}",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobDraft,
    body_bytes_max=JOB_BODY_BYTES_MAX,
    answer=JobView,
    other_statuses=(201,),
    problems=EDIT_PROBLEMS,
    example={"cron_expression": "0 * * * *"},
)
async def put_job(call: Call) -> Reply:
    """Create or update the job with this name."""
    name = call.params["name"]
    call.body.name = name
    found = await job_views.get_job_by_name(call.conn, tenant_id=call.tenant_id, name=name)
    if found is not None:
        return await _edit(call, found)
    with single_job_errors():
        (created,) = await job_creation.create_jobs(call, [call.body], only_definitions=True)
    call.params = {"job_id": created.job_id}
    return reply_job(await read_job_row(call), 201)


@operation("GET", "/v1/jobs/by-name/{name}", tag="jobs", permission=Permission.READ, answer=JobView)
async def get_job_by_name(call: Call) -> Reply:
    """Get a job by name."""
    row = await job_views.get_job_by_name(
        call.conn, tenant_id=call.tenant_id, name=call.params["name"]
    )
    if row is None:
        raise NotFound("job", call.params["name"])
    return reply_job(row)


async def _edit(call: Call, row: JobRow) -> Reply:
    wanted = read_expected_version(call)
    policy = read_stored_policy(views.load_json(row.policy))
    known = await calendars.read_calendars(call.conn, tenant_id=call.tenant_id)
    edit = build_edit(call.body, policy=policy)
    if row.run_id is not None:
        check_version(wanted)
        await edit_submission(
            call.conn, row, edit, tenant_id=call.tenant_id, now=call.now, calendars=known
        )
    else:
        await job_changes.edit_job(
            call.conn, row.id, edit, now=call.now, calendars=known, version=wanted
        )
    call.hints |= {hints.JOBS_CHANNEL, hints.RUNS_CHANNEL}
    call.params = {"job_id": identifiers.format_job_id(row.id)}
    after = await read_job_row(call)
    if row.run_id is not None or after.version != row.version:
        different = compare_jobs(views.build_job_view(row), views.build_job_view(after))
        await write_audit_entry(
            call,
            "job.update",
            "job",
            identifiers.format_job_id(row.id),
            different.after,
            different.before,
        )
    return reply_job(after)


@operation(
    "DELETE",
    "/v1/jobs/{job_id}",
    tag="jobs",
    permission=Permission.DEFINE,
    query=DeleteQuery,
    status=204,
    problems=("illegal_move",),
)
async def delete_job(call: Call) -> Reply:
    """Delete a job and cancel its runs, or cancel a one-time submission.

    Waiting runs end at once. Workers are asked to stop running ones, unless `running=keep`. The run
    of a submission stays in the history, with the submission's id.
    """
    row = await read_job_row(call)
    stop = call.query.running == "cancel"
    if row.run_id is not None:
        await cancel_submission(
            call.conn, row, tenant_id=call.tenant_id, by=call.actor, cancel_running=stop
        )
    else:
        await job_changes.delete_job(call.conn, row.id, by=call.actor, cancel_running=stop)
    await write_audit_entry(
        call, "job.delete", "job", identifiers.format_job_id(row.id), {"name": row.name}
    )
    call.hints.add(hints.CANCELS_CHANNEL)
    return Reply()
