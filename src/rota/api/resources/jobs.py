"""Jobs: make, read, change, pause, run. Room: api/resources."""

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
from rota.core.binding import MARK
from rota.core.errors import NotFound
from rota.core.states import JobState
from rota.core.time.planning import NO_CALENDARS
from rota.flow.submit import changing
from rota.flow.submit.drafting import Drafting, is_costly
from rota.flow.submit.submission_changes import (
    cancel_submission,
    check_version,
    edit_submission,
)
from rota.flow.submit.submitting import Submitted
from rota.store import calendars, hints, job_views
from rota.store.job_views import Doing, JobFilter, JobRow

BULK: Final = 5_000_000
# A graph of the largest size, a payload of the largest size, and the rest.
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
DOING: Final = frozenset(doing.value for doing in Doing)
CHANGES: Final = (*SCHEDULE, "illegal_move", "version_changed")


async def create_job_gathered(call: Call) -> Reply:
    """The same, together with others that come at this moment."""
    with alone():
        spec = making.asked(call, call.body)
        if is_costly(spec.schedule):
            # It is drafted off the event loop; calendars are read and held in its transaction.
            raise GoAlone
        drafting = Drafting(call.now, NO_CALENDARS, origin=making.origin_of(call))
        draft = drafting.draft(spec, call.service.new_id())
        if MARK in f"{draft.payload_text}{draft.graph_text}":
            # Whether there are such secrets is asked behind the wall of the tenant.
            raise GoAlone
        if draft.exactly_once:
            # Whether its kind can be that is asked in the transaction of the job.
            raise GoAlone
        served = await call.service.served.kinds(call.service.pool, call.principal.tenant)

        def answer(submitted: Submitted) -> Reply:
            made = making.made_of(submitted, spec, served)
            return Reply(made, headers={"Location": f"/v1/jobs/{made.job_id}"})

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
    """Make a job.

    With a time or a cron expression it runs then, otherwise at once. A kind that no live worker
    serves is accepted, with a warning; so is a secret that there is not, by the name of which the
    payload calls it (`{{secret:name}}`).
    """
    with alone():
        (made,) = await making.make(call, [call.body])
    return Reply(made, headers={"Location": f"/v1/jobs/{made.job_id}"})


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
    """Make up to 1,000 jobs, all or none."""
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
    """Jobs, newest first; one-time submissions are where the time is at which they are due."""
    query: JobsQuery = call.query
    status = aliases.statuses_of(query.status, aliases.JOB_STATUSES)
    sort = query.type or ("all" if DOING & set(status) else "definition")
    filters = [sort, status, query.user_id, query.kind, query.queue, query.label, query.q]
    filters += [query.created_after, query.created_before]
    place = place_of(query.cursor, filters, parts=CURSOR_PARTS)
    key, _, value = (query.label or "").partition(":")
    found = await list_page(
        call.conn,
        tenant_id=call.tenant_id,
        filter=JobFilter(
            states=frozenset(JobState(each) for each in status if each not in DOING),
            doing=frozenset(Doing(each) for each in status if each in DOING),
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
    """One job."""
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
    """Change a job: only the fields that are given.

    With `If-Match` it is changed only if it still has that version. A one-time submission can be
    changed until it starts. A recurring schedule makes it a job with the same id.
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
    """The same as PUT."""
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
    """Make the job of this name, or change it if there is one."""
    name = call.params["name"]
    call.body.name = name
    found = await job_views.by_name(call.conn, tenant_id=call.tenant_id, name=name)
    if found is not None:
        return await _edit(call, found)
    with alone():
        (made,) = await making.make(call, [call.body], only_definitions=True)
    call.params = {"job_id": made.job_id}
    return job_reply(await job_row(call), 201)


@operation("GET", "/v1/jobs/by-name/{name}", tag="jobs", permission=Permission.READ, answer=JobView)
async def get_job_by_name(call: Call) -> Reply:
    """The job of this name."""
    row = await job_views.by_name(call.conn, tenant_id=call.tenant_id, name=call.params["name"])
    if row is None:
        raise NotFound("job", call.params["name"])
    return job_reply(row)


async def _edit(call: Call, row: JobRow) -> Reply:
    wanted = expected_version(call)
    policy = read_stored_policy(views.loaded(row.policy))
    known = await calendars.read_all(call.conn, tenant_id=call.tenant_id)
    edit = edit_of(call.body, policy=policy)
    if row.run_id is not None:
        check_version(wanted)
        await edit_submission(
            call.conn, row, edit, tenant_id=call.tenant_id, now=call.now, calendars=known
        )
    else:
        await changing.edit(call.conn, row.id, edit, now=call.now, calendars=known, version=wanted)
    call.hints |= {hints.JOBS, hints.RUNS}
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

    Runs that wait end at once. The workers of runs that are being executed are asked to stop them,
    unless `running=keep`. The run of a submission stays in history, with the submission's id.
    """
    row = await job_row(call)
    stop = call.query.running == "cancel"
    if row.run_id is not None:
        await cancel_submission(
            call.conn, row, tenant_id=call.tenant_id, by=call.actor, cancel_running=stop
        )
    else:
        await changing.delete(call.conn, row.id, by=call.actor, cancel_running=stop)
    await audited(call, "job.delete", "job", identifiers.job(row.id), {"name": row.name})
    call.hints.add(hints.CANCELS)
    return Reply()
