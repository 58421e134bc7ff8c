"""Writes jobs and submissions with their gates, in one transaction. Room: flow/submit.

A thousand of them take as many round trips as two: names, policies, schedules and gates are made in
bulk, each table once. A submission is one row: a run if it is due now, otherwise a row that a
scheduler moves at its instant (docs/adr/0044-submissions.md). A job gets a cursor that a scheduler
finds, and an immediate one its run (S1). What is wrong with one is said by drafting.py.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from rota.contract.job_values import details_of
from rota.core.errors import InvalidInput
from rota.core.guarantees import Wanted
from rota.core.ids import tick_run_id
from rota.core.overlap import ONE_BY_ONE, Overlap
from rota.core.states import JobState
from rota.core.submission import JobSpec, SpecVariant, after, within
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.flow.submit.allowing import UNLIMITED, allow_jobs, allow_periods, allow_runs
from rota.flow.submit.drafting import (
    NO_LABELS,
    UNKNOWN_ORIGIN,
    Draft,
    Drafting,
    Origin,
    gates_of,
    is_costly,
)
from rota.flow.submit.going_by import hold_calendars
from rota.flow.submit.guarantees import refuse_incapable_kinds
from rota.flow.submit.interned import Ids, Interned, intern
from rota.flow.submit.unique import NewHolder, find_jobs, key_of_job
from rota.store import gates, jobs, live_runs, submissions
from rota.store.driver import Connection
from rota.store.gates import NewGate
from rota.store.jobs import NewJob
from rota.store.live_runs import NewRun
from rota.store.submissions import NewSubmissions, SubmissionModel
from rota.store.threads import compute_in_thread
from rota.store.transaction import joined

Passing = tuple[int, ...]


class Submitted(NamedTuple):
    """A job or a submission that was written: its first run if it has one already, and its first
    tick. Or the one that holds its unique key, which is `deduplicated`. The run of a submission has
    the id of the submission.
    """

    job_id: UUID
    run_id: UUID | None
    first_tick: datetime | None
    deduplicated: bool = False
    is_submission: bool = False


async def submit(
    conn: Connection,
    specs: Sequence[JobSpec],
    *,
    now: datetime,
    new_id: Callable[[], UUID],
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    origin: Origin = UNKNOWN_ORIGIN,
) -> list[Submitted]:
    """Write all of these or none. `now` is the database's clock, `new_id` draws ids."""
    drafts = await draft_all(Drafting(now, calendars, origin=origin), specs, new_id)
    return await submit_drafts(conn, drafts, now=now, calendars=calendars)


async def define(
    conn: Connection,
    specs: Sequence[JobSpec],
    *,
    now: datetime,
    new_id: Callable[[], UUID],
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> list[Submitted]:
    """The same, but each of them becomes a job, one-time schedules included."""
    drafts = await draft_all(Drafting(now, calendars, only_definitions=True), specs, new_id)
    return await submit_drafts(conn, drafts, now=now, calendars=calendars)


async def draft_all(
    drafting: Drafting, asked: Sequence[JobSpec | SpecVariant], new_id: Callable[[], UUID]
) -> list[Draft]:
    """Check all of them; `InvalidInput` says what is wrong with which."""

    def draft_each() -> list[Draft]:
        drafts: list[Draft] = []
        draft_variant = drafting.draft_variant
        with after(drafts):
            for each in asked:
                if isinstance(each, SpecVariant):
                    drafts.append(draft_variant(each, new_id))
                else:
                    drafts.append(drafting.draft(each, new_id()))
        return drafts

    specs = {id(each): each for each in map(_spec_of, asked)}.values()
    if any(is_costly(spec.schedule) for spec in specs):
        return await compute_in_thread(draft_each)
    return draft_each()


def _spec_of(asked: JobSpec | SpecVariant) -> JobSpec:
    return asked.spec if isinstance(asked, SpecVariant) else asked


async def submit_drafts(
    conn: Connection,
    handed_in: Sequence[Draft],
    *,
    now: datetime,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    interned: Interned | None = None,
    says_which: bool = True,
) -> list[Submitted]:
    """Write what was found good by itself. With `says_which` the error tells which name is taken,
    for a round trip more.
    """
    definitions = [each for each in handed_in if not each.is_submission]
    _refuse_twins(handed_in)
    keys = _unique_keys(handed_in)
    async with joined(conn):
        await refuse_incapable_kinds(conn, _exactly_once(handed_in))
        ids = await intern(conn, handed_in, interned or Interned())
        found = await _found(conn, handed_in, keys, ids, now) if keys else {}
        wanted = _wanted_gates(handed_in, found, ids)
        drafts = [each for each in handed_in if each.id not in found] if found else handed_in
        await _allow(conn, drafts, ids, now)
        await _hold_calendars(conn, drafts, ids, calendars)
        if says_which and len(definitions) > 1:
            taken = [
                (ids.tenants[each.spec.tenant], each.name or "")
                for each in definitions
                if each.id not in found
            ]
            await jobs.refuse_taken(conn, taken)
        if drafts:
            await _write(conn, drafts, await _put_gates(conn, wanted), ids, now)
    made = [_submitted(each, now) for each in handed_in]
    return [found.get(each.job_id, each) for each in made] if found else made


def _submitted(each: Draft, now: datetime) -> Submitted:
    run_id = _first_run_id(each, now) if each.tick_at is None and each.is_immediate else None
    return Submitted(each.id, run_id, each.tick_at, False, each.is_submission)


async def _put_gates(
    conn: Connection, wanted: Mapping[UUID, Sequence[NewGate]]
) -> dict[UUID, Passing]:
    """Make the gates that drafts pass; a draft that passes none is left out."""
    made = await gates.put_many(conn, [gate for mine in wanted.values() for gate in mine])
    return {
        id_: tuple(made[gate.tenant_id, gate.key] for gate in mine) for id_, mine in wanted.items()
    }


async def _write(
    conn: Connection,
    drafts: Sequence[Draft],
    passing: Mapping[UUID, Passing],
    ids: Ids,
    now: datetime,
) -> None:
    """Write submissions, jobs, and the runs of the jobs that have one at once."""
    await _write_submissions(conn, drafts, passing, ids, now)
    definitions = [each for each in drafts if not each.is_submission]
    if definitions:
        new = [new_job(each, ids, passing.get(each.id, ())) for each in definitions]
        await jobs.insert_many(conn, new)
    runs = [
        _first_run(each, ids, passing.get(each.id, ()), now)
        for each in definitions
        if each.is_immediate
    ]
    if runs:
        await live_runs.insert_many(conn, runs)


async def _write_submissions(
    conn: Connection,
    drafts: Sequence[Draft],
    passing: Mapping[UUID, Passing],
    ids: Ids,
    now: datetime,
) -> None:
    """Write the submissions among these, one statement a table and tenant."""
    models: dict[tuple[int, int], SubmissionModel] = {}
    batches: dict[tuple[str, bool], list[tuple[Any, ...]]] = {}
    for each in drafts:
        if not each.is_submission:
            continue
        spec, due_at = each.spec, each.due_at
        place = id(spec), id(each.origin)
        model = models.get(place)
        if model is None:
            model = models[place] = submission_model(each, ids)
        row = (
            each.id.hex,
            now if due_at is None else due_at,
            model,
            each.name,
            each.payload_text,
            None if each.labels_text == NO_LABELS else each.labels_text,
            each.user_id,
            live_runs.array_text(passing.get(each.id, ())) if passing else None,
        )
        batches.setdefault((spec.tenant, due_at is None), []).append(row)
    for (tenant, is_immediate), rows in batches.items():
        tenant_id, new = ids.tenants[tenant], NewSubmissions(*zip(*rows, strict=True))
        if is_immediate:
            await submissions.insert_now(conn, tenant_id, new, due_at=now)
        else:
            await submissions.insert_later(conn, tenant_id, new)


def submission_model(each: Draft, ids: Ids) -> SubmissionModel:
    spec = each.spec
    return SubmissionModel(
        queue_id=ids.queues[spec.queue],
        kind_id=ids.kinds[spec.kind],
        policy_id=ids.policies[each.policy_text],
        priority=spec.priority,
        guarantee=spec.policy.guarantee,
        deadline=spec.policy.deadline,
        submitter=each.origin.submitter,
        address=each.origin.address,
    )


async def _found(
    conn: Connection, drafts: Sequence[Draft], keys: Mapping[UUID, str], ids: Ids, now: datetime
) -> dict[UUID, Submitted]:
    """The jobs whose unique key somebody holds, each with who that is."""
    wanted = [
        NewHolder(
            tenant_id=ids.tenants[each.spec.tenant],
            job_id=each.id,
            run_id=_first_run_id(each, now) if each.is_immediate else None,
            rule=each.spec.unique,
            key=keys[each.id],
        )
        for each in drafts
        if each.spec.unique is not None
    ]
    found = await find_jobs(conn, wanted)
    return {
        id_: Submitted(holder.job_id, holder.run_id, None, deduplicated=True)
        for id_, holder in found.items()
    }


async def _allow(conn: Connection, drafts: Sequence[Draft], ids: Ids, now: datetime) -> None:
    """Hold what is asked for against the quotas; tenants in one order, because each is locked."""
    for tenant, quotas in sorted(ids.quotas.items()):
        if quotas == UNLIMITED:
            continue
        mine = [each for each in drafts if each.spec.tenant == tenant]
        await allow_periods(quotas, (each.schedule for each in mine if not each.is_submission), now)
        runs = sum(each.is_immediate for each in mine)
        tenant_id = ids.tenants[tenant]
        await allow_jobs(conn, quotas, tenant_id=tenant_id, more=len(mine) - runs)
        if runs:
            await allow_runs(conn, quotas, tenant_id=tenant_id, more=runs)


async def _hold_calendars(
    conn: Connection, drafts: Sequence[Draft], ids: Ids, known: Mapping[str, Calendar]
) -> None:
    for tenant, tenant_id in sorted(ids.tenants.items()):
        mine = [each.schedule for each in drafts if each.spec.tenant == tenant]
        await hold_calendars(conn, tenant_id, mine, known)


def _wanted_gates(
    drafts: Sequence[Draft], found: Mapping[UUID, Submitted], ids: Ids
) -> dict[UUID, list[NewGate]]:
    """The gates of those that pass any."""
    wanted = {}
    for place, each in enumerate(drafts):
        spec = each.spec
        if (spec.limits or spec.overlap in ONE_BY_ONE) and each.id not in found:
            wanted[each.id] = _gates(place, each, ids)
    return wanted


def _gates(place: int, each: Draft, ids: Ids) -> list[NewGate]:
    spec = each.spec
    # The only run of a submission has nothing to overlap with.
    overlap = Overlap.ALLOW if each.is_submission else spec.overlap
    if each.waits_for_events or (not spec.limits and overlap not in ONE_BY_ONE):
        return []
    with within(f"jobs[{place}]"):
        return gates_of(each.id, ids.tenants[spec.tenant], overlap, spec.limits, each.payload)


def new_job(each: Draft, ids: Ids, passing: tuple[int, ...]) -> NewJob:
    """The row of a job that passes these gates."""
    spec = each.spec
    body = each.interned_schedule(ids.tenants[spec.tenant])
    capped = each.schedule is not None and each.schedule.window.max_runs is not None
    return NewJob(
        id=each.id,
        tenant_id=ids.tenants[spec.tenant],
        name=each.name or "",
        kind_id=ids.kinds[spec.kind],
        queue_id=ids.queues[spec.queue],
        policy_id=ids.policies[each.policy_text],
        # Its only run is made with it: like a job whose last tick was fired.
        state=JobState.FINISHED if each.is_immediate else JobState.ACTIVE,
        priority=spec.priority,
        overlap=spec.overlap,
        keep_first=spec.keep_first,
        when_queue_paused=spec.when_queue_paused,
        guarantee=spec.policy.guarantee,
        schedule=each.schedule_text,
        schedule_id=None if body is None else ids.schedules[body],
        payload=each.payload_text,
        labels=each.labels_text,
        user_id=each.user_id,
        limits=each.limits_text,
        gates=passing,
        deadline=spec.policy.deadline,
        tick_at=each.tick_at,
        fire_at=each.due_at,
        fired=0 if capped else None,
        graph_id=ids.graph(each),
        details=details_of(spec),
    )


def _first_run_id(each: Draft, now: datetime) -> UUID:
    return each.id if each.is_submission else tick_run_id(each.id, now)


def _first_run(each: Draft, ids: Ids, passing: tuple[int, ...], now: datetime) -> NewRun:
    spec = each.spec
    deadline = spec.policy.deadline
    return NewRun(
        id=tick_run_id(each.id, now),
        job_id=each.id,
        scheduled_at=now,
        due_at=now,
        deadline_at=None if deadline is None else now + deadline,
        tenant_id=ids.tenants[spec.tenant],
        queue_id=ids.queues[spec.queue],
        kind_id=ids.kinds[spec.kind],
        policy_id=ids.policies[each.policy_text],
        priority=spec.priority,
        guarantee=spec.policy.guarantee,
        gates=passing,
    )


def _exactly_once(drafts: Sequence[Draft]) -> list[Wanted]:
    """The kinds that must be able to be exactly once, each with its place among the jobs."""
    return [
        wanted._replace(field=f"jobs[{place}].{wanted.field}")
        for place, each in enumerate(drafts)
        for wanted in each.exactly_once
    ]


def _refuse_twins(drafts: Sequence[Draft]) -> None:
    seen: dict[tuple[str, str], int] = {}
    for place, each in enumerate(drafts):
        if each.is_submission:
            continue
        first = seen.setdefault((each.spec.tenant, each.name or ""), place)
        if first != place:
            wanted = f"a name that jobs[{first}] does not have"
            raise InvalidInput(f"jobs[{place}].name", each.name, wanted)


def _unique_keys(drafts: Sequence[Draft]) -> dict[UUID, str]:
    """The unique keys of the jobs that have a rule; two of one batch cannot have the same."""
    keys: dict[UUID, str] = {}
    seen: dict[tuple[str, str], int] = {}
    for place, each in enumerate(drafts):
        spec = each.spec
        if spec.unique is None:
            continue
        with within(f"jobs[{place}]"):
            keys[each.id] = key_of_job(spec.unique, each.payload)
        first = seen.setdefault((spec.tenant, keys[each.id]), place)
        if first != place:
            wanted = f"a key that jobs[{first}] does not have"
            raise InvalidInput(f"jobs[{place}].unique.key", keys[each.id], wanted)
    return keys
