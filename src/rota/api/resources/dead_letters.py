"""Operations for dead letters: list, group, requeue, edit and drop."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from rota.api import identifiers
from rota.api.bulk import bulk_filter, counted_reply, done_reply, needed
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import Page
from rota.api.resources.runs import filter_of, listed
from rota.api.resources.shared import audited, instant
from rota.api.shapes.dead_letters import (
    DeadGroupDetail,
    DeadGroupJob,
    DeadGroupQuery,
    DeadGroups,
    DeadGroupsQuery,
    DeadGroupView,
    DeadLettersQuery,
)
from rota.api.shapes.pieces import moment
from rota.api.shapes.runs import BulkDone, BulkDraft, EditManyDraft, ReplayManyDraft, RunView
from rota.api.views import run_detail
from rota.core.access import Permission
from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import InvalidInput, NotFound
from rota.core.time.schedule import MICROSECOND
from rota.engine.submission import dead_letter_edits, requeue
from rota.engine.submission.dead_letter_edits import PayloadEdit
from rota.engine.submission.requeue import REQUEUE_AT_ONCE, RequeuePace
from rota.store import dead_letters, hints, run_views
from rota.store.dead_letters import DeadGroup

# The default period of groups.
LATELY: Final = timedelta(days=30)


@operation(
    "GET",
    "/v1/dead-letters",
    tag="dead letters",
    permission=Permission.READ,
    query=DeadLettersQuery,
    answer=Page[RunView],
    problems=("malformed_request", "not_found"),
)
async def list_dead_letters(call: Call) -> Reply:
    """List dead letters: runs that are dead, lost or quarantined."""
    query: DeadLettersQuery = call.query
    chosen, filters = filter_of(query)
    chosen = replace(
        chosen,
        fingerprint=query.fingerprint,
        ended_after=instant(query.ended_after, "ended_after"),
        ended_before=instant(query.ended_before, "ended_before"),
    )
    filters += [query.fingerprint, query.ended_after, query.ended_before]
    return await listed(call, chosen, ["dead", *filters], dead=True)


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
    which, span = group_filter(call, kind=call.query.kind)
    found = await dead_letters.list_groups(
        call.conn, which, tenant_id=call.tenant_id, limit=call.query.limit
    )
    return Reply(
        DeadGroups(
            data=[DeadGroupView(**group_fields(group)) for group in found],
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
    which, span = group_filter(call, kind=kind, fingerprint=fingerprint)
    group = await dead_letters.get_group(call.conn, which, tenant_id=call.tenant_id)
    sample = None
    if group is not None:
        sample = await run_views.get_run(
            call.conn, tenant_id=call.tenant_id, run_id=group.sample_id
        )
    if group is None or sample is None:
        raise NotFound("dead letter group", f"{kind} {fingerprint}")
    return Reply(
        DeadGroupDetail(
            **group_fields(group),
            **span,
            is_partial=group.is_partial,
            sample=run_detail(sample),
        )
    )


def group_filter(
    call: Call, *, kind: str | None, fingerprint: str | None = None
) -> tuple[BulkRunFilter, dict[str, Any]]:
    """Return the filter of the query, and its period for the response. The end defaults to now,
    inclusive.
    """
    query: DeadGroupQuery = call.query
    since = instant(query.since, "since") or call.now - LATELY
    until = instant(query.until, "until") or call.now + MICROSECOND
    which = BulkRunFilter(
        job_id=None if query.job_id is None else identifiers.read("job_id", query.job_id),
        kind=kind,
        fingerprint=fingerprint,
        since=since,
        until=until,
    )
    return which, {"since": moment(since), "until": moment(until)}


def group_fields(group: DeadGroup) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "error_type": group.type,
        "message": group.message,
        "frame": group.frame,
        "fingerprint": group.fingerprint,
        "count": group.number,
        "first_seen": moment(group.first_at),
        "last_seen": moment(group.last_at),
        "counts_per_hour": group.counts_per_hour(),
        "versions": group.versions,
        "jobs": [
            DeadGroupJob(
                job_id=None if job["job_id"] is None else identifiers.job(UUID(job["job_id"])),
                job_name=job["name"],
                count=job["count"],
            )
            for job in json.loads(group.jobs)
        ],
        "job_count": group.job_count,
        "sample_run_id": identifiers.run(group.sample_id),
    }


@operation(
    "POST",
    "/v1/dead-letters/replay",
    tag="dead letters",
    permission=Permission.OPERATE,
    body=ReplayManyDraft,
    answer=BulkDone,
    example={"filter": {"error": "TimeoutError"}, "dry_run": True},
)
async def replay_dead_letters(call: Call) -> Reply:
    """Requeue dead letters unchanged.

    A dry run returns the count and a confirmation token.
    """
    which, token = bulk_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await requeue.count_dead_letters(
            call.conn, which, action=requeue.REQUEUE_ACTION, tenant_id=call.tenant_id, now=call.now
        )
        return counted_reply(counted)
    done = await requeue.requeue_dead_letters(
        call.conn,
        which,
        tenant_id=call.tenant_id,
        token=needed(token),
        by=call.actor,
        pace=pace_of(call.body),
    )
    await audited(call, "dead.replay", "run", "many", {"number": len(done.ids)})
    call.hints.add(hints.RUNS_CHANNEL)
    return done_reply(done)


@operation(
    "POST",
    "/v1/dead-letters/edit",
    tag="dead letters",
    permission=Permission.OPERATE,
    body=EditManyDraft,
    answer=BulkDone,
    example={"filter": {"error": "TimeoutError"}, "patch": {"timeout": 60}, "dry_run": True},
)
async def edit_dead_letters(call: Call) -> Reply:
    """Requeue dead letters with changed payloads.

    A dry run returns the count and a confirmation token.
    """
    which, token = bulk_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await requeue.count_dead_letters(
            call.conn,
            which,
            action=dead_letter_edits.EDIT_ACTION,
            tenant_id=call.tenant_id,
            now=call.now,
        )
        return counted_reply(counted)
    if not call.body.patch:
        raise InvalidInput("patch", {}, "expected an object with at least one field to change")
    edit = PayloadEdit(
        patch=call.body.patch,
        by=call.actor,
        new_id=call.service.new_id,
        pace=pace_of(call.body),
    )
    done = await dead_letter_edits.requeue_edited(
        call.conn, which, edit, tenant_id=call.tenant_id, token=needed(token)
    )
    await audited(call, "dead.edit", "run", "many", {"number": len(done.ids)})
    call.hints.add(hints.RUNS_CHANNEL)
    return done_reply(done)


def pace_of(draft: ReplayManyDraft) -> RequeuePace:
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
    answer=BulkDone,
    example={"filter": {"error": "TimeoutError"}, "dry_run": True},
)
async def drop_dead_letters(call: Call) -> Reply:
    """Drop dead letters.

    The runs stay in the history. A dry run returns the count and a confirmation token.
    """
    which, token = bulk_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await requeue.count_dead_letters(
            call.conn, which, action=requeue.DROP_ACTION, tenant_id=call.tenant_id, now=call.now
        )
        return counted_reply(counted)
    done = await requeue.drop_dead_letters(
        call.conn, which, tenant_id=call.tenant_id, token=needed(token), by=call.actor
    )
    await audited(call, "dead.drop", "run", "many", {"number": len(done.ids)})
    return done_reply(done)


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
    run_id = identifiers.read("run_id", call.params["run_id"])
    await requeue.drop_dead_letter(
        call.conn, tenant_id=call.tenant_id, run_id=run_id, by=call.actor
    )
    await audited(call, "dead.drop", "run", identifiers.run(run_id))
    return Reply()
