"""Writes jobs and submissions with their gates, in one transaction.

A thousand jobs take as many round trips as two: names, policies, schedules and gates are created in
bulk, each table once. A submission is one row: a run if it is due now, otherwise a row that a
scheduler moves when it is due (docs/adr/0044-submissions.md). A job gets a cursor for the
schedulers, and an immediate job gets its run (S1). drafts.py checks the jobs.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from rota.contract.job_values import read_details
from rota.core.alerts.routes import AlertTargets
from rota.core.errors import InvalidInput
from rota.core.guarantees import ExactlyOnceRequest
from rota.core.ids import derive_tick_run_id
from rota.core.manifest.declaration import APP_LABEL
from rota.core.overlap import SEQUENTIAL_OVERLAPS, Overlap
from rota.core.states import JobState
from rota.core.submissions import JobSpec, SpecVariant, index_errors, prefix_errors
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.engine.submission.definition_references import lock_calendars, refuse_incapable_kinds
from rota.engine.submission.drafts import (
    NO_LABELS,
    UNKNOWN_ORIGIN,
    CheckedJob,
    Drafter,
    SubmissionOrigin,
    build_gates,
    is_costly_schedule,
)
from rota.engine.submission.id_cache import IdCache, InternedIds, intern_drafts
from rota.engine.submission.quotas import (
    NO_QUOTAS,
    check_job_quota,
    check_period_quota,
    check_run_quota,
)
from rota.engine.submission.unique_submissions import NewKeyHolder, build_job_key, take_job_keys
from rota.store import gates, jobs, live_runs, submissions
from rota.store.alert_routes import read_targets
from rota.store.driver import Connection
from rota.store.gates import NewGate
from rota.store.jobs import NewJob
from rota.store.live_runs import NewRun
from rota.store.run_templates import RunTemplate
from rota.store.submissions import NewSubmissions, SubmissionModel
from rota.store.threads import compute_in_thread
from rota.store.transaction import join_transaction

GateIdTuple = tuple[int, ...]


class SubmittedJob(NamedTuple):
    """A job or submission that was written, with its first run, if it has one, and its first tick.
    If `is_deduplicated`, it is the existing job that holds the unique key. The run of a submission
    has the id of the submission.
    """

    job_id: UUID
    run_id: UUID | None
    first_tick: datetime | None
    is_deduplicated: bool = False
    is_submission: bool = False


async def submit_jobs(
    conn: Connection,
    specs: Sequence[JobSpec],
    *,
    now: datetime,
    new_id: Callable[[], UUID],
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    origin: SubmissionOrigin = UNKNOWN_ORIGIN,
) -> list[SubmittedJob]:
    """Write all jobs and submissions, or none. `now` is the database's time, `new_id` generates
    ids.
    """
    drafts = await draft_all(Drafter(now, calendars, origin=origin), specs, new_id)
    return await submit_drafts(conn, drafts, now=now, calendars=calendars)


async def define_jobs(
    conn: Connection,
    specs: Sequence[JobSpec],
    *,
    now: datetime,
    new_id: Callable[[], UUID],
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> list[SubmittedJob]:
    """Write all jobs or none. One-time schedules become jobs too, and not submissions."""
    drafts = await draft_all(Drafter(now, calendars, only_definitions=True), specs, new_id)
    return await submit_drafts(conn, drafts, now=now, calendars=calendars)


async def draft_all(
    drafter: Drafter, specs_or_variants: Sequence[JobSpec | SpecVariant], new_id: Callable[[], UUID]
) -> list[CheckedJob]:
    """Check all specs. Raise `InvalidInput` with the position and the field of the first error."""

    def draft_each() -> list[CheckedJob]:
        drafts: list[CheckedJob] = []
        draft_variant = drafter.draft_variant
        with index_errors(drafts):
            for item in specs_or_variants:
                if isinstance(item, SpecVariant):
                    drafts.append(draft_variant(item, new_id))
                else:
                    drafts.append(drafter.draft(item, new_id()))
        return drafts

    specs = {id(item): item for item in map(_spec_of, specs_or_variants)}.values()
    if any(is_costly_schedule(spec.schedule) for spec in specs):
        return await compute_in_thread(draft_each)
    return draft_each()


def _spec_of(asked: JobSpec | SpecVariant) -> JobSpec:
    return asked.spec if isinstance(asked, SpecVariant) else asked


async def submit_drafts(
    conn: Connection,
    drafts_in: Sequence[CheckedJob],
    *,
    now: datetime,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    id_cache: IdCache | None = None,
    names_conflicts: bool = True,
) -> list[SubmittedJob]:
    """Write checked drafts. With `names_conflicts` the error names the job whose name is taken, at
    the cost of one more round trip.
    """
    definitions = [draft for draft in drafts_in if not draft.is_submission]
    _refuse_twins(drafts_in)
    keys = _unique_keys(drafts_in)
    async with join_transaction(conn):
        await refuse_incapable_kinds(conn, _exactly_once(drafts_in))
        ids = await intern_drafts(conn, drafts_in, id_cache or IdCache())
        await _check_alert_targets(conn, drafts_in, ids)
        found = await _find_holders(conn, drafts_in, keys, ids, now) if keys else {}
        wanted = _list_gates(drafts_in, found, ids)
        drafts = [draft for draft in drafts_in if draft.id not in found] if found else drafts_in
        await _check_quotas(conn, drafts, ids, now)
        await _hold_calendars(conn, drafts, ids, calendars)
        if names_conflicts and len(definitions) > 1:
            taken = [
                (ids.tenants[draft.spec.tenant], draft.name or "")
                for draft in definitions
                if draft.id not in found
            ]
            await jobs.refuse_taken_names(conn, taken)
        if drafts:
            await _write(conn, drafts, await _put_gates(conn, wanted), ids, now)
    written = [_result_of(draft, now) for draft in drafts_in]
    return [found.get(result.job_id, result) for result in written] if found else written


def _result_of(draft: CheckedJob, now: datetime) -> SubmittedJob:
    run_id = _first_run_id(draft, now) if draft.tick_at is None and draft.is_immediate else None
    return SubmittedJob(draft.id, run_id, draft.tick_at, False, draft.is_submission)


async def _check_alert_targets(
    conn: Connection, drafts: Sequence[CheckedJob], ids: InternedIds
) -> None:
    """Refuse a job that reports to an unknown route or channel. Reads nothing if no job names one.

    An app is exempt: its worker may start before the scheduler that reports the channel.
    """
    known: dict[str, AlertTargets] = {}
    for place, draft in enumerate(drafts):
        target = None if draft.spec.alert is None else draft.spec.alert.get("to")
        if target is None or draft.is_submission or APP_LABEL in draft.spec.labels:
            continue
        tenant = draft.spec.tenant
        if tenant not in known:
            known[tenant] = await read_targets(conn, tenant_id=ids.tenants[tenant])
        known[tenant].check_target(str(target), f"jobs[{place}].alert.to")


async def _put_gates(
    conn: Connection, wanted: Mapping[UUID, Sequence[NewGate]]
) -> dict[UUID, GateIdTuple]:
    """Create the gates of drafts; return the gate ids of each draft that has any."""
    made = await gates.put_gates(conn, [gate for mine in wanted.values() for gate in mine])
    return {
        id_: tuple(made[gate.tenant_id, gate.key] for gate in mine) for id_, mine in wanted.items()
    }


async def _write(
    conn: Connection,
    drafts: Sequence[CheckedJob],
    passing: Mapping[UUID, GateIdTuple],
    ids: InternedIds,
    now: datetime,
) -> None:
    """Write submissions, jobs, and the runs of immediate jobs."""
    await _write_submissions(conn, drafts, passing, ids, now)
    definitions = [draft for draft in drafts if not draft.is_submission]
    if definitions:
        new = [build_job_row(draft, ids, passing.get(draft.id, ())) for draft in definitions]
        await jobs.insert_jobs(conn, new)
    runs = [
        _first_run(draft, ids, passing.get(draft.id, ()), now)
        for draft in definitions
        if draft.is_immediate
    ]
    if runs:
        await live_runs.insert_runs(conn, runs)


async def _write_submissions(
    conn: Connection,
    drafts: Sequence[CheckedJob],
    passing: Mapping[UUID, GateIdTuple],
    ids: InternedIds,
    now: datetime,
) -> None:
    """Write the submissions among the drafts, one statement per table and tenant."""
    models: dict[tuple[int, int], SubmissionModel] = {}
    batches: dict[tuple[str, bool], list[tuple[Any, ...]]] = {}
    for draft in drafts:
        if not draft.is_submission:
            continue
        spec, due_at = draft.spec, draft.due_at
        place = id(spec), id(draft.origin)
        model = models.get(place)
        if model is None:
            model = models[place] = build_submission_model(draft, ids)
        row = (
            draft.id.hex,
            now if due_at is None else due_at,
            model,
            draft.name,
            draft.payload_text,
            None if draft.labels_text == NO_LABELS else draft.labels_text,
            draft.user_id,
            live_runs.encode_gates(passing.get(draft.id, ())) if passing else None,
        )
        batches.setdefault((spec.tenant, due_at is None), []).append(row)
    for (tenant, is_immediate), rows in batches.items():
        tenant_id, new = ids.tenants[tenant], NewSubmissions(*zip(*rows, strict=True))
        if is_immediate:
            await submissions.insert_now(conn, tenant_id, new, due_at=now)
        else:
            await submissions.insert_later(conn, tenant_id, new)


def build_submission_model(draft: CheckedJob, ids: InternedIds) -> SubmissionModel:
    spec = draft.spec
    return SubmissionModel(
        queue_id=ids.queues[spec.queue],
        kind_id=ids.kinds[spec.kind],
        policy_id=ids.policies[draft.policy_text],
        priority=spec.priority,
        guarantee=spec.policy.guarantee,
        deadline=spec.policy.deadline,
        submitter=draft.origin.submitter,
        address=draft.origin.address,
    )


async def _find_holders(
    conn: Connection,
    drafts: Sequence[CheckedJob],
    keys: Mapping[UUID, str],
    ids: InternedIds,
    now: datetime,
) -> dict[UUID, SubmittedJob]:
    """Return the holder of the unique key of each draft whose key is taken."""
    wanted = [
        NewKeyHolder(
            tenant_id=ids.tenants[draft.spec.tenant],
            job_id=draft.id,
            run_id=_first_run_id(draft, now) if draft.is_immediate else None,
            rule=draft.spec.unique,
            key=keys[draft.id],
        )
        for draft in drafts
        if draft.spec.unique is not None
    ]
    found = await take_job_keys(conn, wanted)
    return {
        id_: SubmittedJob(holder.job_id, holder.run_id, None, is_deduplicated=True)
        for id_, holder in found.items()
    }


async def _check_quotas(
    conn: Connection, drafts: Sequence[CheckedJob], ids: InternedIds, now: datetime
) -> None:
    """Enforce the quotas. Tenants are sorted, because each is locked."""
    for tenant, quotas in sorted(ids.quotas.items()):
        if quotas == NO_QUOTAS:
            continue
        mine = [draft for draft in drafts if draft.spec.tenant == tenant]
        await check_period_quota(
            quotas, (draft.schedule for draft in mine if not draft.is_submission), now
        )
        runs = sum(draft.is_immediate for draft in mine)
        tenant_id = ids.tenants[tenant]
        await check_job_quota(conn, quotas, tenant_id=tenant_id, more=len(mine) - runs)
        if runs:
            await check_run_quota(conn, quotas, tenant_id=tenant_id, more=runs)


async def _hold_calendars(
    conn: Connection, drafts: Sequence[CheckedJob], ids: InternedIds, known: Mapping[str, Calendar]
) -> None:
    for tenant, tenant_id in sorted(ids.tenants.items()):
        mine = [draft.schedule for draft in drafts if draft.spec.tenant == tenant]
        await lock_calendars(conn, tenant_id, mine, known)


def _list_gates(
    drafts: Sequence[CheckedJob], found: Mapping[UUID, SubmittedJob], ids: InternedIds
) -> dict[UUID, list[NewGate]]:
    """Return the gates of each draft that has any."""
    wanted = {}
    for place, draft in enumerate(drafts):
        spec = draft.spec
        if (spec.limits or spec.overlap in SEQUENTIAL_OVERLAPS) and draft.id not in found:
            wanted[draft.id] = _gates_of_draft(place, draft, ids)
    return wanted


def _gates_of_draft(place: int, draft: CheckedJob, ids: InternedIds) -> list[NewGate]:
    spec = draft.spec
    # A submission has a single run, so no overlap is possible.
    overlap = Overlap.ALLOW if draft.is_submission else spec.overlap
    if draft.waits_for_events or (not spec.limits and overlap not in SEQUENTIAL_OVERLAPS):
        return []
    with prefix_errors(f"jobs[{place}]"):
        return build_gates(draft.id, ids.tenants[spec.tenant], overlap, spec.limits, draft.payload)


def build_job_row(draft: CheckedJob, ids: InternedIds, gate_ids: tuple[int, ...]) -> NewJob:
    """Return the row of a job with these gates."""
    spec = draft.spec
    body = draft.interned_schedule(ids.tenants[spec.tenant])
    capped = draft.schedule is not None and draft.schedule.window.max_runs is not None
    return NewJob(
        id=draft.id,
        tenant_id=ids.tenants[spec.tenant],
        name=draft.name or "",
        kind_id=ids.kinds[spec.kind],
        queue_id=ids.queues[spec.queue],
        policy_id=ids.policies[draft.policy_text],
        # The only run is created with the job, like a job whose last tick has fired.
        state=JobState.FINISHED if draft.is_immediate else JobState.ACTIVE,
        priority=spec.priority,
        overlap=spec.overlap,
        keep_first=spec.keep_first,
        when_queue_paused=spec.when_queue_paused,
        guarantee=spec.policy.guarantee,
        schedule=draft.schedule_text,
        schedule_id=None if body is None else ids.schedules[body],
        payload=draft.payload_text,
        labels=draft.labels_text,
        user_id=draft.user_id,
        limits=draft.limits_text,
        gates=gate_ids,
        deadline=spec.policy.deadline,
        tick_at=draft.tick_at,
        fire_at=draft.due_at,
        fired=0 if capped else None,
        graph_id=ids.graph_id_of(draft),
        details=read_details(spec),
    )


def _first_run_id(draft: CheckedJob, now: datetime) -> UUID:
    return draft.id if draft.is_submission else derive_tick_run_id(draft.id, now)


def _first_run(
    draft: CheckedJob, ids: InternedIds, passing: tuple[int, ...], now: datetime
) -> NewRun:
    spec = draft.spec
    template = RunTemplate(
        job_id=draft.id,
        tenant_id=ids.tenants[spec.tenant],
        queue_id=ids.queues[spec.queue],
        kind_id=ids.kinds[spec.kind],
        policy_id=ids.policies[draft.policy_text],
        job_version=1,
        trigger="api",
        priority=spec.priority,
        guarantee=spec.policy.guarantee,
        deadline=spec.policy.deadline,
    )
    return template.build_run(derive_tick_run_id(draft.id, now), due_at=now, gates=passing)


def _exactly_once(drafts: Sequence[CheckedJob]) -> list[ExactlyOnceRequest]:
    """Return the kinds that must support exactly once, each with its position among the jobs."""
    return [
        wanted._replace(field=f"jobs[{place}].{wanted.field}")
        for place, draft in enumerate(drafts)
        for wanted in draft.exactly_once
    ]


def _refuse_twins(drafts: Sequence[CheckedJob]) -> None:
    seen: dict[tuple[str, str], int] = {}
    for place, draft in enumerate(drafts):
        if draft.is_submission:
            continue
        first = seen.setdefault((draft.spec.tenant, draft.name or ""), place)
        if first != place:
            wanted = f"must be unique; jobs[{first}] has the same name"
            raise InvalidInput(f"jobs[{place}].name", draft.name, wanted)


def _unique_keys(drafts: Sequence[CheckedJob]) -> dict[UUID, str]:
    """Return the unique keys of jobs with a rule. Refuse equal keys in one batch."""
    keys: dict[UUID, str] = {}
    seen: dict[tuple[str, str], int] = {}
    for place, draft in enumerate(drafts):
        spec = draft.spec
        if spec.unique is None:
            continue
        with prefix_errors(f"jobs[{place}]"):
            keys[draft.id] = build_job_key(spec.unique, draft.payload)
        first = seen.setdefault((spec.tenant, keys[draft.id]), place)
        if first != place:
            wanted = f"must be unique; jobs[{first}] has the same key"
            raise InvalidInput(f"jobs[{place}].unique.key", keys[draft.id], wanted)
    return keys
