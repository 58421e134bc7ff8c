"""Operations for runs: list, get, explain, cancel, retry and replay."""

import re
from typing import Any, Final
from uuid import UUID

from msgspec import UNSET

from rota.api import identifiers, views
from rota.api.bulk_requests import (
    build_count_reply,
    build_done_reply,
    build_run_filter,
    require_token,
)
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import parse_instant, write_audit_entry
from rota.api.schemas.field_types import format_optional_time
from rota.api.schemas.jobs import StartedRun
from rota.api.schemas.runs import (
    Attempts,
    AttemptView,
    BulkActionResult,
    BulkDraft,
    CancelDraft,
    ExecutionsQuery,
    ReplayDraft,
    RunDetail,
    RunExplanation,
    RunsQuery,
    RunStateView,
    RunView,
)
from rota.core import states as core_states
from rota.core.access import Permission
from rota.core.aliases import RUN_STATUSES, resolve_statuses
from rota.core.errors import NotFound
from rota.engine.observability import explanations
from rota.engine.observability.predictions import predict_run, summarize_prediction
from rota.engine.submission import requeue, run_cancellation
from rota.engine.submission.job_changes import KEEP
from rota.engine.submission.requeue import ReplayRequest
from rota.store import backfills, hints, run_views
from rota.store.run_views import AttemptRow, RunListFilter, RunRow

WORKER_ID_PATTERN: Final = re.compile(r"(?:wrk_)?[0-9a-f]{32}")


async def read_run_row(call: Call) -> RunRow:
    """Read the run in the path, of the caller's tenant."""
    run_id = identifiers.parse_id("run_id", call.params["run_id"])
    row = await run_views.get_run(call.conn, tenant_id=call.tenant_id, run_id=run_id)
    if row is None:
        raise NotFound("run", call.params["run_id"])
    return row


async def reply_run_page(
    call: Call, chosen: RunListFilter, filters: list[Any], *, dead: bool = False
) -> Reply:
    """Build a page of the runs that match the filter."""
    place = read_cursor(call.query.cursor, filters)
    read_page = run_views.list_dead_letters if dead else run_views.list_runs
    found = await read_page(
        call.conn,
        tenant_id=call.tenant_id,
        filter=chosen,
        after=None if place is None else identifiers.parse_id("run_id", place[0]),
        limit=call.query.limit,
    )
    following = (
        None
        if found.after is None
        else write_cursor(filters, [identifiers.format_run_id(found.after)])
    )
    data = [views.build_run_view(row) for row in found.rows]
    return Reply(ListPage[RunView](data=data, next_cursor=following))


def build_filter(query: RunsQuery) -> tuple[RunListFilter, list[Any]]:
    """Return the filter, and the values that a cursor must match."""
    status = resolve_statuses(query.status, RUN_STATUSES)
    chosen = RunListFilter(
        states=frozenset(map(core_states.RunState, status)),
        job_id=None if query.job_id is None else identifiers.parse_id("job_id", query.job_id),
        kind=query.kind,
        queue=query.queue,
        worker=normalize_worker(query.worker_id),
        graph_run_id=(
            None
            if query.graph_run_id is None
            else identifiers.parse_id("run_id", query.graph_run_id)
        ),
        created_after=parse_instant(query.created_after, "created_after"),
        created_before=parse_instant(query.created_before, "created_before"),
    )
    values = [status, query.job_id, query.kind, query.queue, query.worker_id]
    values += [query.graph_run_id]
    return chosen, [*values, query.created_after, query.created_before]


def normalize_worker(text: str | None) -> str | None:
    """Normalize a worker: its name, or its id with or without the prefix."""
    if text is None or not WORKER_ID_PATTERN.fullmatch(text):
        return text
    return str(UUID(text.removeprefix("wrk_")))


@operation(
    "GET",
    "/v1/runs",
    tag="runs",
    permission=Permission.READ,
    query=RunsQuery,
    answer=ListPage[RunView],
    problems=("malformed_request", "not_found"),
)
async def list_runs(call: Call) -> Reply:
    """List runs, newest first.

    A page may be shorter than its limit and still have a next one.
    """
    chosen, filters = build_filter(call.query)
    return await reply_run_page(call, chosen, ["runs", *filters])


@operation(
    "GET",
    "/v1/executions",
    other_paths=("/v1/job/executions",),
    tag="runs",
    permission=Permission.READ,
    query=ExecutionsQuery,
    answer=ListPage[RunView],
    problems=("malformed_request", "not_found"),
)
async def list_executions(call: Call) -> Reply:
    """List the runs whose current or last attempt is on a worker.

    `GET /v1/job/executions` is an alias.
    """
    worker, status = call.query.worker_id, resolve_statuses(call.query.status, RUN_STATUSES)
    states = frozenset(map(core_states.RunState, status))
    chosen = RunListFilter(worker=normalize_worker(worker), states=states)
    return await reply_run_page(call, chosen, ["executions", worker, *status])


@operation("GET", "/v1/runs/{run_id}", tag="runs", permission=Permission.READ, answer=RunDetail)
async def get_run(call: Call) -> Reply:
    """Get a run with its payload and its result."""
    row, backfill_id = await read_run_row(call), None
    if row.trigger == "backfill":
        backfill_id = await backfills.find_by_run(call.conn, row.id, tenant_id=call.tenant_id)
    return Reply(views.build_run_detail(row, backfill_id=backfill_id))


@operation(
    "GET", "/v1/runs/{run_id}/attempts", tag="runs", permission=Permission.READ, answer=Attempts
)
async def list_attempts(call: Call) -> Reply:
    """List the attempts of a run, oldest first."""
    row = await read_run_row(call)
    found = await run_views.read_attempts(call.conn, tenant_id=call.tenant_id, run_id=row.id)
    return Reply(Attempts(data=[build_attempt_view(attempt) for attempt in found]))


def build_attempt_view(row: AttemptRow) -> AttemptView:
    reason, traceback = views.split_reason(row.reason)
    return AttemptView(
        attempt_number=row.attempt,
        outcome=row.outcome,
        start_time=format_optional_time(row.started_at),
        end_time=format_optional_time(row.finished_at),
        executor_id=None
        if row.session_id is None
        else identifiers.format_id("wrk", row.session_id),
        worker=row.worker,
        error_message=views.format_message(reason),
        reason=reason,
        traceback=traceback,
    )


@operation(
    "GET",
    "/v1/runs/{run_id}/explain",
    tag="runs",
    permission=Permission.READ,
    answer=RunExplanation,
)
async def explain_run(call: Call) -> Reply:
    """Explain in one sentence why a run waits or how it ended."""
    row = await read_run_row(call)
    explanation = await explanations.explain_run(call.conn, tenant_id=call.tenant_id, run_id=row.id)
    prediction = None
    if row.state not in core_states.FINAL_STATES:
        prediction = await predict_run(
            call.conn, tenant_id=call.tenant_id, run_id=row.id, now=call.now
        )
    return Reply(
        RunExplanation(
            run_id=identifiers.format_run_id(row.id),
            status=row.state.value,
            code=explanation.code,
            sentence=explanation.sentence,
            details=dict(explanation.details),
            prediction=summarize_prediction(prediction),
        )
    )


@operation(
    "POST",
    "/v1/runs/{run_id}/cancel",
    tag="runs",
    permission=Permission.OPERATE,
    body=CancelDraft,
    body_required=False,
    answer=RunStateView,
    other_statuses=(202,),
    problems=("illegal_move",),
    example={"reason": "not needed any more"},
)
async def cancel_run(call: Call) -> Reply:
    """Cancel a run.

    A waiting run ends at once. For a running one, the worker is asked to stop it (202).
    """
    run_id = identifiers.parse_id("run_id", call.params["run_id"])
    draft: CancelDraft = call.body or CancelDraft()
    done = await run_cancellation.cancel_run(
        call.conn,
        tenant_id=call.tenant_id,
        run_id=run_id,
        by=call.actor,
        reason=draft.reason,
        force=draft.force,
        now=call.now,
    )
    await write_audit_entry(
        call, "run.cancel", "run", identifiers.format_run_id(run_id), {"force": draft.force}
    )
    call.hints |= {hints.CANCELS_CHANNEL, hints.RUNS_CHANNEL}
    status = 202 if done.state is core_states.RunState.CANCELLING else 200
    return Reply(
        RunStateView(run_id=identifiers.format_run_id(run_id), status=done.state.value), status
    )


@operation(
    "POST",
    "/v1/runs/{run_id}/retry",
    tag="runs",
    permission=Permission.OPERATE,
    answer=RunStateView,
    problems=("illegal_move",),
)
async def retry_run(call: Call) -> Reply:
    """Retry a dead, lost or cancelled run under the same run id.

    It keeps its original payload and policy; later changes of the job have no effect.
    """
    run_id = identifiers.parse_id("run_id", call.params["run_id"])
    await requeue.retry_run(call.conn, tenant_id=call.tenant_id, run_id=run_id, by=call.actor)
    await write_audit_entry(call, "run.retry", "run", identifiers.format_run_id(run_id))
    call.hints.add(hints.RUNS_CHANNEL)
    row = await read_run_row(call)
    return Reply(RunStateView(run_id=identifiers.format_run_id(run_id), status=row.state.value))


@operation(
    "POST",
    "/v1/runs/{run_id}/replay",
    tag="runs",
    permission=Permission.OPERATE,
    body=ReplayDraft,
    body_required=False,
    answer=StartedRun,
    status=201,
    problems=("illegal_move",),
    example={"payload": {"day": "2026-07-01"}},
)
async def replay_run(call: Call) -> Reply:
    """Replay a finished run as a new run.

    The new run has the kind, queue, policy and payload of the finished one; later changes of the
    job have no effect. Set `payload` to use a different payload.
    """
    row = await read_run_row(call)
    draft: ReplayDraft = call.body or ReplayDraft()
    payload = KEEP if draft.payload is UNSET else draft.payload
    new_id = await requeue.replay_run(
        call.conn,
        ReplayRequest(run_id=row.id, by=call.actor, payload=payload),
        tenant_id=call.tenant_id,
        now=call.now,
        new_id=call.service.new_id,
    )
    call.link_runs([new_id])
    shown_id = identifiers.format_run_id(new_id)
    details = {"into": shown_id, "payload": "same" if payload is KEEP else "edited"}
    await write_audit_entry(call, "run.replay", "run", identifiers.format_run_id(row.id), details)
    call.hints.add(hints.RUNS_CHANNEL)
    return Reply(
        StartedRun(job_id=identifiers.format_job_id(row.job_id), run_id=shown_id, refused=None)
    )


@operation(
    "POST",
    "/v1/runs/bulk-cancel",
    tag="runs",
    permission=Permission.OPERATE,
    body=BulkDraft,
    answer=BulkActionResult,
    example={"filter": {"kind": "report"}, "dry_run": True},
)
async def cancel_runs(call: Call) -> Reply:
    """Cancel many runs.

    A dry run returns the count and a confirmation token.
    """
    which, token = build_run_filter(call.body), call.body.token
    if call.body.dry_run:
        counted = await run_cancellation.count_cancellable(
            call.conn, which, tenant_id=call.tenant_id, now=call.now
        )
        return build_count_reply(counted)
    done = await run_cancellation.cancel_runs(
        call.conn, which, tenant_id=call.tenant_id, token=require_token(token), by=call.actor
    )
    await write_audit_entry(call, "run.bulk_cancel", "run", "many", {"number": len(done.ids)})
    call.hints |= {hints.CANCELS_CHANNEL, hints.RUNS_CHANNEL}
    return build_done_reply(done)
