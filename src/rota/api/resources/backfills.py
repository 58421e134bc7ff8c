"""Operations for backfills: list, get, pause, resume, cancel.

schedules.py creates a backfill.
"""

from uuid import UUID

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.schemas.backfills import BackfillCancel, BackfillProgress, BackfillsQuery
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.views import load_json
from rota.core.access import Permission
from rota.engine.submission.backfills import control
from rota.engine.submission.backfills.control import RunningRunsAction
from rota.engine.submission.backfills.requests import (
    BackfillForecast,
    compute_progress,
    measure_progress,
)
from rota.store import backfills, hints
from rota.store.backfills import BackfillRow


def build_backfill_view(row: BackfillRow, progress: BackfillForecast) -> BackfillProgress:
    return BackfillProgress(
        backfill_id=identifiers.format_backfill_id(row.id),
        job_id=identifiers.format_job_id(row.job_id),
        job_name=row.job,
        status=row.state.value,
        since=format_time(row.since),
        until=format_time(row.until),
        only=row.picks.value,
        order="newest" if row.newest_first else "oldest",
        at_once=row.at_once,
        priority=row.priority,
        payload=load_json(row.payload),
        reached=format_time(row.reached),
        ticks=row.ticks,
        made=row.made,
        succeeded=row.succeeded,
        failed=row.failed,
        cancelled=row.cancelled,
        alive=progress.alive,
        left=progress.left,
        expected=row.expected,
        estimated=row.is_guess,
        eta=format_optional_time(progress.eta),
        paused_at=format_optional_time(row.paused_at),
        created_at=format_time(row.created_at),
        created_by=row.created_by,
        ended_at=format_optional_time(row.ended_at),
        reason=load_json(row.reason),
    )


@operation(
    "GET",
    "/v1/backfills",
    tag="backfills",
    permission=Permission.READ,
    query=BackfillsQuery,
    answer=ListPage[BackfillProgress],
    problems=("malformed_request", "not_found"),
)
async def list_backfills(call: Call) -> Reply:
    """List backfills, newest first."""
    query: BackfillsQuery = call.query
    filters = ["backfills", sorted(query.status), query.job_id]
    place = read_cursor(query.cursor, filters)
    found = await backfills.list_backfills(
        call.conn,
        tenant_id=call.tenant_id,
        job_id=None if query.job_id is None else identifiers.parse_id("job_id", query.job_id),
        states=query.status,
        before=None if place is None else identifiers.parse_id("backfill_id", place[0]),
        limit=query.limit + 1,
    )
    rows = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = write_cursor(filters, [identifiers.format_backfill_id(rows[-1].id)])
    data = [build_backfill_view(row, compute_progress(row)) for row in rows]
    return Reply(ListPage[BackfillProgress](data=data, next_cursor=more))


@operation(
    "GET",
    "/v1/backfills/{backfill_id}",
    tag="backfills",
    permission=Permission.READ,
    answer=BackfillProgress,
)
async def get_backfill(call: Call) -> Reply:
    """Get a backfill with its progress and its expected end."""
    return await reply_backfill(call, read_backfill_id(call))


@operation(
    "POST",
    "/v1/backfills/{backfill_id}/pause",
    tag="backfills",
    permission=Permission.OPERATE,
    answer=BackfillProgress,
    problems=("illegal_move",),
)
async def pause_backfill(call: Call) -> Reply:
    """Pause a backfill.

    No more of its runs start; running ones may finish.
    """
    id_ = read_backfill_id(call)
    await control.pause_backfill(
        call.conn, tenant_id=call.tenant_id, backfill_id=id_, by=call.actor, now=call.now
    )
    await write_audit_entry(call, "backfill.pause", "backfill", identifiers.format_backfill_id(id_))
    return await reply_backfill(call, id_)


@operation(
    "POST",
    "/v1/backfills/{backfill_id}/resume",
    tag="backfills",
    permission=Permission.OPERATE,
    answer=BackfillProgress,
    problems=("illegal_move",),
)
async def resume_backfill(call: Call) -> Reply:
    """Resume a paused backfill."""
    id_ = read_backfill_id(call)
    await control.resume_backfill(call.conn, tenant_id=call.tenant_id, backfill_id=id_)
    await write_audit_entry(
        call, "backfill.resume", "backfill", identifiers.format_backfill_id(id_)
    )
    call.hints.add(hints.RUNS_CHANNEL)
    return await reply_backfill(call, id_)


@operation(
    "POST",
    "/v1/backfills/{backfill_id}/cancel",
    tag="backfills",
    permission=Permission.OPERATE,
    body=BackfillCancel,
    body_required=False,
    answer=BackfillProgress,
    problems=("illegal_move",),
    example={"running": "finish", "reason": "the source was wrong"},
)
async def cancel_backfill(call: Call) -> Reply:
    """Cancel a backfill.

    No more runs are created and waiting ones are cancelled; running ones may finish or are
    cancelled too. The backfill is `cancelling` until its last run has ended.
    """
    id_ = read_backfill_id(call)
    draft: BackfillCancel = call.body or BackfillCancel()
    await control.cancel_backfill(
        call.conn,
        tenant_id=call.tenant_id,
        backfill_id=id_,
        by=call.actor,
        now=call.now,
        running=RunningRunsAction(draft.running),
        reason=draft.reason,
    )
    details = {"running": draft.running, "reason": draft.reason}
    await write_audit_entry(
        call, "backfill.cancel", "backfill", identifiers.format_backfill_id(id_), details
    )
    call.hints |= {hints.CANCELS_CHANNEL, hints.RUNS_CHANNEL}
    return await reply_backfill(call, id_)


def read_backfill_id(call: Call) -> UUID:
    return identifiers.parse_id("backfill_id", call.params["backfill_id"])


async def reply_backfill(call: Call, id_: UUID) -> Reply:
    row = await backfills.get_backfill(call.conn, id_, tenant_id=call.tenant_id)
    progress = await measure_progress(call.conn, row, tenant_id=call.tenant_id)
    return Reply(build_backfill_view(row, progress))
