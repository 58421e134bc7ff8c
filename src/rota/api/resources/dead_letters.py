"""Operations for dead letters: list, group, requeue, edit and drop."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from rota.api import identifiers
from rota.api.bulk_requests import (
    build_count_reply,
    build_done_reply,
    build_run_filter,
    require_token,
)
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage
from rota.api.resources.endpoint_steps import parse_instant, write_audit_entry
from rota.api.resources.runs import build_filter, reply_run_page
from rota.api.schemas.field_types import format_time
from rota.api.schemas.runs import (
    BulkActionResult,
    BulkDraft,
    DeadGroupDetail,
    DeadGroupJob,
    DeadGroupQuery,
    DeadGroups,
    DeadGroupsQuery,
    DeadGroupView,
    DeadLettersQuery,
    EditManyDraft,
    ReplayManyDraft,
    RunView,
)
from rota.api.views import build_run_detail
from rota.core.access import Permission
from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import InvalidInput, NotFound
from rota.core.time.schedule import MICROSECOND
from rota.engine.submission import requeue
from rota.engine.submission.requeue import REQUEUE_AT_ONCE, RequeuePace
from rota.store import hints, run_views
from rota.store.run_views import DeadGroup

# The default period of groups.
DEFAULT_GROUP_RANGE: Final = timedelta(days=30)


@operation(
    "GET",
    "/v1/dead-letters",
    tag="dead letters",
    permission=Permission.READ,
    query=DeadLettersQuery,
    answer=ListPage[RunView],
    problems=("malformed_request", "not_found"),
)
async def list_dead_letters(call: Call) -> Reply:
    """List dead letters: runs that are dead, lost or quarantined."""
    query: DeadLettersQuery = call.query
    chosen, filters = build_filter(query)
    chosen = replace(
        chosen,
        fingerprint=query.fingerprint,
        ended_after=parse_instant(query.ended_after, "ended_after"),
        ended_before=parse_instant(query.ended_before, "ended_before"),
    )
    filters += [query.fingerprint, query.ended_after, query.ended_before]
    return await reply_run_page(call, chosen, ["dead", *filters], dead=True)


@operation(
    "GET",
    "/v1/dead-letters/groups",
    tag="dead letters",
    permission=Permission.READ,
    query=DeadGroupsQuery,
    answer=DeadGroups,
)
async def list_dead_groups(call: Call) -> Reply:
    """List dead letters grouped by task and error, most recent first."""
    which, span = build_group_filter(call, kind=call.query.kind)
    found = await run_views.list_groups(
        call.conn, which, tenant_id=call.tenant_id, limit=call.query.limit
    )
    return Reply(
        DeadGroups(
            data=[DeadGroupView(**build_group_fields(group)) for group in found],
            is_partial=any(group.is_partial for group in found),
            **span,
        )
    )


@operation(
    "GET",
    "/v1/dead-letters/groups/{kind}/{fingerprint}",
    tag="dead letters",
    permission=Permission.READ,
    query=DeadGroupQuery,
    answer=DeadGroupDetail,
    problems=("not_found",),
)
async def get_dead_group(call: Call) -> Reply:
    """Get a group of dead letters with its newest run."""
    kind, fingerprint = call.params["kind"], call.params["fingerprint"]
    which, span = build_group_filter(call, kind=kind, fingerprint=fingerprint)
    group = await run_views.get_group(call.conn, which, tenant_id=call.tenant_id)
    sample = None
    if group is not None:
        sample = await run_views.get_run(
            call.conn, tenant_id=call.tenant_id, run_id=group.sample_id
        )
    if group is None or sample is None:
        raise NotFound("dead letter group", f"{kind} {fingerprint}")
    return Reply(
        DeadGroupDetail(
            **build_group_fields(group),
            **span,
            is_partial=group.is_partial,
            sample=build_run_detail(sample),
        )
    )


def build_group_filter(
    call: Call, *, kind: str | None, fingerprint: str | None = None
) -> tuple[BulkRunFilter, dict[str, Any]]:
    """Return the filter of the query, and its period for the response. The end defaults to now,
    inclusive.
    """
    query: DeadGroupQuery = call.query
    since = parse_instant(query.since, "since") or call.now - DEFAULT_GROUP_RANGE
    until = parse_instant(query.until, "until") or call.now + MICROSECOND
    which = BulkRunFilter(
        job_id=None if query.job_id is None else identifiers.parse_id("job_id", query.job_id),
        kind=kind,
        fingerprint=fingerprint,
        since=since,
        until=until,
    )
    return which, {"since": format_time(since), "until": format_time(until)}


def build_group_fields(group: DeadGroup) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "error_type": group.type,
        "message": group.message,
        "frame": group.frame,
        "fingerprint": group.fingerprint,
        "count": group.number,
        "first_seen": format_time(group.first_at),
        "last_seen": format_time(group.last_at),
        "counts_per_hour": group.counts_per_hour(),
        "versions": group.versions,
        "jobs": [
            DeadGroupJob(
                job_id=None
                if job["job_id"] is None
                else identifiers.format_job_id(UUID(job["job_id"])),
                job_name=job["name"],
                count=job["count"],
            )
            for job in json.loads(group.jobs)
        ],
        "job_count": group.job_count,
        "sample_run_id": identifiers.format_run_id(group.sample_id),
    }


@operation(
    "POST",
    "/v1/dead-letters/replay",
    tag="dead letters",
    permission=Permission.OPERATE,
    body=ReplayManyDraft,
    answer=BulkActionResult,
    example={"filter": {"error": "TimeoutError"}, "dry_run": True},
)
async def replay_dead_letters(call: Call) -> Reply:
    """Requeue dead letters unchanged.

    A dry run returns the count and a confirmation token.
    """
    which, token = build_run_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await requeue.count_dead_letters(
            call.conn, which, action=requeue.REQUEUE_ACTION, tenant_id=call.tenant_id, now=call.now
        )
        return build_count_reply(counted)
    done = await requeue.requeue_dead_letters(
        call.conn,
        which,
        tenant_id=call.tenant_id,
        token=require_token(token),
        by=call.actor,
        pace=build_pace(call.body),
    )
    await write_audit_entry(call, "dead.replay", "run", "many", {"number": len(done.ids)})
    call.hints.add(hints.RUNS_CHANNEL)
    return build_done_reply(done)


@operation(
    "POST",
    "/v1/dead-letters/edit",
    tag="dead letters",
    permission=Permission.OPERATE,
    body=EditManyDraft,
    answer=BulkActionResult,
    example={"filter": {"error": "TimeoutError"}, "patch": {"timeout": 60}, "dry_run": True},
)
async def edit_dead_letters(call: Call) -> Reply:
    """Requeue dead letters with changed payloads.

    A dry run returns the count and a confirmation token.
    """
    which, token = build_run_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await requeue.count_dead_letters(
            call.conn,
            which,
            action=requeue.EDIT_ACTION,
            tenant_id=call.tenant_id,
            now=call.now,
        )
        return build_count_reply(counted)
    if not call.body.patch:
        raise InvalidInput("patch", {}, "expected an object with at least one field to change")
    edit = requeue.PayloadEdit(
        patch=call.body.patch,
        by=call.actor,
        new_id=call.service.new_id,
        pace=build_pace(call.body),
    )
    done = await requeue.requeue_edited(
        call.conn, which, edit, tenant_id=call.tenant_id, token=require_token(token)
    )
    await write_audit_entry(call, "dead.edit", "run", "many", {"number": len(done.ids)})
    call.hints.add(hints.RUNS_CHANNEL)
    return build_done_reply(done)


def build_pace(draft: ReplayManyDraft) -> RequeuePace:
    if draft.per_minute is None:
        return REQUEUE_AT_ONCE
    return RequeuePace(
        spacing=timedelta(minutes=1) / draft.per_minute, already_requeued=draft.before
    )


@operation(
    "POST",
    "/v1/dead-letters/drop",
    tag="dead letters",
    permission=Permission.OPERATE,
    body=BulkDraft,
    answer=BulkActionResult,
    example={"filter": {"error": "TimeoutError"}, "dry_run": True},
)
async def drop_dead_letters(call: Call) -> Reply:
    """Drop dead letters.

    The runs stay in the history. A dry run returns the count and a confirmation token.
    """
    which, token = build_run_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await requeue.count_dead_letters(
            call.conn, which, action=requeue.DROP_ACTION, tenant_id=call.tenant_id, now=call.now
        )
        return build_count_reply(counted)
    done = await requeue.drop_dead_letters(
        call.conn, which, tenant_id=call.tenant_id, token=require_token(token), by=call.actor
    )
    await write_audit_entry(call, "dead.drop", "run", "many", {"number": len(done.ids)})
    return build_done_reply(done)


@operation(
    "DELETE",
    "/v1/dead-letters/{run_id}",
    tag="dead letters",
    permission=Permission.OPERATE,
    status=204,
    problems=("illegal_move",),
)
async def drop_dead_letter(call: Call) -> Reply:
    """Drop a dead letter.

    The run stays in the history.
    """
    run_id = identifiers.parse_id("run_id", call.params["run_id"])
    await requeue.drop_dead_letter(
        call.conn, tenant_id=call.tenant_id, run_id=run_id, by=call.actor
    )
    await write_audit_entry(call, "dead.drop", "run", identifiers.format_run_id(run_id))
    return Reply()
