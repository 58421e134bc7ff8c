"""Creates runs of existing jobs on request: one now, or many at once.

`run_now` applies the job's overlap policy, which the caller can override, and locks the job.
`submit_runs` creates runs in bulk: it locks nothing and does not apply the overlap policy, because
a caller who submits a thousand runs wants a thousand. The limits and the order of the job's gates
still apply.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput, NotFound
from rota.core.lanes import parse_priority
from rota.core.limits import JobLimit
from rota.core.overlap import SEQUENTIAL_OVERLAPS, Overlap
from rota.core.secret_references import encode_payload
from rota.core.submissions import RunSpec, prefix_errors
from rota.engine.submission.drafts import build_gates
from rota.engine.submission.overlap_decision import create_runs_with_overlap
from rota.engine.submission.quotas import check_run_quota, check_run_quota_of_jobs, read_quotas
from rota.engine.submission.unique_submissions import (
    RunWithKey,
    UniqueResult,
    build_key,
    create_unique_runs,
)
from rota.store import gates, jobs, live_runs
from rota.store.driver import Connection
from rota.store.gates import NewGate
from rota.store.jobs import StoredJob
from rota.store.live_runs import NewRun
from rota.store.run_templates import RunTemplate, read_job_limits
from rota.store.transaction import transaction

# Runs per insert statement. Larger statements are not faster and hold their locks longer.
INSERT_BATCH_MAX: Final = 1_000
NO_GATES: Final[list[NewGate]] = []

GateIds = tuple[int, ...]


class TriggeredRun(NamedTuple):
    """A requested run. `refused` is the code of the refusal, if it was not created."""

    run_id: UUID
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _RequestedRuns:
    """What all requested runs of one job share."""

    job: StoredJob
    limits: tuple[JobLimit, ...]
    template: RunTemplate
    now: datetime

    @staticmethod
    def of(job: StoredJob, *, trigger: str, now: datetime) -> "_RequestedRuns":
        return _RequestedRuns(
            job=job,
            limits=read_job_limits(job.limits),
            template=RunTemplate.from_job(job, trigger=trigger),
            now=now,
        )

    def gates(self, spec: RunSpec) -> list[NewGate]:
        job = self.job
        if not self.limits and job.overlap not in SEQUENTIAL_OVERLAPS:
            return []
        payload = json.loads(job.payload or "null") if spec.payload is None else spec.payload
        return build_gates(job.id, job.tenant_id, job.overlap, self.limits, payload)

    def unique_key(self, spec: RunSpec) -> str:
        own = spec.unique is None or spec.payload is not None
        return build_key(
            spec.unique, spec.payload if own else json.loads(self.job.payload or "null")
        )

    def run(self, spec: RunSpec, *, id_: UUID, payload: str | None, through: GateIds) -> NewRun:
        return self.template.build_run(
            id_,
            due_at=spec.due_at or self.now,
            priority=None if spec.priority is None else parse_priority(spec.priority),
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
) -> TriggeredRun:
    """Run a job now, regardless of its schedule (S8). `overlap` overrides the job's policy."""
    if spec.unique is not None:
        # A run that the overlap policy refuses or ends must not hold a key.
        wanted = "`run now` does not support unique keys; submit the run, or remove the rule"
        raise InvalidInput("unique", spec.unique.key, wanted)
    payload = encode_payload(spec.payload)
    id_ = spec.id or new_id()
    async with transaction(conn):
        job = await jobs.lock_job(conn, spec.job_id)
        await check_run_quota_of_jobs(conn, [job])
        job = job._replace(version=await jobs.raise_version(conn, job.id))
        requested = _RequestedRuns.of(job, trigger="manual", now=now)
        (through,) = await _put_gates(conn, [requested.gates(spec)])
        run = requested.run(spec, id_=id_, payload=payload, through=through)
        refused = await create_runs_with_overlap(conn, job, [run], overlap=overlap)
    return TriggeredRun(id_, refused.get(id_))


async def submit_runs(
    conn: Connection, specs: Sequence[RunSpec], *, now: datetime, new_id: Callable[[], UUID]
) -> list[UUID]:
    """Create runs of existing jobs, all or none; return the ids that did not exist before."""
    if any(spec.unique for spec in specs):
        answers = await submit_unique(conn, specs, now=now, new_id=new_id)
        return [answer.run_id for answer in answers if answer.is_new]
    if len(specs) == 1 and specs[0].id is None:
        id_ = new_id()
        if await _submit_one(conn, specs[0], id_=id_, now=now):
            return [id_]
    known = await jobs.read_jobs(conn, list({spec.job_id for spec in specs}))
    requested_by_job = _read_requested(known, now)
    payloads, wanted = _check_specs(specs, requested_by_job)
    await _check_quotas(conn, specs, known)

    def build_runs(passing: Sequence[GateIds], part: slice) -> list[NewRun]:
        parts = zip(specs[part], payloads[part], passing[part], strict=True)
        return [
            requested_by_job[spec.job_id].run(
                spec, id_=spec.id or new_id(), payload=payload, through=through
            )
            for spec, payload, through in parts
        ]

    # Usually one statement is enough: newly generated ids cannot exist already.
    if len(specs) <= INSERT_BATCH_MAX and not any(wanted) and not any(spec.id for spec in specs):
        passing: list[GateIds] = [() for _ in specs]
        return await live_runs.insert_new_runs(conn, build_runs(passing, slice(None)))
    async with transaction(conn):
        passing = await _put_gates(conn, wanted)
        created: list[UUID] = []
        for start in range(0, len(specs), INSERT_BATCH_MAX):
            created += await live_runs.insert_runs(
                conn, build_runs(passing, slice(start, start + INSERT_BATCH_MAX))
            )
        await _check_quotas_after(conn, specs, known, created)
    return created


async def submit_unique(
    conn: Connection, specs: Sequence[RunSpec], *, now: datetime, new_id: Callable[[], UUID]
) -> list[UniqueResult]:
    """Create runs of existing jobs, all or none, and return a result for each. A run whose unique
    key is held is not created; its result names the holder (E16).
    """
    known = await jobs.read_jobs(conn, list({spec.job_id for spec in specs}))
    requested_by_job = _read_requested(known, now)
    payloads, wanted = _check_specs(specs, requested_by_job)
    await _check_quotas(conn, specs, known)
    runs: list[RunWithKey] = []
    async with transaction(conn):
        passing = await _put_gates(conn, wanted)
        for n, (spec, payload, through) in enumerate(zip(specs, payloads, passing, strict=True)):
            requested = requested_by_job[spec.job_id]
            run = requested.run(spec, id_=spec.id or new_id(), payload=payload, through=through)
            with prefix_errors(f"runs[{n}]"):
                runs.append(RunWithKey(run, spec.unique, requested.unique_key(spec)))
        answers = await create_unique_runs(conn, runs)
        await _check_quotas_after(
            conn, specs, known, [result.run_id for result in answers if result.is_new]
        )
    return answers


def _read_requested(known: Mapping[UUID, StoredJob], now: datetime) -> dict[UUID, _RequestedRuns]:
    return {id_: _RequestedRuns.of(job, trigger="api", now=now) for id_, job in known.items()}


async def _check_quotas(
    conn: Connection, specs: Sequence[RunSpec], known: Mapping[UUID, StoredJob]
) -> None:
    """Check the quotas for runs that are certainly new, before anything is written."""
    new = [spec for spec in specs if spec.id is None and spec.unique is None]
    await check_run_quota_of_jobs(conn, [known[spec.job_id] for spec in new])


async def _check_quotas_after(
    conn: Connection,
    specs: Sequence[RunSpec],
    known: Mapping[UUID, StoredJob],
    made: Sequence[UUID],
) -> None:
    """Check the quotas after the insert, which shows which ids and unique keys are new. Repeated
    requests for existing runs are not refused.
    """
    if made and any(spec.id is not None or spec.unique is not None for spec in specs):
        for tenant_id, quotas in {(job.tenant_id, job.quotas) for job in known.values()}:
            await check_run_quota(conn, read_quotas(quotas), tenant_id=tenant_id, more=0)


async def _submit_one(conn: Connection, spec: RunSpec, *, id_: UUID, now: datetime) -> bool:
    """Insert one run in a single statement; return False if it needs the general path."""
    with prefix_errors("runs[0]"):
        payload = encode_payload(spec.payload)
        priority = None if spec.priority is None else parse_priority(spec.priority)
    return await live_runs.insert_run(
        conn,
        id_=id_,
        job_id=spec.job_id,
        due_at=spec.due_at or now,
        trigger="api",
        priority=priority,
        payload=payload,
    )


def _check_specs(
    specs: Sequence[RunSpec], requested_by_job: Mapping[UUID, _RequestedRuns]
) -> tuple[list[str | None], list[list[NewGate]]]:
    payloads: list[str | None] = []
    wanted: list[list[NewGate]] = []
    for place_, spec in enumerate(specs):
        requested = requested_by_job.get(spec.job_id)
        if requested is None:
            raise NotFound("job", str(spec.job_id))
        if (
            spec.payload is None
            and not requested.limits
            and requested.job.overlap not in SEQUENTIAL_OVERLAPS
        ):
            payloads.append(None)
            wanted.append(NO_GATES)
            continue
        with prefix_errors(f"runs[{place_}]"):
            payloads.append(encode_payload(spec.payload))
            wanted.append(requested.gates(spec))
    return payloads, wanted


async def _put_gates(conn: Connection, wanted: Sequence[Sequence[NewGate]]) -> list[GateIds]:
    """Return the gate ids of each run. Create gates that do not exist."""
    ids = await gates.put_gates(conn, [gate for of_run in wanted for gate in of_run])
    return [tuple([ids[gate.tenant_id, gate.key] for gate in of_run]) for of_run in wanted]
