"""Writes jobs with their cursors, gates and first runs, in one transaction. Room: flow/submit.

A thousand jobs take as many round trips as two: names, policies, schedules and gates are made in
bulk, each table once. An immediate job gets its run together with the job (S1); the others get a
cursor that a scheduler finds. What is wrong with a job is said by drafting.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput
from rota.core.guarantees import Wanted
from rota.core.ids import tick_run_id
from rota.core.overlap import ONE_BY_ONE
from rota.core.quotas import Quotas
from rota.core.states import JobState
from rota.core.submission import JobSpec, after, within
from rota.core.time.calendars import Calendar
from rota.core.time.planning import NO_CALENDARS
from rota.flow.submit.allowing import UNLIMITED, allow_jobs, allow_period, allow_runs, quotas_of
from rota.flow.submit.drafting import Draft, Drafting, gates_of
from rota.flow.submit.going_by import hold_calendars
from rota.flow.submit.graph_jobs import graph_ids
from rota.flow.submit.guarantees import refuse_incapable_kinds
from rota.flow.submit.interned import Interned
from rota.flow.submit.unique import NewHolder, find_jobs, key_of_job
from rota.store import gates, jobs, live_runs, names
from rota.store.driver import Connection
from rota.store.gates import NewGate
from rota.store.jobs import NewJob
from rota.store.live_runs import NewRun
from rota.store.transaction import joined


class Submitted(NamedTuple):
    """A job that was written: its first run if it has one already, and its first tick. Or the one
    that holds its unique key, which is `deduplicated`.
    """

    job_id: UUID
    run_id: UUID | None
    first_tick: datetime | None
    deduplicated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """What the names and bodies of a batch were interned to, and what its tenants may have."""

    tenants: dict[str, int]
    quotas: dict[str, Quotas]
    kinds: dict[str, int]
    queues: dict[str, int]
    policies: dict[str, int]
    schedules: dict[str, int]
    graphs: dict[tuple[int, str], int]

    def graph(self, each: Draft) -> int | None:
        if each.graph_text is None:
            return None
        return self.graphs[self.tenants[each.spec.tenant], each.graph_text]


async def submit(
    conn: Connection,
    specs: Sequence[JobSpec],
    *,
    now: datetime,
    new_id: Callable[[], UUID],
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
) -> list[Submitted]:
    """Write all of these jobs or none. `now` is the database's clock, `new_id` draws ids."""
    drafting = Drafting(now, calendars)
    handed_in: list[Draft] = []
    with after(handed_in):
        for spec in specs:
            handed_in.append(drafting.draft(spec, new_id()))  # noqa: PERF401 — its length tells
    return await submit_drafts(conn, handed_in, now=now, calendars=calendars)


async def submit_drafts(
    conn: Connection,
    handed_in: Sequence[Draft],
    *,
    now: datetime,
    calendars: Mapping[str, Calendar] = NO_CALENDARS,
    interned: Interned | None = None,
    says_which: bool = True,
) -> list[Submitted]:
    """The same for jobs that were found good by themselves. With `says_which` the error tells which
    name is taken, for a round trip more.
    """
    _refuse_twins(handed_in)
    keys = _unique_keys(handed_in)
    async with joined(conn):
        await refuse_incapable_kinds(conn, _exactly_once(handed_in))
        ids = await intern(conn, handed_in, interned or Interned())
        found = await _found(conn, handed_in, keys, ids, now) if keys else {}
        wanted = {
            each.id: _gates(place, each, ids)
            for place, each in enumerate(handed_in)
            if each.id not in found
        }
        drafts = [each for each in handed_in if each.id in wanted]
        await _allow(conn, drafts, ids, now)
        await _hold_calendars(conn, drafts, ids, calendars)
        if says_which and len(drafts) > 1:
            taken = [(ids.tenants[each.spec.tenant], each.spec.name) for each in drafts]
            await jobs.refuse_taken(conn, taken)
        first_runs = await _write(conn, drafts, wanted, ids, now) if drafts else {}
    return [
        found.get(each.id)
        or Submitted(
            each.id, first_runs.get(each.id), None if each.first is None else each.first.tick.at
        )
        for each in handed_in
    ]


async def _write(
    conn: Connection,
    drafts: Sequence[Draft],
    wanted: Mapping[UUID, list[NewGate]],
    ids: Ids,
    now: datetime,
) -> dict[UUID, UUID]:
    """Write gates, jobs and first runs; return the first runs of the jobs that have one."""
    made = await gates.put_many(conn, [gate for each in drafts for gate in wanted[each.id]])
    passing = [tuple(made[gate.tenant_id, gate.key] for gate in wanted[each.id]) for each in drafts]
    new = [new_job(each, ids, mine) for each, mine in zip(drafts, passing, strict=True)]
    await jobs.insert_many(conn, new)
    runs = [
        _first_run(each, ids, mine, now)
        for each, mine in zip(drafts, passing, strict=True)
        if each.is_immediate
    ]
    if runs:
        await live_runs.insert_many(conn, runs)
    return {run.job_id: run.id for run in runs}


async def _found(
    conn: Connection, drafts: Sequence[Draft], keys: Mapping[UUID, str], ids: Ids, now: datetime
) -> dict[UUID, Submitted]:
    """The jobs whose unique key somebody holds, each with who that is."""
    wanted = [
        NewHolder(
            tenant_id=ids.tenants[each.spec.tenant],
            job_id=each.id,
            run_id=tick_run_id(each.id, now) if each.is_immediate else None,
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


async def intern(conn: Connection, drafts: Sequence[Draft], known: Interned) -> Ids:
    """The ids of what these drafts name. The tables always in this order, and each in the order of
    its names: no deadlock (F39).
    """
    specs = [each.spec for each in drafts]
    found = await names.tenants(conn, [spec.tenant for spec in specs])
    schedules = [each.interned_schedule(found[each.spec.tenant].id) for each in drafts]
    return Ids(
        tenants={name: row.id for name, row in found.items()},
        quotas={name: quotas_of(row.quotas) for name, row in found.items()},
        kinds=await known.ids(conn, "kind", [spec.kind for spec in specs], intern=names.kind_ids),
        queues=await known.ids(
            conn, "queue", [spec.queue for spec in specs], intern=names.queue_ids
        ),
        policies=await known.ids(
            conn, "policy", [each.policy_text for each in drafts], intern=names.policy_ids
        ),
        schedules=await names.schedule_ids(conn, [body for body in schedules if body]),
        graphs=await graph_ids(
            conn,
            [(found[each.spec.tenant].id, each.graph_text) for each in drafts if each.graph_text],
        ),
    )


async def _allow(conn: Connection, drafts: Sequence[Draft], ids: Ids, now: datetime) -> None:
    """Hold what is asked for against the quotas; tenants in one order, because each is locked."""
    for tenant, quotas in sorted(ids.quotas.items()):
        if quotas == UNLIMITED:
            continue
        mine = [each for each in drafts if each.spec.tenant == tenant]
        for each in mine:
            allow_period(quotas, each.schedule, now)
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


def _gates(place: int, each: Draft, ids: Ids) -> list[NewGate]:
    spec = each.spec
    if each.waits_for_events or (not spec.limits and spec.overlap not in ONE_BY_ONE):
        return []
    with within(f"jobs[{place}]"):
        return gates_of(each.id, ids.tenants[spec.tenant], spec.overlap, spec.limits, spec.payload)


def new_job(each: Draft, ids: Ids, passing: tuple[int, ...]) -> NewJob:
    """The row of a job that passes these gates."""
    spec, first = each.spec, each.first
    body = each.interned_schedule(ids.tenants[spec.tenant])
    capped = each.schedule is not None and each.schedule.window.max_runs is not None
    return NewJob(
        id=each.id,
        tenant_id=ids.tenants[spec.tenant],
        name=spec.name,
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
        user_id=spec.user_id,
        limits=each.limits_text,
        gates=passing,
        deadline=spec.policy.deadline,
        tick_at=None if first is None else first.tick.at,
        fire_at=None if first is None else first.due_at,
        fired=0 if capped else None,
        graph_id=ids.graph(each),
    )


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
        first = seen.setdefault((each.spec.tenant, each.spec.name), place)
        if first != place:
            wanted = f"a name that jobs[{first}] does not have"
            raise InvalidInput(f"jobs[{place}].name", each.spec.name, wanted)


def _unique_keys(drafts: Sequence[Draft]) -> dict[UUID, str]:
    """The unique keys of the jobs that have a rule; two of one batch cannot have the same."""
    keys: dict[UUID, str] = {}
    seen: dict[tuple[str, str], int] = {}
    for place, each in enumerate(drafts):
        spec = each.spec
        if spec.unique is None:
            continue
        with within(f"jobs[{place}]"):
            keys[each.id] = key_of_job(spec.unique, spec.payload)
        first = seen.setdefault((spec.tenant, keys[each.id]), place)
        if first != place:
            wanted = f"a key that jobs[{first}] does not have"
            raise InvalidInput(f"jobs[{place}].unique.key", keys[each.id], wanted)
    return keys
