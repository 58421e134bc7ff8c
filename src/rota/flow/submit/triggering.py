"""Runs of existing jobs that somebody asks for: one now, or many at once. Room: flow/submit.

`run_now` obeys the job's overlap policy unless it is told otherwise, and locks the job to do so.
`submit_runs` is the bulk door: it locks nothing and asks no overlap policy, because whoever hands
in a thousand runs means a thousand; the limits and the order of the job's gates hold all the same.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.binding import payload_text
from rota.core.errors import InvalidInput, NotFound
from rota.core.limits import Limit
from rota.core.overlap import ONE_BY_ONE, Overlap
from rota.core.priority import parse_priority
from rota.core.submission import RunSpec, within
from rota.flow.submit.allowing import allow_runs, allow_runs_of, quotas_of
from rota.flow.submit.drafting import gates_of
from rota.flow.submit.placing import limits_of, place, policy_of
from rota.flow.submit.unique import Asked, Handed, hand_in, key_of
from rota.store import gates, jobs, live_runs
from rota.store.driver import Connection
from rota.store.gates import NewGate
from rota.store.jobs import Job
from rota.store.live_runs import NewRun
from rota.store.transaction import transaction

# What one statement inserts: larger ones are not faster, and hold their locks longer.
BATCH: Final = 1_000
NO_GATES: Final[list[NewGate]] = []

Gates = tuple[int, ...]


class Triggered(NamedTuple):
    """A run that was asked for; `refused` is the code of why there is none."""

    run_id: UUID
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mould:
    """What all runs of one job have in common, read once."""

    job: Job
    deadline: timedelta | None
    limits: list[Limit]
    trigger: str
    now: datetime

    @staticmethod
    def of(job: Job, *, trigger: str, now: datetime) -> "_Mould":
        deadline = policy_of(job).deadline
        return _Mould(job=job, deadline=deadline, limits=limits_of(job), trigger=trigger, now=now)

    def gates(self, spec: RunSpec) -> list[NewGate]:
        job = self.job
        if not self.limits and job.overlap not in ONE_BY_ONE:
            return []
        payload = json.loads(job.payload or "null") if spec.payload is None else spec.payload
        return gates_of(job.id, job.tenant_id, job.overlap, self.limits, payload)

    def unique_key(self, spec: RunSpec) -> str:
        own = spec.unique is None or spec.payload is not None
        return key_of(spec.unique, spec.payload if own else json.loads(self.job.payload or "null"))

    def run(self, spec: RunSpec, *, id_: UUID, payload: str | None, through: Gates) -> NewRun:
        job, due_at = self.job, spec.due_at or self.now
        return NewRun(
            id=id_,
            job_id=job.id,
            scheduled_at=due_at,
            due_at=due_at,
            deadline_at=None if self.deadline is None else due_at + self.deadline,
            tenant_id=job.tenant_id,
            queue_id=job.queue_id,
            kind_id=job.kind_id,
            policy_id=job.policy_id,
            job_version=job.version,
            trigger=self.trigger,
            priority=job.priority if spec.priority is None else parse_priority(spec.priority),
            guarantee=job.guarantee,
            payload=payload,
            gates=through,
        )


async def run_now(
    conn: Connection,
    spec: RunSpec,
    *,
    now: datetime,
    new_id: Callable[[], UUID],
    overlap: Overlap | None = None,
) -> Triggered:
    """Make a run of a job past its schedule (S8); `overlap` overrides the job's policy."""
    if spec.unique is not None:
        # What the overlap policy refuses must not hold a key, and what it ends must not keep one.
        raise InvalidInput("unique", spec.unique.key, "a run that is submitted, or no rule")
    payload = payload_text(spec.payload)
    id_ = spec.id or new_id()
    async with transaction(conn):
        job = await jobs.lock(conn, spec.job_id)
        await allow_runs_of(conn, [job])
        job = job._replace(version=await jobs.touch(conn, job.id))
        mould = _Mould.of(job, trigger="manual", now=now)
        (through,) = await _passing(conn, [mould.gates(spec)])
        run = mould.run(spec, id_=id_, payload=payload, through=through)
        refused = await place(conn, job, [run], overlap=overlap)
    return Triggered(id_, refused.get(id_))


async def submit_runs(
    conn: Connection, specs: Sequence[RunSpec], *, now: datetime, new_id: Callable[[], UUID]
) -> list[UUID]:
    """Make runs of existing jobs, all or none; return the ids that were not made before."""
    if any(spec.unique for spec in specs):
        answers = await submit_unique(conn, specs, now=now, new_id=new_id)
        return [answer.run_id for answer in answers if answer.made]
    if len(specs) == 1 and specs[0].id is None:
        id_ = new_id()
        if await _submit_one(conn, specs[0], id_=id_, now=now):
            return [id_]
    known = await jobs.read(conn, list({spec.job_id for spec in specs}))
    moulds = {id_: _Mould.of(job, trigger="api", now=now) for id_, job in known.items()}
    payloads, wanted = _checked(specs, moulds)
    await _allow(conn, specs, known)

    def cast(passing: Sequence[Gates], part: slice) -> list[NewRun]:
        parts = zip(specs[part], payloads[part], passing[part], strict=True)
        return [
            moulds[spec.job_id].run(spec, id_=spec.id or new_id(), payload=payload, through=through)
            for spec, payload, through in parts
        ]

    # Nearly always one statement will do: ids that are drawn now were never made before.
    if len(specs) <= BATCH and not any(wanted) and not any(spec.id for spec in specs):
        passing: list[Gates] = [() for _ in specs]
        return await live_runs.insert_new(conn, cast(passing, slice(None)))
    async with transaction(conn):
        passing = await _passing(conn, wanted)
        made: list[UUID] = []
        for start in range(0, len(specs), BATCH):
            made += await live_runs.insert_many(conn, cast(passing, slice(start, start + BATCH)))
        await _allow_made(conn, specs, known, made)
    return made


async def submit_unique(
    conn: Connection, specs: Sequence[RunSpec], *, now: datetime, new_id: Callable[[], UUID]
) -> list[Handed]:
    """Make runs of existing jobs, all or none, with an answer for each: a run whose key is held is
    not made, and the answer names the one that holds it (E16).
    """
    known = await jobs.read(conn, list({spec.job_id for spec in specs}))
    moulds = {id_: _Mould.of(job, trigger="api", now=now) for id_, job in known.items()}
    payloads, wanted = _checked(specs, moulds)
    await _allow(conn, specs, known)
    asked: list[Asked] = []
    async with transaction(conn):
        passing = await _passing(conn, wanted)
        for n, (spec, payload, through) in enumerate(zip(specs, payloads, passing, strict=True)):
            mould = moulds[spec.job_id]
            run = mould.run(spec, id_=spec.id or new_id(), payload=payload, through=through)
            with within(f"runs[{n}]"):
                asked.append(Asked(run, spec.unique, mould.unique_key(spec)))
        answers = await hand_in(conn, asked)
        await _allow_made(conn, specs, known, [each.run_id for each in answers if each.made])
    return answers


async def _allow(conn: Connection, specs: Sequence[RunSpec], known: Mapping[UUID, Job]) -> None:
    """Hold the runs that are new for sure against the quotas, before anything is written."""
    new = [spec for spec in specs if spec.id is None and spec.unique is None]
    await allow_runs_of(conn, [known[spec.job_id] for spec in new])


async def _allow_made(
    conn: Connection, specs: Sequence[RunSpec], known: Mapping[UUID, Job], made: Sequence[UUID]
) -> None:
    """Hold against the quotas what nobody knew before: which ids and unique keys were new. Asking
    again for what is there is not refused.
    """
    if made and any(spec.id is not None or spec.unique is not None for spec in specs):
        for tenant_id, quotas in {(job.tenant_id, job.quotas) for job in known.values()}:
            await allow_runs(conn, quotas_of(quotas), tenant_id=tenant_id, more=0)


async def _submit_one(conn: Connection, spec: RunSpec, *, id_: UUID, now: datetime) -> bool:
    """The short way for a run that needs nothing but its job."""
    with within("runs[0]"):
        payload = payload_text(spec.payload)
        priority = None if spec.priority is None else parse_priority(spec.priority)
    return await live_runs.insert_one(
        conn,
        id_=id_,
        job_id=spec.job_id,
        due_at=spec.due_at or now,
        trigger="api",
        priority=priority,
        payload=payload,
    )


def _checked(
    specs: Sequence[RunSpec], moulds: Mapping[UUID, _Mould]
) -> tuple[list[str | None], list[list[NewGate]]]:
    payloads: list[str | None] = []
    wanted: list[list[NewGate]] = []
    for place_, spec in enumerate(specs):
        mould = moulds.get(spec.job_id)
        if mould is None:
            raise NotFound("job", str(spec.job_id))
        if spec.payload is None and not mould.limits and mould.job.overlap not in ONE_BY_ONE:
            payloads.append(None)
            wanted.append(NO_GATES)
            continue
        with within(f"runs[{place_}]"):
            payloads.append(payload_text(spec.payload))
            wanted.append(mould.gates(spec))
    return payloads, wanted


async def _passing(conn: Connection, wanted: Sequence[Sequence[NewGate]]) -> list[Gates]:
    """The ids of the gates of each run, made if they are new."""
    made = await gates.put_many(conn, [gate for each in wanted for gate in each])
    return [tuple([made[gate.tenant_id, gate.key] for gate in each]) for each in wanted]
