"""Operations for jobs: create, list, get, update and delete."""

from typing import Final

from rota.api import identifiers, making, views
from rota.api.call import Call, Reply
from rota.api.changes import changes
from rota.api.drafts import edit_of
from rota.api.gathering import GoAlone
from rota.api.job_lists import CURSOR_PARTS, list_page, read_place, write_place
from rota.api.operations import operation
from rota.api.paging import Page, cursor, place_of
from rota.api.resources.shared import alone, audited, expected_version, instant, job_row
from rota.api.shapes.job_queries import DeleteQuery, JobsQuery
from rota.api.shapes.jobs import (
    JobDraft,
    JobDrafts,
    JobEdit,
    JobMade,
    JobsMade,
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

BULK: Final = 5_000_000
# A graph and a payload of the maximum size, and the other fields.
LARGEST: Final = 1_500_000
EXAMPLE: Final = {
    "name": "nightly report",
    "schedule_type": "CRON",
    "cron_expression": "30 2 * * *",
    "timezone": "Europe/Berlin",
    "payload": {"format": "pdf"},
    "max_retries": 3,
}
SCHEDULE: Final = ("invalid_schedule", "conflict", "quota_exceeded")
DOING: Final = frozenset(doing.value for doing in JobActivity)
CHANGES: Final = (*SCHEDULE, "illegal_move", "version_changed")


async def create_job_gathered(call: Call) -> Reply:
    """Create a single job in a shared commit with concurrent requests."""
    with alone():
        spec = making.asked(call, call.body)
        if is_costly_schedule(spec.schedule):
            # Drafted off the event loop; its transaction reads and locks the calendars.
            raise GoAlone
        drafting = Drafter(call.now, NO_CALENDARS, origin=making.origin_of(call))
        draft = drafting.draft(spec, call.service.new_id())
        if REFERENCE_START in f"{draft.payload_text}{draft.graph_text}":
            # The check for missing secrets needs the tenant's transaction.
            raise GoAlone
        if draft.exactly_once:
            # The check whether its kind supports it needs the job's transaction.
            raise GoAlone
        served = await call.service.served.kinds(call.service.pool, call.principal.tenant)

        def answer(submitted: SubmittedJob) -> Reply:
            created = making.made_of(submitted, spec, served)
            return Reply(created, headers={"Location": f"/v1/jobs/{created.job_id}"})

        submitted, reply = await call.service.gathered.jobs.submit(call, draft, answer)
    call.hints |= making.hints_of(call, [submitted])
    call.made([submitted.run_id])
    return reply


@operation(
    "POST",
    "/v1/jobs",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobDraft,
    largest_body=LARGEST,
    answer=JobMade,
    status=201,
    problems=SCHEDULE,
    gathered=create_job_gathered,
    example=EXAMPLE,
)
async def create_job(call: Call) -> Reply:
    """Create a job.

    The job runs on its schedule; without one it runs at once. If no live worker serves its kind, or
    if the payload references a secret that does not exist (`{{secret:name}}`), the job is still
    created and the response contains a warning.
    """
    with alone():
        (created,) = await making.make(call, [call.body])
    return Reply(created, headers={"Location": f"/v1/jobs/{created.job_id}"})


@operation(
    "POST",
    "/v1/jobs/bulk",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobDrafts,
    answer=JobsMade,
    status=201,
    problems=SCHEDULE,
    largest_body=BULK,
    example={"jobs": [EXAMPLE]},
)
async def create_jobs(call: Call) -> Reply:
    """Create up to 1,000 jobs, all or none."""
    return Reply(JobsMade(jobs=await making.make(call, call.body.jobs)))


@operation(
    "GET",
    "/v1/jobs",
    tag="jobs",
    permission=Permission.READ,
    query=JobsQuery,
    answer=Page[JobView],
    problems=("malformed_request",),
)
async def list_jobs(call: Call) -> Reply:
    """List jobs, newest first.

    One-time submissions are sorted by their due time.
    """
    query: JobsQuery = call.query
    status = aliases.resolve_statuses(query.status, aliases.JOB_STATUSES)
    sort = query.type or ("all" if DOING & set(status) else "definition")
    filters = [sort, status, query.user_id, query.kind, query.queue, query.label, query.q]
    filters += [query.created_after, query.created_before]
    place = place_of(query.cursor, filters, parts=CURSOR_PARTS)
    key, _, value = (query.label or "").partition(":")
    found = await list_page(
        call.conn,
        tenant_id=call.tenant_id,
        filter=JobFilter(
            states=frozenset(JobState(name) for name in status if name not in DOING),
            doing=frozenset(JobActivity(name) for name in status if name in DOING),
            user_id=query.user_id,
            kind=query.kind,
            queue=query.queue,
            label=(key, value) if query.label else None,
            q=query.q,
            created_after=instant(query.created_after, "created_after"),
            created_before=instant(query.created_before, "created_before"),
        ),
        sort=sort,
        after=None if place is None else read_place(place),
        limit=query.limit,
    )
    following = None if found.after is None else cursor(filters, write_place(found.after))
    data = [views.job_view(row) for row in found.rows]
    return Reply(Page[JobView](data=data, next_cursor=following))


@operation("GET", "/v1/jobs/{job_id}", tag="jobs", permission=Permission.READ, answer=JobView)
async def get_job(call: Call) -> Reply:
    """Get a job."""
    return job_reply(await job_row(call))


def job_reply(row: JobRow, status: int | None = None) -> Reply:
    return Reply(views.job_view(row), status, headers={"ETag": f'"{row.version}"'})


@operation(
    "PUT",
    "/v1/jobs/{job_id}",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobEdit,
    largest_body=LARGEST,
    answer=JobView,
    problems=CHANGES,
    example={"payload": {"format": "csv"}},
)
async def update_job(call: Call) -> Reply:
    """Update a job: only the given fields change.

    With `If-Match`, the update succeeds only if the job still has that version. A one-time
    submission can be updated until it starts. A recurring schedule turns it into a job with the
    same id.
    """
    return await _edit(call, await job_row(call))


@operation(
    "PATCH",
    "/v1/jobs/{job_id}",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobEdit,
    largest_body=LARGEST,
    answer=JobView,
    problems=CHANGES,
    example={"priority": "high"},
)
async def patch_job(call: Call) -> Reply:
    """Update a job, as with PUT."""
    return await _edit(call, await job_row(call))


@operation(
    "PUT",
    "/v1/jobs/by-name/{name}",
    tag="jobs",
    permission=Permission.DEFINE,
    body=JobDraft,
    largest_body=LARGEST,
    answer=JobView,
    other_statuses=(201,),
    problems=CHANGES,
    example={"cron_expression": "0 * * * *"},
)
async def put_job(call: Call) -> Reply:
    """Create or update the job with this name."""
    name = call.params["name"]
    call.body.name = name
    found = await job_views.get_job_by_name(call.conn, tenant_id=call.tenant_id, name=name)
    if found is not None:
        return await _edit(call, found)
    with alone():
        (created,) = await making.make(call, [call.body], only_definitions=True)
    call.params = {"job_id": created.job_id}
    return job_reply(await job_row(call), 201)


@operation("GET", "/v1/jobs/by-name/{name}", tag="jobs", permission=Permission.READ, answer=JobView)
async def get_job_by_name(call: Call) -> Reply:
    """Get a job by name."""
    row = await job_views.get_job_by_name(
        call.conn, tenant_id=call.tenant_id, name=call.params["name"]
    )
    if row is None:
        raise NotFound("job", call.params["name"])
    return job_reply(row)


async def _edit(call: Call, row: JobRow) -> Reply:
    wanted = expected_version(call)
    policy = read_stored_policy(views.loaded(row.policy))
    known = await calendars.read_calendars(call.conn, tenant_id=call.tenant_id)
    edit = edit_of(call.body, policy=policy)
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
    call.params = {"job_id": identifiers.job(row.id)}
    after = await job_row(call)
    if row.run_id is not None or after.version != row.version:
        different = changes(views.job_view(row), views.job_view(after))
        await audited(
            call, "job.update", "job", identifiers.job(row.id), different.after, different.before
        )
    return job_reply(after)


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
    row = await job_row(call)
    stop = call.query.running == "cancel"
    if row.run_id is not None:
        await cancel_submission(
            call.conn, row, tenant_id=call.tenant_id, by=call.actor, cancel_running=stop
        )
    else:
        await job_changes.delete_job(call.conn, row.id, by=call.actor, cancel_running=stop)
    await audited(call, "job.delete", "job", identifiers.job(row.id), {"name": row.name})
    call.hints.add(hints.CANCELS_CHANNEL)
    return Reply()
