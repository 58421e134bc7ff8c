"""Operations for backfills: list, get, pause, resume, cancel.

schedules.py creates a backfill.
"""

from uuid import UUID

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import Page, cursor, place_of
from rota.api.resources.shared import audited
from rota.api.shapes.backfills import BackfillCancel, BackfillProgress, BackfillsQuery
from rota.api.shapes.pieces import moment, moment_or_none
from rota.api.views import loaded
from rota.core.access import Permission
from rota.engine.submission.backfills import control, progress
from rota.engine.submission.backfills.control import RunningRunsAction
from rota.engine.submission.backfills.progress import BackfillForecast
from rota.store import backfills, hints
from rota.store.backfills import BackfillRow


def view(row: BackfillRow, progress: BackfillForecast) -> BackfillProgress:
    return BackfillProgress(
        backfill_id=identifiers.backfill(row.id),
        job_id=identifiers.job(row.job_id),
        job_name=row.job,
        status=row.state.value,
        since=moment(row.since),
        until=moment(row.until),
        only=row.picks.value,
        order="newest" if row.newest_first else "oldest",
        at_once=row.at_once,
        priority=row.priority,
        payload=loaded(row.payload),
        reached=moment(row.reached),
        ticks=row.ticks,
        made=row.made,
        succeeded=row.succeeded,
        failed=row.failed,
        cancelled=row.cancelled,
        alive=progress.alive,
        left=progress.left,
        expected=row.expected,
        estimated=row.is_guess,
        eta=moment_or_none(progress.eta),
        paused_at=moment_or_none(row.paused_at),
        created_at=moment(row.created_at),
        created_by=row.created_by,
        ended_at=moment_or_none(row.ended_at),
        reason=loaded(row.reason),
    )


@operation(
    "GET",
    "/v1/backfills",
    tag="backfills",
    permission=Permission.READ,
    query=BackfillsQuery,
    answer=Page[BackfillProgress],
    problems=("malformed_request", "not_found"),
)
async def list_backfills(call: Call) -> Reply:
    """List backfills, newest first."""
    query: BackfillsQuery = call.query
    filters = ["backfills", sorted(query.status), query.job_id]
    place = place_of(query.cursor, filters)
    found = await backfills.list_backfills(
        call.conn,
        tenant_id=call.tenant_id,
        job_id=None if query.job_id is None else identifiers.read("job_id", query.job_id),
        states=query.status,
        before=None if place is None else identifiers.read("backfill_id", place[0]),
        limit=query.limit + 1,
    )
    rows = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = cursor(filters, [identifiers.backfill(rows[-1].id)])
    data = [view(row, progress.compute_progress(row)) for row in rows]
    return Reply(Page[BackfillProgress](data=data, next_cursor=more))


@operation(
    "GET",
    "/v1/backfills/{backfill_id}",
    tag="backfills",
    permission=Permission.READ,
    answer=BackfillProgress,
)
async def get_backfill(call: Call) -> Reply:
    """Get a backfill with its progress and its expected end."""
    return await shown(call, id_of(call))


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
    id_ = id_of(call)
    await control.pause_backfill(
        call.conn, tenant_id=call.tenant_id, backfill_id=id_, by=call.actor, now=call.now
    )
    await audited(call, "backfill.pause", "backfill", identifiers.backfill(id_))
    return await shown(call, id_)


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
    id_ = id_of(call)
    await control.resume_backfill(call.conn, tenant_id=call.tenant_id, backfill_id=id_)
    await audited(call, "backfill.resume", "backfill", identifiers.backfill(id_))
    call.hints.add(hints.RUNS_CHANNEL)
    return await shown(call, id_)


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
    id_ = id_of(call)
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
    await audited(call, "backfill.cancel", "backfill", identifiers.backfill(id_), details)
    call.hints |= {hints.CANCELS_CHANNEL, hints.RUNS_CHANNEL}
    return await shown(call, id_)


def id_of(call: Call) -> UUID:
    return identifiers.read("backfill_id", call.params["backfill_id"])


async def shown(call: Call, id_: UUID) -> Reply:
    row = await backfills.get_backfill(call.conn, id_, tenant_id=call.tenant_id)
    progress = await progress.measure_progress(call.conn, row, tenant_id=call.tenant_id)
    return Reply(view(row, progress))
