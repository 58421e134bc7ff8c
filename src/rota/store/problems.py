"""Reads what is wrong now: with the processes, and with the work of a tenant (I12).

Reads only, in the bounds that each statement names. `tenant_id` None stands for all tenants, for
connections of the owner. Problem codes and sentences are decided by
engine/observability/problems.py.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.store import metrics_queries
from rota.store.driver import Connection
from rota.store.metrics_queries import LATE_TICKS_PER_SHARD_MAX, LateTicks
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement

QUEUES_MAX: Final = 200
# Runs that are examined per queue and priority; for all tenants, per queue. A group with so many
# runs may have more.
WAITING_RUNS_MAX: Final = 50
WAITING_RUNS_EVERYWHERE_MAX: Final = 200
WAITING_GROUPS_MAX: Final = 200
# Newest jobs among which quarantined ones and kinds without workers are searched.
QUARANTINE_LOOK_MAX: Final = 10_000
KIND_LOOK_MAX: Final = 1000
# Rows of each other statement: a list of problems is for people.
PROBLEM_ROWS_MAX: Final = 20
INCIDENTS_MAX: Final = 50


class FleetState(NamedTuple):
    """`scheduler_until` and `worker_until` are the ends of the latest leases. `quotas` and
    `scarce_quotas`, the default quotas that are nearly used up, are JSON.
    """

    schedulers: int
    workers: int
    scheduler_until: datetime | None
    worker_until: datetime | None
    scheduled_since: datetime | None
    shards_unowned: int
    unowned_since: datetime | None
    tenant_paused_at: datetime | None
    quotas: str
    scarce_quotas: str
    now: datetime


class WaitingRuns(NamedTuple):
    """Ready runs of one tenant, queue and kind; `sample_id` is the oldest of them."""

    tenant_id: int
    tenant: str
    queue: str
    kind: str
    number: int
    oldest_at: datetime
    sample_id: UUID
    is_served: bool


class PausedQueue(NamedTuple):
    queue: str
    paused_at: datetime
    paused_by: str | None
    is_for_all: bool


class QuarantinedJobRow(NamedTuple):
    """`held` is JSON: {by, at, reason}."""

    id: UUID
    name: str
    held: str | None


class UnservedKind(NamedTuple):
    kind: str
    jobs: int
    job_id: UUID
    job: str
    programs: list[str] | None


class LostWorker(NamedTuple):
    worker: str
    expires_at: datetime
    runs: int


class StoppedSource(NamedTuple):
    source: str
    kind: str
    tenant: str
    failures: int
    error: str | None
    since: datetime
    is_read: bool


class OpenIncident(NamedTuple):
    """`tenant_id` is 0 for an incident of the installation itself."""

    id: UUID
    tenant_id: int
    state: str
    severity: str
    title: str
    condition: str
    subject_kind: str
    subject_id: str
    subject_name: str
    job_id: UUID | None
    run_id: UUID | None
    opened_at: datetime
    acknowledged_by: str | None
    silenced_until: datetime | None
    bad_runs: int


class FailingEndpoint(NamedTuple):
    id: UUID
    name: str
    state: str
    disabled_reason: str
    failures: int
    since: datetime | None
    last_error: str | None


class FailingChannel(NamedTuple):
    name: str
    kind: str
    failing_since: datetime
    failures: int
    last_error: str | None


READ_FLEET = statement("problems/read_fleet", FleetState)
READ_WAITING = statement("problems/read_waiting", WaitingRuns)
READ_WAITING_EVERYWHERE = statement("problems/read_waiting_everywhere", WaitingRuns)
READ_PAUSED_QUEUES = statement("problems/read_paused_queues", PausedQueue)
READ_QUARANTINED_JOBS = statement("problems/read_quarantined_jobs", QuarantinedJobRow)
READ_UNSERVED_KINDS = statement("problems/read_unserved_kinds", UnservedKind)
READ_LOST_WORKERS = statement("problems/read_lost_workers", LostWorker)
READ_STOPPED_SOURCES = statement("problems/read_stopped_sources", StoppedSource)
READ_LATE_TICKS = statement("problems/read_late_ticks", LateTicks)
READ_INCIDENTS = statement("problems/read_incidents", OpenIncident)
READ_FAILING_ENDPOINTS = statement("problems/read_failing_endpoints", FailingEndpoint)
READ_FAILING_CHANNELS = statement("problems/read_failing_channels", FailingChannel)


async def read_fleet(
    conn: Connection, *, tenant_id: int | None, tenant: str | None, grace: timedelta
) -> FleetState | None:
    """Return the processes. `grace` is how long a shard may be without a scheduler."""
    return await READ_FLEET.one(conn, tenant_id=tenant_id, tenant=tenant, grace=grace)


async def read_waiting(conn: Connection, *, tenant_id: int | None) -> list[WaitingRuns]:
    """Return the waiting runs by queue and kind, the longest waiting first."""
    if tenant_id is None:
        return await READ_WAITING_EVERYWHERE.all(
            conn,
            most=WAITING_RUNS_EVERYWHERE_MAX,
            most_queues=QUEUES_MAX,
            most_groups=WAITING_GROUPS_MAX,
        )
    return await READ_WAITING.all(
        conn, tenant_id=tenant_id, most=WAITING_RUNS_MAX, most_queues=QUEUES_MAX
    )


async def read_paused_queues(conn: Connection, *, tenant_id: int | None) -> list[PausedQueue]:
    return await READ_PAUSED_QUEUES.all(conn, tenant_id=tenant_id, most=PROBLEM_ROWS_MAX)


async def read_quarantined_jobs(conn: Connection, *, tenant_id: int) -> list[QuarantinedJobRow]:
    async with ordered_scan(conn):
        return await READ_QUARANTINED_JOBS.all(
            conn, tenant_id=tenant_id, look=QUARANTINE_LOOK_MAX, most=PROBLEM_ROWS_MAX
        )


async def read_unserved_kinds(
    conn: Connection, *, tenant_id: int, tenant: str
) -> list[UnservedKind]:
    """Return kinds of active jobs that no live worker serves for the tenant."""
    async with ordered_scan(conn):
        return await READ_UNSERVED_KINDS.all(
            conn, tenant_id=tenant_id, tenant=tenant, look=KIND_LOOK_MAX, most=PROBLEM_ROWS_MAX
        )


async def read_lost_workers(conn: Connection, *, tenant_id: int | None) -> list[LostWorker]:
    return await READ_LOST_WORKERS.all(conn, tenant_id=tenant_id, most=PROBLEM_ROWS_MAX)


async def read_stopped_sources(
    conn: Connection, *, tenant_id: int | None, grace: timedelta
) -> list[StoppedSource]:
    return await READ_STOPPED_SOURCES.all(
        conn, tenant_id=tenant_id, grace=grace, most=PROBLEM_ROWS_MAX
    )


async def count_late_ticks(
    conn: Connection, *, tenant_id: int | None, before: datetime
) -> LateTicks:
    if tenant_id is not None:
        return await metrics_queries.count_late_ticks(conn, tenant_id=tenant_id, before=before)
    row = await READ_LATE_TICKS.one(conn, before=before, most=LATE_TICKS_PER_SHARD_MAX)
    return row or LateTicks(0, None)


async def read_incidents(conn: Connection, *, tenant_id: int | None) -> list[OpenIncident]:
    """Return the unresolved incidents, the most severe first."""
    return await READ_INCIDENTS.all(conn, tenant_id=tenant_id, most=INCIDENTS_MAX)


async def read_failing_endpoints(
    conn: Connection, *, tenant_id: int | None, failures: int
) -> list[FailingEndpoint]:
    """Return webhook endpoints that are disabled by Rota or failed `failures` times in a row."""
    return await READ_FAILING_ENDPOINTS.all(
        conn, tenant_id=tenant_id, failures=failures, most=PROBLEM_ROWS_MAX
    )


async def read_failing_channels(conn: Connection) -> list[FailingChannel]:
    return await READ_FAILING_CHANNELS.all(conn, most=PROBLEM_ROWS_MAX)
