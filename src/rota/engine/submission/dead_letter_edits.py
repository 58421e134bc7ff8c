"""Requeues dead letters with a changed payload.

A JSON merge patch is applied to the payload of each dead letter. The result is a new run, linked to
the old one. The old run is dropped and stays in history with its payload. The dead letters are
selected by the same condition as for a requeue without changes (requeue.py).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from rota.core.bulk_operations import BulkRunFilter
from rota.core.merge_patch import merge_patch
from rota.core.secret_references import encode_payload
from rota.core.submissions import check_name
from rota.engine.submission import bulk_actions
from rota.engine.submission.bulk_actions import BulkAction, BulkResult
from rota.engine.submission.overlap_decision import put_run_gates
from rota.engine.submission.quotas import check_run_quota
from rota.engine.submission.requeue import RequeuePace
from rota.store import jobs, requeue, run_views, tenants
from rota.store.driver import Connection
from rota.store.jobs import StoredJob
from rota.store.requeue import RunCopy
from rota.store.run_views import RunRow
from rota.store.transaction import transaction

EDIT_ACTION: Final = BulkAction(name="edit", find=requeue.find_dead)
# Dead letters that one call edits at most: the gates of each new run are looked up separately.
EDIT_BATCH_MAX: Final = 200
ONE_BATCH: Final = RequeuePace(limit=EDIT_BATCH_MAX)


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
