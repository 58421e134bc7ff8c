"""Retries and replays finished runs, and requeues or drops dead letters (E10).

A retry runs the same run again under its id, so targets see the same idempotency key, and its
attempt numbers continue. A replay creates a new run of the same job. Both use the kind, queue,
policy and payload of the old run, even if its job changed since; only a replay accepts another
payload. Neither applies the overlap policy, because the caller asked for exactly this run. Gates
still apply. Dropping a dead letter removes it from the list and keeps it in history.

`requeue_edited` applies a JSON merge patch to the payload of each dead letter. The result is a new
run, linked to the old one. The old run is dropped and stays in history with its payload.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import IllegalMove
from rota.core.merge_patch import merge_patch
from rota.core.secret_references import encode_payload
from rota.core.states import DEAD_LETTER_STATES, FINAL_STATES, RETRYABLE_STATES
from rota.core.submissions import check_name
from rota.engine.submission import bulk_actions
from rota.engine.submission.bulk_actions import BulkAction, BulkCount, BulkResult
from rota.engine.submission.job_changes import KEEP, Keep
from rota.engine.submission.overlap_decision import put_run_gates
from rota.engine.submission.quotas import check_run_quota
from rota.store import jobs, live_runs, requeue, run_views, tenants
from rota.store.driver import Connection
from rota.store.jobs import StoredJob
from rota.store.requeue import RunCopy
from rota.store.run_templates import RunTemplate
from rota.store.run_views import RunRow
from rota.store.transaction import transaction

REQUEUE_ACTION: Final = BulkAction(name="replay", find=requeue.find_dead)
DROP_ACTION: Final = BulkAction(name="drop", find=requeue.find_dead)
EDIT_ACTION: Final = BulkAction(name="edit", find=requeue.find_dead)
# Dead letters that one call edits at most: the gates of each new run are looked up separately.
EDIT_BATCH_MAX: Final = 200


class RequeuePace(NamedTuple):
    """How fast dead letters are requeued: at most `limit` in a call, `spacing` apart.
    `already_requeued` is the number that earlier calls requeued.
    """

    spacing: timedelta = timedelta(0)
    already_requeued: int = 0
    limit: int = 1_000


REQUEUE_AT_ONCE: Final = RequeuePace()
ONE_BATCH: Final = RequeuePace(limit=EDIT_BATCH_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """The run to replay, the user who asks, and another payload. Default: the run's payload."""

    run_id: UUID
    by: str
    payload: object | Literal[Keep.KEEP] = KEEP


async def retry_run(conn: Connection, *, tenant_id: int, run_id: UUID, by: str) -> None:
    """Retry a failed, lost or cancelled run under the same run id."""
    check_name(by, "by")
    async with transaction(conn):
        run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
        if run.state not in RETRYABLE_STATES:
            raise IllegalMove("run", run.state.value, "be retried", sorted(RETRYABLE_STATES))
        await _allow_one(conn, tenant_id)
        if not await live_runs.requeue_runs(conn, ids=[run_id]):
            # Another caller was faster: the run is active now, or has finished again.
            run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
            raise IllegalMove("run", run.state.value, "be retried")
        await requeue.record_actor(conn, [run_id], by=by)


async def replay_run(
    conn: Connection,
    request: ReplayRequest,
    *,
    tenant_id: int,
    now: datetime,
    new_id: Callable[[], UUID],
) -> UUID:
    """Create a new run with the data of a finished one, link the two, and return the new id."""
    check_name(request.by, "by")
    edited = None if request.payload is KEEP else encode_payload(request.payload) or "null"
    async with transaction(conn):
        old = await requeue.find_run(conn, request.run_id, tenant_id=tenant_id)
        if old.state not in FINAL_STATES:
            raise IllegalMove("run", old.state.value, "be replayed", ["finished"])
        await _allow_one(conn, tenant_id)
        job = (await jobs.read_jobs(conn, [old.job_id])).get(old.job_id)
        payload = edited or old.payload or (job and job.payload)
        through = tuple(old.gates or ())
        if job is not None:
            through = await put_run_gates(conn, job, json.loads(payload or "null"))
        run_id = new_id()
        template = RunTemplate.from_run(old, tenant_id=tenant_id, trigger="replay")
        if not old.has_job:
            template = template._replace(job_id=run_id)  # a submission of its own
        run = template.build_run(
            run_id, scheduled_at=old.scheduled_at, due_at=now, payload=payload, gates=through
        )
        await live_runs.insert_runs(conn, [run])
        if not old.has_job:
            await requeue.copy_description(
                conn, run.id, replay_of=old.id, tenant_id=tenant_id, by=request.by
            )
        await requeue.link_runs(conn, run.id, replay_of=old.id, tenant_id=tenant_id, by=request.by)
    return run.id


async def count_dead_letters(
    conn: Connection, filter_: BulkRunFilter, *, action: BulkAction, tenant_id: int, now: datetime
) -> BulkCount:
    """Do the dry run of `requeue_dead_letters` or of `drop_dead_letters`."""
    return await bulk_actions.count_runs(conn, action, filter_, tenant_id=tenant_id, now=now)


async def requeue_dead_letters(
    conn: Connection,
    filter_: BulkRunFilter,
    *,
    tenant_id: int,
    token: str,
    by: str,
    pace: RequeuePace = REQUEUE_AT_ONCE,
) -> BulkResult:
    """Requeue dead letters that a dry run counted, under their run ids: all at once, or at a pace
    that a recovering dependency can sustain.
    """
    check_name(by, "by")
    async with transaction(conn):
        chosen = await bulk_actions.choose_runs(
            conn, REQUEUE_ACTION, filter_, tenant_id=tenant_id, token=token, limit=pace.limit
        )
        quotas = (await tenants.get_tenant(conn, tenant_id)).quotas
        await check_run_quota(conn, quotas, tenant_id=tenant_id, more=len(chosen.ids))
        revived = await live_runs.requeue_runs(conn, ids=chosen.ids)
        if pace.spacing:
            await requeue.spread_starts(
                conn, revived, spacing=pace.spacing, before=pace.already_requeued
            )
        await requeue.record_actor(conn, revived, by=by)
    return chosen.build_result(revived)


async def drop_dead_letters(
    conn: Connection,
    filter_: BulkRunFilter,
    *,
    tenant_id: int,
    token: str,
    by: str,
    limit: int = 1_000,
) -> BulkResult:
    """Drop at most `limit` of the dead letters that a dry run counted."""
    check_name(by, "by")
    async with transaction(conn):
        chosen = await bulk_actions.choose_runs(
            conn, DROP_ACTION, filter_, tenant_id=tenant_id, token=token, limit=limit
        )
        dropped = await requeue.drop_dead_letters(conn, chosen.ids, tenant_id=tenant_id, by=by)
    return chosen.build_result(dropped)


async def drop_dead_letter(conn: Connection, *, tenant_id: int, run_id: UUID, by: str) -> None:
    """Drop one dead letter. Dropping it again changes nothing."""
    check_name(by, "by")
    async with transaction(conn):
        run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
        if run.state not in DEAD_LETTER_STATES:
            raise IllegalMove("run", run.state.value, "be dropped", sorted(DEAD_LETTER_STATES))
        await requeue.drop_dead_letters(conn, [run_id], tenant_id=tenant_id, by=by)


async def _allow_one(conn: Connection, tenant_id: int) -> None:
    quotas = (await tenants.get_tenant(conn, tenant_id)).quotas
    await check_run_quota(conn, quotas, tenant_id=tenant_id, more=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadEdit:
    """The merge patch for each payload, the user who asks, and the source of new run ids."""

    patch: Mapping[str, Any]
    by: str
    new_id: Callable[[], UUID]
    pace: RequeuePace = field(default=ONE_BATCH)


async def requeue_edited(
    conn: Connection, filter_: BulkRunFilter, edit: PayloadEdit, *, tenant_id: int, token: str
) -> BulkResult:
    """Requeue dead letters that a dry run counted, with changed payloads.

    Return the ids of the dead letters. If one payload cannot be stored, the whole call is refused.
    """
    check_name(edit.by, "by")
    pace = edit.pace
    async with transaction(conn):
        chosen = await bulk_actions.choose_runs(
            conn,
            EDIT_ACTION,
            filter_,
            tenant_id=tenant_id,
            token=token,
            limit=min(pace.limit, EDIT_BATCH_MAX),
        )
        quotas = (await tenants.get_tenant(conn, tenant_id)).quotas
        await check_run_quota(conn, quotas, tenant_id=tenant_id, more=len(chosen.ids))
        # First, so that only one of several concurrent callers gets each dead letter.
        dropped = await requeue.drop_dead_letters(conn, chosen.ids, tenant_id=tenant_id, by=edit.by)
        rows = await run_views.read_runs(conn, sorted(dropped), tenant_id=tenant_id)
        copies = await _edit_payloads(conn, rows[::-1], edit)
        new_ids = await requeue.copy_runs(conn, copies, tenant_id=tenant_id, by=edit.by)
        if pace.spacing:
            await requeue.spread_starts(
                conn, new_ids, spacing=pace.spacing, before=pace.already_requeued
            )
    return chosen.build_result(dropped)


async def _edit_payloads(
    conn: Connection, rows: Sequence[RunRow], edit: PayloadEdit
) -> list[RunCopy]:
    known = await jobs.read_jobs(conn, sorted({row.job_id for row in rows}))
    return [await _edit_payload(conn, row, known.get(row.job_id), edit) for row in rows]


async def _edit_payload(
    conn: Connection, row: RunRow, job: StoredJob | None, edit: PayloadEdit
) -> RunCopy:
    payload = merge_patch(json.loads(row.payload or "null"), edit.patch)
    text = encode_payload(payload, kind=row.kind or "") or "null"
    # The key of a limit may be a field of the payload. Without a job, the run keeps its gates.
    gates = None if job is None else await put_run_gates(conn, job, payload)
    return RunCopy(row.id, edit.new_id(), text, gates)
