"""Changes a one-time submission before it starts, cancels it, or runs it now.

A submission is a run (docs/adr/0044-submissions.md). A submission that has not started is removed
from its table and written again under the same id, in one transaction. If a worker claims it at the
same time, the worker wins and nothing is changed. An edit to something that a submission cannot
have, such as a recurring schedule or a graph, turns it into a job with the same id.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.limits import read_stored_limit
from rota.contract.policy import read_stored_policy
from rota.core.errors import IllegalMove, NotFound, VersionChanged
from rota.core.overlap import Overlap, WhenQueuePaused, decide_overlap
from rota.core.secret_references import encode_payload
from rota.core.submissions import JobSpec, check_name, encode_canonical
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.engine.submission.definition_references import refuse_incapable_kinds
from rota.engine.submission.drafts import CheckedJob, Drafter, build_gates, is_costly_schedule
from rota.engine.submission.id_cache import IdCache, intern_drafts
from rota.engine.submission.job_changes import KEEP, JobChanges
from rota.engine.submission.job_submission import submit_drafts
from rota.engine.submission.overlap_decision import end_replaced_runs
from rota.engine.submission.quotas import check_job_quota, check_run_quota, read_quotas
from rota.store import gates, jobs, live_runs, submission_changes
from rota.store.driver import Connection
from rota.store.job_views import JobRow
from rota.store.submission_changes import StoredSubmission
from rota.store.submission_views import SUBMISSION_VERSION
from rota.store.threads import compute_in_thread
from rota.store.transaction import transaction

PAUSE_REFUSED: Final = (
    "be paused or resumed: it runs once. Set `schedule_time` to run it later, or DELETE it to "
    "cancel it"
)
CHANGE_REFUSED: Final = "be changed: it has started. Change it before it starts, or submit it again"


class TriggeredSubmission(NamedTuple):
    """A requested run. `refused` is the code of the refusal, if it was not created."""

    run_id: UUID
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNowRequest:
    """The user who runs a submission now. `payload` and `priority` default to the submission's,
    `overlap` to skip.
    """

    by: str
    address: str | None = None
    payload: object = None
    priority: int | None = None
    overlap: Overlap | None = None


def refuse_pause(row: JobRow) -> None:
    """Refuse to pause or resume a submission."""
    if row.run_id is not None:
        raise IllegalMove("one-time submission", row.state.value, PAUSE_REFUSED)


def check_version(version: int | None) -> None:
    """Refuse any expected version other than the fixed version of submissions."""
    if version is not None and version != SUBMISSION_VERSION:
        raise VersionChanged("job", wanted=version, found=SUBMISSION_VERSION)


async def edit_submission(
    conn: Connection,
    row: JobRow,
    changes: JobChanges,
    *,
    tenant_id: int,
    now: datetime,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> None:
    """Change a submission that has not started. Raise `IllegalMove` if it has.

    A schedule with more than one time, or a graph, turns it into a job with the same id.
    """
    async with transaction(conn):
        stored = await _take_waiting(conn, row, tenant_id=tenant_id)
        spec = _apply_edit(stored, row, changes)
        draft = await _draft_spec(spec, stored.job_id, now=now, calendars=calendars)
        if not draft.is_submission:
            await submit_drafts(conn, [draft], now=now, calendars=calendars)
            return
        due_at = stored.due_at
        if changes.schedule is not KEEP:
            due_at = draft.due_at or now
        changed = await _build_row(conn, stored, draft, changes, tenant_id=tenant_id)
        await _write(conn, changed._replace(due_at=due_at), tenant_id=tenant_id, now=now)


async def _take_waiting(conn: Connection, row: JobRow, *, tenant_id: int) -> StoredSubmission:
    run_id = row.run_id or row.id
    stored = await submission_changes.take_submission(conn, run_id, tenant_id=tenant_id)
    if stored is not None:
        return stored
    found = (await live_runs.get_runs(conn, [run_id])).get(run_id)
    if found is None:
        raise NotFound("job", str(row.id))
    raise IllegalMove("one-time submission", found.state.value, CHANGE_REFUSED)


def _apply_edit(stored: StoredSubmission, row: JobRow, wanted: JobChanges) -> JobSpec:
    """Return the edited submission. If the schedule is kept, the caller keeps the due time."""
    policy = (
        read_stored_policy(json.loads(stored.policy)) if wanted.policy is KEEP else wanted.policy
    )
    limits = tuple(read_stored_limit(limit) for limit in json.loads(row.limits or "[]"))
    schedule = {"immediate": True} if wanted.schedule is KEEP else wanted.schedule
    labels = json.loads(stored.labels or "{}")
    return JobSpec(
        name=stored.name if wanted.name is KEEP else wanted.name,
        kind=stored.kind if wanted.kind is KEEP else wanted.kind,
        tenant=stored.tenant or "",
        queue=stored.queue if wanted.queue is KEEP else wanted.queue,
        schedule=schedule,
        payload=json.loads(stored.payload or "null") if wanted.payload is KEEP else wanted.payload,
        policy=policy,
        priority=stored.priority if wanted.priority is KEEP else wanted.priority,
        overlap=Overlap.SKIP if wanted.overlap is KEEP else wanted.overlap,
        keep_first=wanted.keep_first is True,
        when_queue_paused=(
            WhenQueuePaused.SKIP if wanted.when_queue_paused is KEEP else wanted.when_queue_paused
        ),
        limits=limits if wanted.limits is KEEP else wanted.limits,
        labels=labels if wanted.labels is KEEP else wanted.labels,
        user_id=stored.user_id if wanted.user_id is KEEP else wanted.user_id,
        graph=None if wanted.graph is KEEP else wanted.graph,
    )


async def _draft_spec(
    spec: JobSpec, job_id: UUID, *, now: datetime, calendars: Mapping[str, Calendar]
) -> CheckedJob:
    drafting = partial(Drafter(now, calendars).draft, spec, job_id)
    return await compute_in_thread(drafting) if is_costly_schedule(spec.schedule) else drafting()


async def _build_row(
    conn: Connection,
    stored: StoredSubmission,
    draft: CheckedJob,
    wanted: JobChanges,
    *,
    tenant_id: int,
) -> StoredSubmission:
    """Return the row of a submission with its changed fields, names and policies interned."""
    spec = draft.spec
    await refuse_incapable_kinds(conn, draft.exactly_once)
    ids = await intern_drafts(conn, [draft], IdCache())
    passing = stored.gates
    if wanted.limits is not KEEP:
        passing = await _put_gates(conn, spec, stored.job_id, tenant_id=tenant_id)
    return stored._replace(
        name=spec.name,
        kind_id=ids.kinds[spec.kind],
        queue_id=ids.queues[spec.queue],
        policy_id=ids.policies[draft.policy_text],
        priority=spec.priority,
        guarantee=spec.policy.guarantee,
        deadline=spec.policy.deadline,
        payload=draft.payload_text,
        labels=None if draft.labels_text == "{}" else draft.labels_text,
        user_id=spec.user_id,
        gates=passing,
    )


async def _put_gates(
    conn: Connection, spec: JobSpec, job_id: UUID, *, tenant_id: int
) -> list[int] | None:
    wanted = build_gates(job_id, tenant_id, Overlap.ALLOW, spec.limits, spec.payload)
    made = await gates.put_gates(conn, wanted)
    return [made[gate.tenant_id, gate.key] for gate in wanted] or None


async def _write(conn: Connection, row: StoredSubmission, *, tenant_id: int, now: datetime) -> None:
    """Write a submission to the table where it waits: for its time, or for a worker. Enforce the
    quotas if it moves to another table.
    """
    quotas = read_quotas(row.quotas)
    if row.due_at > now:
        if row.is_live:
            await check_job_quota(conn, quotas, tenant_id=tenant_id, more=1)
        await submission_changes.put_scheduled(conn, row, tenant_id=tenant_id)
        return
    if not row.is_live:
        await check_run_quota(conn, quotas, tenant_id=tenant_id, more=1)
    await submission_changes.put_live(conn, row, tenant_id=tenant_id)


async def cancel_submission(
    conn: Connection, row: JobRow, *, tenant_id: int, by: str, cancel_running: bool = True
) -> list[UUID]:
    """Cancel a submission: a waiting run ends at once; with `cancel_running`, a running one is
    asked to stop.

    Return the runs that changed; none if the submission has ended.
    """
    reason = encode_canonical({"code": "job_deleted", "by": check_name(by, "by")})
    run_id = row.run_id or row.id
    async with transaction(conn):
        ended = await submission_changes.cancel_scheduled(
            conn, run_id, tenant_id=tenant_id, reason=reason
        )
        # If the submission became a run meanwhile, it is among the active runs.
        alive = await jobs.read_unfinished_runs(conn, row.id)
        ids = [run.id for run in alive if cancel_running or run.is_waiting]
        moved = await live_runs.cancel_runs(conn, ids=ids, reason=reason) if ids else []
    return [run_id] * ended + [run.id for run in moved]


async def run_submission(
    conn: Connection,
    row: JobRow,
    request: RunNowRequest,
    *,
    tenant_id: int,
    now: datetime,
    new_id: Callable[[], UUID],
) -> TriggeredSubmission:
    """Run a submission now: a scheduled one becomes due, any other gets another run.

    While a run of it is active, no other is created, unless `overlap` allows it.
    """
    payload = encode_payload(request.payload, kind=row.kind or "")
    run_id = row.run_id or row.id
    async with transaction(conn):
        if row.next_fire_at is not None:
            stored = await submission_changes.take_submission(conn, run_id, tenant_id=tenant_id)
            if stored is not None:
                due = _override(stored, payload, request.priority)._replace(due_at=now)
                await check_run_quota(conn, read_quotas(due.quotas), tenant_id=tenant_id, more=1)
                await submission_changes.put_live(conn, due, tenant_id=tenant_id, trigger="manual")
                return TriggeredSubmission(run_id)
        origin = await submission_changes.lock_submission(conn, run_id, tenant_id=tenant_id)
        if origin is None:
            raise NotFound("job", str(row.id))
        again = _override(origin, payload, request.priority)._replace(
            id=new_id(),
            due_at=now,
            created_at=now,
            submitter=request.by,
            address=request.address,
            is_live=False,
        )
        return await _run_again(conn, again, request.overlap or Overlap.SKIP, tenant_id=tenant_id)


def _override(row: StoredSubmission, payload: str | None, priority: int | None) -> StoredSubmission:
    return row._replace(
        payload=row.payload if payload is None else payload,
        priority=row.priority if priority is None else priority,
    )


async def _run_again(
    conn: Connection, again: StoredSubmission, overlap: Overlap, *, tenant_id: int
) -> TriggeredSubmission:
    alive = [] if overlap is Overlap.ALLOW else await jobs.read_unfinished_runs(conn, again.job_id)
    plan = decide_overlap(overlap, [again.id], alive)
    for _, code in plan.skipped:
        return TriggeredSubmission(alive[0].id, code)
    await check_run_quota(conn, read_quotas(again.quotas), tenant_id=tenant_id, more=1)
    await end_replaced_runs(conn, plan)
    await submission_changes.put_live(conn, again, tenant_id=tenant_id, trigger="manual")
    return TriggeredSubmission(again.id)
