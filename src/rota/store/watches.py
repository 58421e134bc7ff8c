"""Stores what evaluations of expectations remember, and reads the facts that they judge.

A watch that is written was locked before in the same transaction, so an evaluation never overwrites
another one. Locks are taken in the order of the primary key; `claim_due` and `wake_watches` skip
what is locked.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.states import JobState, RunState
from rota.store.driver import Connection
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement

# Newest runs of a job among which its last success is searched.
SUCCESS_LOOK_MAX: Final = 20_000
# Newest rows of a job that are read for a streak, beyond those that count.
ENDING_LOOK_MAX: Final = 1000
# Newest runs of a job, or of a tenant, from which a rate is measured.
RATE_RUNS_MAX: Final = 20_000
# Newest runs of a job, or of a tenant, from which a typical duration is measured.
DURATION_RUNS_MAX: Final = 50
TASK_DURATION_RUNS_MAX: Final = 5000
UNHEALTHY_MAX: Final = 20_000
LONG_RUNS_MAX: Final = 5000
STRAYS_MAX: Final = 1000


class WatchRow(NamedTuple):
    """A stored watch. `definition` and `evidence` are JSON texts."""

    expectation_id: UUID
    subject_key: str
    tenant_id: int
    job_id: UUID | None
    condition: str
    definition: str
    state: str
    since: datetime
    next_check_at: datetime | None
    tick_at: datetime | None
    due_at: datetime | None
    late_tick_at: datetime | None
    run_id: UUID | None
    streak: int
    met_in_row: int
    watched_since: datetime
    job_version: int | None
    evidence: str

    @property
    def key(self) -> tuple[UUID, str]:
        return self.expectation_id, self.subject_key


class DueWatch(NamedTuple):
    """A watch whose check is due, and its job; the fields of the job are None without one."""

    expectation_id: UUID
    subject_key: str
    tenant_id: int
    job_id: UUID | None
    condition: str
    definition: str
    state: str
    since: datetime
    next_check_at: datetime | None
    tick_at: datetime | None
    due_at: datetime | None
    late_tick_at: datetime | None
    run_id: UUID | None
    streak: int
    met_in_row: int
    watched_since: datetime
    job_version: int | None
    evidence: str
    job_name: str | None
    job_state: str | None
    current_version: int | None
    schedule: str | None
    labels: str | None
    queue: str | None
    task: str | None
    cursor_tick_at: datetime | None
    cursor_fire_at: datetime | None
    fired: int | None
    now: datetime

    @property
    def watch(self) -> WatchRow:
        return WatchRow._make(self[: len(WatchRow._fields)])


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedColumns:
    """The columns of watches to write, one list each."""

    expectation_ids: list[UUID]
    subject_keys: list[str]
    tenant_ids: list[int]
    job_ids: list[UUID | None]
    conditions: list[str]
    definitions: list[str]
    states: list[str]
    sinces: list[datetime]
    next_check_ats: list[datetime | None]
    tick_ats: list[datetime | None]
    due_ats: list[datetime | None]
    late_tick_ats: list[datetime | None]
    run_ids: list[UUID | None]
    streaks: list[int]
    met_in_rows: list[int]
    watched_sinces: list[datetime]
    job_versions: list[int | None]
    evidences: list[str]


class WatchKey(NamedTuple):
    expectation_id: UUID
    subject_key: str


class ProbedRun(NamedTuple):
    """A run; `started_at` is the start of its first attempt, `reason` is JSON."""

    id: UUID
    state: RunState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    reason: str | None


class NewestSuccess(NamedTuple):
    job_id: UUID
    run_id: UUID
    scheduled_at: datetime
    finished_at: datetime


class JobEnding(NamedTuple):
    job_id: UUID
    run_id: UUID
    state: RunState
    started_at: datetime | None
    finished_at: datetime
    ticks: int
    reason: str | None


class JobEndingCount(NamedTuple):
    job_id: UUID
    ended: int
    failed: int


class EndingScope(NamedTuple):
    """Runs of a tenant with this task, in this queue, or of this step of a job."""

    tenant_id: int
    task: str | None = None
    queue: str | None = None
    job_id: UUID | None = None
    step: int | None = None


class EndingCount(NamedTuple):
    ended: int
    failed: int


class JobDuration(NamedTuple):
    job_id: UUID
    samples: int
    typical: timedelta | None


class TaskDuration(NamedTuple):
    samples: int
    typical: timedelta | None


class UnhealthySubject(NamedTuple):
    tenant_id: int
    job_id: UUID | None


class WatchedJob(NamedTuple):
    """A job as the watch scheduler needs it; JSON as text. `tick_at` is its next tick."""

    id: UUID
    tenant_id: int
    name: str
    state: JobState
    version: int
    schedule: str | None
    labels: str
    held: str | None
    expect: str | None
    alert: str | None
    updated_at: datetime
    is_graph: bool
    queue: str
    task: str
    tick_at: datetime | None
    fire_at: datetime | None


class LongRun(NamedTuple):
    """A run that a worker holds; the fields of the job are None for a submission."""

    run_id: UUID
    job_id: UUID
    tenant_id: int
    started_at: datetime
    graph_run_id: UUID | None
    step: int | None
    job_name: str | None
    labels: str | None
    expect: str | None
    alert: str | None
    queue: str
    task: str


class Fingerprint(NamedTuple):
    place: int
    fingerprint: str


class StepNames(NamedTuple):
    """The definition (JSON) of the graph of a run, and the path to its sub-graph."""

    run_id: UUID
    definition: str
    path: list[int]


class PausedScope(NamedTuple):
    tenant_id: int | None
    queue: str | None


CLAIM_DUE = statement("watches/claim_due", DueWatch)
PROBE_RUNS = statement("watches/probe_runs", ProbedRun)
FIND_SUCCESSES = statement("watches/find_successes", NewestSuccess)
READ_ENDINGS = statement("watches/read_endings", JobEnding)
COUNT_JOB_ENDINGS = statement("watches/count_job_endings", JobEndingCount)
COUNT_ENDINGS = statement("watches/count_endings", EndingCount)
MEASURE_DURATIONS = statement("watches/measure_durations", JobDuration)
MEASURE_TASK_DURATIONS = statement("watches/measure_task_durations", TaskDuration)
SAVE = statement("watches/save", WatchKey)
ADVANCE = statement("watches/advance", WatchKey)
DELETE = statement("watches/delete", WatchKey)
LOCK = statement("watches/lock", WatchRow)
LOCK_OF_JOBS = statement("watches/lock_of_jobs", WatchRow)
LOCK_CONDITIONS = statement("watches/lock_conditions", WatchRow)
LOCK_STRAYS = statement("watches/lock_strays", WatchRow)
READ_UNHEALTHY = statement("watches/read_unhealthy", UnhealthySubject)
WAKE = statement("watches/wake", WatchKey)
READ_JOBS = statement("watches/read_jobs", WatchedJob)
READ_CHANGED_JOBS = statement("watches/read_changed_jobs", WatchedJob)
READ_LONG_RUNS = statement("watches/read_long_runs", LongRun)
READ_FINGERPRINTS = statement("watches/read_fingerprints", Fingerprint)
READ_STEP_NAMES = statement("watches/read_step_names", StepNames)
READ_PAUSES = statement("watches/read_pauses", PausedScope)


async def claim_due(conn: Connection, *, limit: int) -> list[DueWatch]:
    """Lock the watches whose check is due until the transaction ends, at most `limit`."""
    return await CLAIM_DUE.all(conn, most=limit)


async def probe_runs(conn: Connection, run_ids: Collection[UUID]) -> dict[UUID, ProbedRun]:
    """Return those of the runs that exist."""
    if not run_ids:
        return {}
    rows = await PROBE_RUNS.all(conn, ids=sorted(run_ids))
    return {row.id: row for row in rows}


async def find_successes(conn: Connection, from_ids: dict[UUID, UUID]) -> dict[UUID, NewestSuccess]:
    """Return the newest tick of each job that succeeded, among runs from an id on."""
    if not from_ids:
        return {}
    async with ordered_scan(conn):
        rows = await FIND_SUCCESSES.all(
            conn,
            job_ids=list(from_ids),
            from_ids=list(from_ids.values()),
            most=SUCCESS_LOOK_MAX,
        )
    return {row.job_id: row for row in rows}


async def read_endings(
    conn: Connection, job_ids: Collection[UUID], *, limit: int
) -> dict[UUID, list[JobEnding]]:
    """Return the newest runs of each job that count, newest first, at most `limit` each."""
    if not job_ids:
        return {}
    async with ordered_scan(conn):
        rows = await READ_ENDINGS.all(
            conn, job_ids=sorted(job_ids), look=ENDING_LOOK_MAX + limit, most=limit
        )
    found: dict[UUID, list[JobEnding]] = {}
    for row in rows:
        found.setdefault(row.job_id, []).append(row)
    return found


async def count_job_endings(
    conn: Connection, windows: Sequence[tuple[UUID, datetime, UUID]]
) -> list[JobEndingCount]:
    """Count the runs of jobs that ended and failed: per job since a time, from an id on."""
    if not windows:
        return []
    async with ordered_scan(conn):
        return await COUNT_JOB_ENDINGS.all(
            conn,
            job_ids=[job_id for job_id, _, _ in windows],
            sinces=[since for _, since, _ in windows],
            from_ids=[from_id for _, _, from_id in windows],
            most=RATE_RUNS_MAX,
        )


async def count_endings(
    conn: Connection, scope: EndingScope, *, since: datetime, from_id: UUID
) -> EndingCount:
    """Count the runs of a scope that ended since a time and failed, from an id on."""
    async with ordered_scan(conn):
        row = await COUNT_ENDINGS.one(
            conn,
            tenant_id=scope.tenant_id,
            task=scope.task,
            queue=scope.queue,
            job_id=scope.job_id,
            step=scope.step,
            since=since,
            from_id=from_id,
            most=RATE_RUNS_MAX,
        )
    return row or EndingCount(0, 0)


async def measure_durations(conn: Connection, job_ids: Collection[UUID]) -> dict[UUID, JobDuration]:
    """Return the 95th percentile of the durations of the newest runs of jobs."""
    if not job_ids:
        return {}
    async with ordered_scan(conn):
        rows = await MEASURE_DURATIONS.all(conn, job_ids=sorted(job_ids), most=DURATION_RUNS_MAX)
    return {row.job_id: row for row in rows}


async def measure_task_duration(conn: Connection, *, tenant_id: int, task: str) -> TaskDuration:
    async with ordered_scan(conn):
        row = await MEASURE_TASK_DURATIONS.one(
            conn, tenant_id=tenant_id, task=task, most=TASK_DURATION_RUNS_MAX
        )
    return row or TaskDuration(0, None)


async def save_watches(conn: Connection, watches: Sequence[WatchRow]) -> None:
    """Insert or replace watches that the caller has locked."""
    if not watches:
        return
    columns = zip(*sorted(watches, key=lambda watch: watch.key), strict=True)
    names = [column.name for column in fields(SavedColumns)]
    await SAVE.all(conn, **dict(zip(names, map(list, columns), strict=True)))


async def advance_watches(conn: Connection, watches: Sequence[WatchRow]) -> None:
    """Write only the tick and the next check of watches that the caller has locked."""
    if watches:
        await ADVANCE.all(
            conn,
            expectation_ids=[watch.expectation_id for watch in watches],
            subject_keys=[watch.subject_key for watch in watches],
            next_check_ats=[watch.next_check_at for watch in watches],
            tick_ats=[watch.tick_at for watch in watches],
            due_ats=[watch.due_at for watch in watches],
        )


async def delete_watches(conn: Connection, watches: Sequence[WatchRow]) -> None:
    """Delete watches that the caller has locked."""
    if not watches:
        return
    await DELETE.all(
        conn,
        expectation_ids=[watch.expectation_id for watch in watches],
        subject_keys=[watch.subject_key for watch in watches],
    )


async def lock_watches(
    conn: Connection, keys: Collection[tuple[UUID, str]]
) -> dict[tuple[UUID, str], WatchRow]:
    """Lock watches by expectation and subject; return those that exist."""
    if not keys:
        return {}
    ordered = sorted(keys)
    rows = await LOCK.all(
        conn,
        expectation_ids=[key[0] for key in ordered],
        subject_keys=[key[1] for key in ordered],
    )
    return {row.key: row for row in rows}


async def lock_job_watches(
    conn: Connection, job_ids: Collection[UUID]
) -> dict[UUID, list[WatchRow]]:
    """Lock all watches of jobs."""
    found: dict[UUID, list[WatchRow]] = {}
    for row in await LOCK_OF_JOBS.all(conn, job_ids=sorted(job_ids)):
        if row.job_id is not None:
            found.setdefault(row.job_id, []).append(row)
    return found


async def lock_unhealthy(conn: Connection, conditions: Collection[str]) -> list[WatchRow]:
    """Lock the watches of these conditions whose subjects are not healthy."""
    return await LOCK_CONDITIONS.all(conn, conditions=sorted(conditions), most=UNHEALTHY_MAX)


async def lock_strays(
    conn: Connection, *, conditions: Collection[str], expectation_ids: Collection[UUID]
) -> list[WatchRow]:
    """Lock watches of subjects other than jobs whose expectation is not among the given ones."""
    return await LOCK_STRAYS.all(
        conn,
        conditions=sorted(conditions),
        expectation_ids=sorted(expectation_ids),
        most=STRAYS_MAX,
    )


async def read_unhealthy(
    conn: Connection, *, conditions: Collection[str]
) -> list[UnhealthySubject]:
    """Return jobs and tenants with subjects that are not healthy by one of these conditions."""
    return await READ_UNHEALTHY.all(conn, conditions=sorted(conditions), most=UNHEALTHY_MAX)


async def wake_watches(
    conn: Connection, job_ids: Collection[UUID], *, conditions: Collection[str]
) -> int:
    """Make the violated watches of jobs due now; return how many."""
    if not job_ids:
        return 0
    return len(await WAKE.all(conn, job_ids=sorted(job_ids), conditions=sorted(conditions)))


async def read_jobs(
    conn: Connection, *, after: UUID, tenant_ids: Collection[int], limit: int
) -> list[WatchedJob]:
    """Return the jobs that may be watched among `limit` jobs after an id; the last of the `limit`
    jobs is always returned. An empty list: no more jobs.
    """
    return await READ_JOBS.all(conn, after=after, tenant_ids=sorted(tenant_ids), most=limit)


async def read_changed_jobs(
    conn: Connection, *, since: datetime, tenant_ids: Collection[int], limit: int
) -> list[WatchedJob]:
    """Return the jobs that may be watched and were changed since a time, oldest change first."""
    return await READ_CHANGED_JOBS.all(conn, since=since, tenant_ids=sorted(tenant_ids), most=limit)


async def read_long_runs(
    conn: Connection, *, before: datetime, tenant_ids: Collection[int]
) -> list[LongRun]:
    """Return runs that workers hold since before a time and whose duration may be limited."""
    return await READ_LONG_RUNS.all(
        conn, before=before, tenant_ids=sorted(tenant_ids), most=LONG_RUNS_MAX
    )


async def read_fingerprints(conn: Connection, reasons: Sequence[str]) -> list[str]:
    """Return the group of each stored reason (JSON), in order."""
    if not reasons:
        return []
    rows = await READ_FINGERPRINTS.all(conn, reasons=list(reasons))
    return [row.fingerprint for row in rows]


async def read_step_names(conn: Connection, run_ids: Collection[UUID]) -> list[StepNames]:
    if not run_ids:
        return []
    return await READ_STEP_NAMES.all(conn, run_ids=sorted(run_ids))


async def read_pauses(conn: Connection) -> frozenset[tuple[int | None, str | None]]:
    """Return what is paused, as tenant and queue; None stands for all."""
    rows = await READ_PAUSES.all(conn)
    return frozenset((row.tenant_id, row.queue) for row in rows)
