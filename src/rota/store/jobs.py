"""Creates, changes, pauses, quarantines and finishes jobs, and reads what their runs need.

A change locks the job and its cursor, is computed by the caller, and is written with both in one
statement; a tick that is decided at the same time comes before it or finds another version (F13).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.job import DETAIL_COLUMNS
from rota.core.errors import LeaseLost, NameTaken, NotFound, StoreFailed
from rota.core.ids import build_id
from rota.core.lease import compute_shard
from rota.core.outcome import Guarantee
from rota.core.overlap import ActiveRun, Overlap, WhenQueuePaused
from rota.core.states import JobState, RunState
from rota.core.submissions import encode_canonical
from rota.store.driver import Connection
from rota.store.live_runs import encode_gates
from rota.store.statement import NoRow, statement

JOB_NAME_TAKEN: Final = "already in use; choose a name that no other job of the tenant has"
TAKEN_SQLSTATE: Final = "23505"
SKIP_WHEN_PAUSED: Final = WhenQueuePaused.SKIP.value


class WrittenJob(NamedTuple):
    id: UUID


class TakenJobName(NamedTuple):
    tenant_id: int
    name: str


class JobPayload(NamedTuple):
    """The payload and overlap rule of a job at one version."""

    id: UUID
    version: int
    payload: str | None
    forbids_overlap: bool


class PausedJob(NamedTuple):
    id: UUID
    version: int


class StoredJob(NamedTuple):
    """The fields of a job that a change or a run needs; JSON as text.

    `version` rises whenever a tick that is being decided must be decided again: with an edit, a
    pause or a manual run. `definition_version` rises with edits only and is the version that users
    see.
    """

    id: UUID
    tenant_id: int
    state: JobState
    version: int
    kind_id: int
    queue_id: int
    policy_id: int
    priority: int
    overlap: Overlap
    keep_first: bool
    when_queue_paused: WhenQueuePaused
    guarantee: Guarantee
    schedule: str | None
    payload: str | None
    limits: str | None
    policy: str
    quotas: str | None
    graph_id: int | None = None
    definition_version: int = 1


class JobCursor(NamedTuple):
    tick_at: datetime
    fire_at: datetime | None
    fired: int | None = None
    schedule_id: int | None = None


class UnfinishedRun(NamedTuple):
    id: UUID
    state: RunState
    attempt: int


class StoredJobVersion(NamedTuple):
    version: int


class SkippedRun(NamedTuple):
    """A tick that did not become a run, or a run that was refused."""

    id: UUID
    scheduled_at: datetime
    state: RunState
    reason: str
    payload: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to insert. `tick_at` and `fire_at` are its first tick, None if it has none; `fired` is
    0 if its schedule limits the number of runs.
    """

    id: UUID
    tenant_id: int
    name: str
    kind_id: int
    queue_id: int
    policy_id: int
    state: JobState = JobState.ACTIVE
    priority: int = 5
    overlap: str = "skip"
    keep_first: bool = False
    when_queue_paused: str = SKIP_WHEN_PAUSED
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    schedule: str | None = None
    schedule_id: int | None = None
    payload: str | None = None
    labels: str = "{}"
    user_id: str | None = None
    limits: str | None = None
    gates: tuple[int, ...] = ()
    deadline: timedelta | None = None
    tick_at: datetime | None = None
    fire_at: datetime | None = None
    fired: int | None = None
    graph_id: int | None = None
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """The new fields of a job; all others stay. `is_edit`: its definition changed."""

    state: JobState
    policy_id: int
    guarantee: Guarantee
    schedule: str | None
    payload: str | None
    gates: tuple[int, ...] = ()
    deadline: timedelta | None = None
    cursor: JobCursor | None = None
    is_edit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDescription:
    """The fields to change; None keeps the current value, an empty `user_id` removes the user."""

    name: str | None = None
    labels: str | None = None
    user_id: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


class NamedJob(NamedTuple):
    id: UUID
    name: str


class DecidedUntil(NamedTuple):
    decided_until: datetime


class PausedStretches(NamedTuple):
    stretches: str


class EndedJob(NamedTuple):
    job_id: UUID


class MarkedJob(NamedTuple):
    id: UUID


class QuarantinedJob(NamedTuple):
    id: UUID


INSERT_MANY = statement("jobs/insert_many", NoRow)
DESCRIBE = statement("jobs/describe", WrittenJob)
DIFFERS = statement("jobs/differs", WrittenJob)
TAKEN = statement("jobs/taken_names", TakenJobName)
PAYLOADS = statement("jobs/payloads", JobPayload)
PAUSE = statement("jobs/pause", PausedJob)
READ = statement("jobs/read", StoredJob)
LOCK = statement("jobs/lock", StoredJob)
LOCK_CURSOR = statement("jobs/lock_cursor", JobCursor)
READ_UNFINISHED = statement("jobs/unfinished_runs", UnfinishedRun)
RAISE_VERSION = statement("jobs/raise_version", StoredJobVersion)
REPLACE = statement("jobs/replace", StoredJobVersion)
RECORD = statement("jobs/record", WrittenJob)
SUPERSEDE = statement("jobs/supersede", WrittenJob)
FIND_JOBS_BY_NAME = statement("jobs/find_by_name", NamedJob)
DECIDED_UNTIL = statement("jobs/decided_until", DecidedUntil)
READ_STRETCHES = statement("jobs/read_stretches", PausedStretches)
PIN_PAYLOAD = statement("jobs/pin_payload", NoRow)
KEEP_STRETCHES = statement("jobs/store_stretches", NoRow)
TAKE_ENDED = statement("jobs/take_ended", EndedJob)
MARK_FINISHED = statement("jobs/mark_finished", MarkedJob)
QUARANTINE = statement("jobs/quarantine", QuarantinedJob)


async def insert_jobs(conn: Connection, jobs: Sequence[NewJob]) -> list[UUID]:
    """Insert jobs and their cursors, all or none; a name in use refuses them all."""
    with translate_taken_names([job.name for job in jobs]):
        await INSERT_MANY.all(conn, **_columns(jobs))
    return [job.id for job in jobs]


@contextmanager
def translate_taken_names(names: Sequence[str]) -> Iterator[None]:
    """Translate a unique violation: another transaction took a name since it was checked. With
    several names it is unknown which one, because the transaction is aborted.
    """
    try:
        yield
    except StoreFailed as error:
        if error.sqlstate != TAKEN_SQLSTATE or "jobs_name" not in error.message:
            raise
        if len(names) == 1:
            raise NameTaken("jobs[0].name", names[0], JOB_NAME_TAKEN) from None
        raise NameTaken("name", "one of them", JOB_NAME_TAKEN) from None


async def refuse_taken_names(conn: Connection, pairs: Sequence[tuple[int, str]]) -> None:
    """Raise `NameTaken` for the first of these (tenant, name) pairs that already exists."""
    rows = await TAKEN.all(
        conn, tenant_ids=[tenant for tenant, _ in pairs], names=[name for _, name in pairs]
    )
    for index, pair in enumerate(pairs if rows else ()):
        if pair in rows:
            raise NameTaken(f"jobs[{index}].name", pair[1], JOB_NAME_TAKEN)


async def read_payloads(conn: Connection, versions: Sequence[tuple[UUID, int]]) -> list[JobPayload]:
    """Return the payloads of jobs at these versions, which their runs refer to."""
    ids, numbers = zip(*versions, strict=True)
    return await PAYLOADS.all(conn, ids=ids, versions=numbers)


async def pause_jobs(conn: Connection, *, ids: Sequence[UUID], held: str) -> list[UUID]:
    """Pause jobs; once this has returned, no more of their ticks are decided."""
    return [row.id for row in await PAUSE.all(conn, ids=ids, held=held)]


async def read_jobs(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, StoredJob]:
    """Return jobs by id, without deleted ones."""
    return {row.id: row for row in await READ.all(conn, ids=ids)}


async def lock_job(conn: Connection, id_: UUID) -> StoredJob:
    """Return one job, locked until the end of the transaction."""
    found = await lock_jobs(conn, [id_])
    if not found:
        raise NotFound("job", str(id_))
    return found[0]


async def lock_jobs(conn: Connection, ids: Sequence[UUID]) -> list[StoredJob]:
    """Lock several jobs, without deleted ones."""
    found = await LOCK.all(conn, ids=ids)
    # If a job's policy changed while this waited for the lock, the job is locked, but the join used
    # the old policy and left it out. A new statement sees the new policy.
    return found if len(found) == len(set(ids)) else await LOCK.all(conn, ids=ids)


async def lock_cursor(conn: Connection, id_: UUID) -> JobCursor | None:
    """Return the cursor of a job that the caller has locked; None without future ticks."""
    return await LOCK_CURSOR.one(conn, id=id_)


async def read_unfinished_runs(
    conn: Connection, id_: UUID, *, backfills: bool = True
) -> list[ActiveRun]:
    """Return the unfinished runs of a job, with or without those of backfills."""
    return [ActiveRun(*row) for row in await READ_UNFINISHED.all(conn, id=id_, backfills=backfills)]


async def raise_version(conn: Connection, id_: UUID) -> int:
    """Make a tick that is being decided now be decided again, after this transaction."""
    row = await RAISE_VERSION.one(conn, id=id_)
    if row is None:
        raise NotFound("job", str(id_))
    return row.version


async def replace_job(conn: Connection, job: StoredJob, change: JobChange) -> int:
    """Write the changes of a job that the caller has locked; return its new version.

    `job` carries the new kind, graph, queue, priority, overlap policy and similar fields.
    """
    cursor = change.cursor
    row = await REPLACE.one(
        conn,
        id=job.id,
        version=job.version,
        is_edit=change.is_edit,
        state=change.state,
        kind_id=job.kind_id,
        graph_id=job.graph_id,
        queue_id=job.queue_id,
        priority=job.priority,
        overlap=job.overlap,
        keep_first=job.keep_first,
        when_queue_paused=job.when_queue_paused,
        limits=job.limits,
        policy_id=change.policy_id,
        guarantee=change.guarantee,
        schedule=change.schedule,
        payload=change.payload,
        schedule_id=cursor and cursor.schedule_id,
        gates=list(change.gates) or None,
        deadline=change.deadline,
        tick_at=cursor and cursor.tick_at,
        fire_at=cursor and cursor.fire_at,
        fired=cursor and cursor.fired,
        shard=compute_shard(job.id),
    )
    if row is None:
        raise LeaseLost(thing="job", id=job.id)
    return row.version


async def is_described_differently(
    conn: Connection, id_: UUID, description: JobDescription
) -> bool:
    """Return whether a description differs from the job that the caller has locked."""
    if description == JobDescription():
        return False
    return await DIFFERS.one(conn, id=id_, **_described(description)) is not None


async def describe_job(conn: Connection, id_: UUID, description: JobDescription) -> None:
    """Change the name, labels or user of a job that the caller has locked."""
    try:
        await DESCRIBE.one(conn, id=id_, **_described(description))
    except StoreFailed as error:
        if error.sqlstate != TAKEN_SQLSTATE:
            raise
        raise NameTaken("name", description.name, JOB_NAME_TAKEN) from None


async def record_skipped(
    conn: Connection, job: StoredJob, records: Sequence[SkippedRun], *, trigger: str = "tick"
) -> list[UUID]:
    """Record ticks that did not become runs."""
    rows = await RECORD.all(
        conn,
        job_id=job.id,
        tenant_id=job.tenant_id,
        queue_id=job.queue_id,
        kind_id=job.kind_id,
        policy_id=job.policy_id,
        job_version=job.version,
        priority=job.priority,
        trigger=trigger,
        ids=[entry.id for entry in records],
        scheduled_ats=[entry.scheduled_at for entry in records],
        states=[entry.state for entry in records],
        payloads=[entry.payload for entry in records],
        reasons=[entry.reason for entry in records],
    )
    return [row.id for row in rows]


async def supersede_runs(conn: Connection, ids: Sequence[UUID], *, into: UUID) -> list[UUID]:
    """End waiting runs that another run replaces."""
    return [row.id for row in await SUPERSEDE.all(conn, ids=ids, into_id=into)]


async def find_job_ids(
    conn: Connection, *, tenant_id: int, names: Sequence[str]
) -> dict[str, UUID]:
    """Return the ids of the jobs that currently have these names."""
    rows = await FIND_JOBS_BY_NAME.all(conn, tenant_id=tenant_id, names=names)
    return {row.name: row.id for row in rows}


async def read_decided_until(conn: Connection, job_id: UUID, now: datetime) -> datetime:
    """Return the latest recorded tick up to now, or when the job was created.

    The id of a tick's run begins with its time, so future ones are excluded by id.
    """
    before_id = build_id(now + timedelta(milliseconds=1), bytes(10))
    row = await DECIDED_UNTIL.one(conn, id=job_id, before_id=before_id)
    if row is None:
        raise NotFound("job", str(job_id))
    return row.decided_until


async def read_stretches(conn: Connection, job_id: UUID) -> str | None:
    """Return what a paused job stores for its resumption, as JSON; None if nothing."""
    row = await READ_STRETCHES.one(conn, id=job_id)
    return None if row is None else row.stretches


async def store_stretches(conn: Connection, job_id: UUID, stretches: str | None) -> None:
    """Store this for the resumption of a paused job; None deletes it."""
    await KEEP_STRETCHES.all(conn, id=job_id, stretches=stretches)


async def pin_payload(conn: Connection, job: StoredJob) -> None:
    """Store the job's current payload in its existing runs: workers of the previous release know
    only the job's payload.
    """
    ids = [run.id for run in await read_unfinished_runs(conn, job.id)]
    await PIN_PAYLOAD.all(conn, id=job.id, run_ids=ids, payload=job.payload or "null")


async def mark_finished(conn: Connection, *, limit: int) -> int:
    """Mark jobs as finished whose last tick was decided; return how many were on the list.

    Runs in the caller's transaction. The jobs are locked before their cursors are read, so that a
    concurrent edit comes first and is seen.
    """
    if ended := [row.job_id for row in await TAKE_ENDED.all(conn, most=limit)]:
        await LOCK.all(conn, ids=ended)
        await MARK_FINISHED.all(conn, ids=ended)
    return len(ended)


async def quarantine_job(conn: Connection, *, job_id: UUID, version: int, reason: str) -> bool:
    """Quarantine a job unless it was edited after `version`; return whether it was quarantined."""
    row = await QUARANTINE.one(conn, id=job_id, version=version, reason=reason)
    return row is not None


def _described(described: JobDescription) -> dict[str, object]:
    return {
        "name": described.name,
        "labels": described.labels,
        "sets_user": described.user_id is not None,
        "user_id": described.user_id or None,
        **{f"sets_{column}": column in described.details for column in DETAIL_COLUMNS},
        **{column: _encode_detail(described.details, column) for column in DETAIL_COLUMNS},
    }


def _columns(jobs: Sequence[NewJob]) -> dict[str, list[object]]:
    pauses: list[object] = [job.when_queue_paused for job in jobs]
    detailed = jobs if any(job.details for job in jobs) else ()
    return {
        "ids": [job.id for job in jobs],
        "tenant_ids": [job.tenant_id for job in jobs],
        "names": [job.name for job in jobs],
        "states": [job.state for job in jobs],
        "kind_ids": [job.kind_id for job in jobs],
        "queue_ids": [job.queue_id for job in jobs],
        "policy_ids": [job.policy_id for job in jobs],
        "priorities": [job.priority for job in jobs],
        "overlap_policies": [job.overlap for job in jobs],
        "guarantees": [job.guarantee for job in jobs],
        "schedules": [job.schedule for job in jobs],
        "payloads": [job.payload for job in jobs],
        "labels": [job.labels for job in jobs],
        "user_ids": [job.user_id for job in jobs],
        "limits": [job.limits for job in jobs],
        "keep_firsts": [job.keep_first for job in jobs],
        "tick_ats": [job.tick_at for job in jobs],
        "fire_ats": [job.fire_at for job in jobs],
        "fired": [job.fired for job in jobs],
        "schedule_ids": [job.schedule_id for job in jobs],
        "shards": [compute_shard(job.id) for job in jobs],
        "gates": [encode_gates(job.gates) for job in jobs],
        "deadlines": [job.deadline for job in jobs],
        "graph_ids": [job.graph_id for job in jobs],
        "when_queue_paused": pauses if set(pauses) - {SKIP_WHEN_PAUSED} else [],
        **{
            f"each_{name}": [_encode_detail(job.details, name) for job in detailed]
            for name in DETAIL_COLUMNS
        },
    }


def _encode_detail(details: Mapping[str, object], column: str) -> object:
    """Return the value of a detail column; documents become JSON texts."""
    value = details.get(column)
    is_document = value is not None and DETAIL_COLUMNS[column] == "jsonb"
    return encode_canonical(value) if is_document else value
