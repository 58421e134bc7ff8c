"""Requeues dead letters with a changed payload. Room: flow/submit.

A JSON merge patch is applied to the payload that each dead letter ran with. The result is a new
run, linked to the old one, which is dropped: it stays in history with the payload it had. The dead
letters are found by the same condition as for a requeue without changes (reviving.py).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from rota.core.binding import payload_text
from rota.core.bulk import RunFilter
from rota.core.merge_patch import merge_patch
from rota.core.submission import check_name
from rota.flow.submit import bulk
from rota.flow.submit.allowing import allow_runs
from rota.flow.submit.bulk import Action, Done
from rota.flow.submit.placing import passing
from rota.flow.submit.reviving import Pace
from rota.store import jobs, revival, run_views, tenants
from rota.store.driver import Connection
from rota.store.jobs import Job
from rota.store.revival import RunCopy
from rota.store.run_views import RunRow
from rota.store.transaction import transaction

EDIT: Final = Action(name="edit", find=revival.find_dead)
# One call edits no more: the gates of each new run are looked up by themselves.
EDIT_BATCH_MAX: Final = 200
ONE_BATCH: Final = Pace(most=EDIT_BATCH_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadEdit:
    """The merge patch for each payload, who asked for it, and where ids of new runs come from."""

    patch: Mapping[str, Any]
    by: str
    new_id: Callable[[], UUID]
    pace: Pace = field(default=ONE_BATCH)


async def edit_dead(
    conn: Connection, which: RunFilter, edit: PayloadEdit, *, tenant_id: int, token: str
) -> Done:
    """Requeue some of the dead letters that a dry run counted, with changed payloads.

    The ids that are returned are those of the dead letters. One payload that cannot be stored
    refuses the whole call.
    """
    check_name(edit.by, "by")
    pace = edit.pace
    async with transaction(conn):
        chosen = await bulk.choose(
            conn, EDIT, which, tenant_id=tenant_id, token=token, most=min(pace.most, EDIT_BATCH_MAX)
        )
        quotas = (await tenants.get(conn, tenant_id)).quotas
        await allow_runs(conn, quotas, tenant_id=tenant_id, more=len(chosen.ids))
        # First: of several who edit the same dead letter, one drops it.
        dropped = await revival.drop(conn, chosen.ids, tenant_id=tenant_id, by=edit.by)
        rows = await run_views.read(conn, sorted(dropped), tenant_id=tenant_id)
        copies = await _edit_payloads(conn, rows[::-1], edit)
        made = await revival.copy(conn, copies, tenant_id=tenant_id, by=edit.by)
        if pace.spacing:
            await revival.spread(conn, made, spacing=pace.spacing, before=pace.before)
    return chosen.done(dropped)


async def _edit_payloads(
    conn: Connection, rows: Sequence[RunRow], edit: PayloadEdit
) -> list[RunCopy]:
    known = await jobs.read(conn, sorted({row.job_id for row in rows}))
    return [await _edit_payload(conn, row, known.get(row.job_id), edit) for row in rows]


async def _edit_payload(
    conn: Connection, row: RunRow, job: Job | None, edit: PayloadEdit
) -> RunCopy:
    payload = merge_patch(json.loads(row.payload or "null"), edit.patch)
    text = payload_text(payload, kind=row.kind or "") or "null"
    # The key of a limit may be a field of the payload. Without a job the gates stay as they are.
    gates = None if job is None else await passing(conn, job, payload)
    return RunCopy(row.id, edit.new_id(), text, gates)
