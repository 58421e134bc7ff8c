"""Reads the processes, shards and queues as the API shows them.

Reads only; the cost of each statement is bounded, however many runs wait. Processes belong to the
cluster, not to a tenant; the API decides who may see them.
"""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from rota.core.tenancy import DEFAULT_TENANT
from rota.store.driver import Connection
from rota.store.statement import statement


class WorkerRow(NamedTuple):
    """A session of a worker process."""

    id: UUID
    name: str
    is_alive: bool
    draining: bool
    slots: int
    running: int
    queues: list[str]
    kinds: list[str]
    # JSON of the tenants whose runs it claims; null for all, in a worker of the previous release.
    serves: str | None
    started_at: datetime
    beat_at: datetime
    observe_url: str | None
    version: str | None


class SchedulerRow(NamedTuple):
    id: UUID
    name: str
    draining: bool
    started_at: datetime
    beat_at: datetime
    shards: list[int]
    observe_url: str | None
    version: str | None


class ProcessRow(NamedTuple):
    """A live process with an observability listener, and its roles."""

    name: str
    observe_url: str
    version: str | None
    roles: list[str]
    started_at: datetime


class ShardRow(NamedTuple):
    """`session_id` and `scheduler` identify the current holder, if any."""

    id: int
    session_id: UUID | None
    scheduler: str | None
    epoch: int
    expires_at: datetime | None


class QueueRow(NamedTuple):
    """A queue, the limits on a tenant's runs there, and the tenant's runs in it. `waiting` runs
    could start now, `later` runs not yet.

    `oldest_at` is since when the longest waiting run could start. Counts end at
    10,001: one more than is shown, to indicate that there are more.
    """

    name: str
    is_paused_for_all: bool
    paused_at: datetime | None
    most: int | None
    rate_count: int | None
    rate_per: timedelta | None
    rate_burst: int | None
    in_order: bool
    waiting: int
    later: int
    running: int
    oldest_at: datetime | None


class ServedKind(NamedTuple):
    name: str
    fields: list[str] | None


WORKERS = statement("cluster_views/workers", WorkerRow)
SCHEDULERS = statement("cluster_views/schedulers", SchedulerRow)
PROCESSES = statement("cluster_views/processes", ProcessRow)
SHARDS = statement("cluster_views/shards", ShardRow)
QUEUES = statement("cluster_views/queues", QueueRow)
KINDS_SERVED = statement("cluster_views/kinds_served", ServedKind)


async def list_workers(
    conn: Connection, *, tenant: str | None = None, with_dead: bool = False, limit: int = 1000
) -> list[WorkerRow]:
    """Return the workers with a valid lease, youngest first, optionally followed by dead ones; only
    those that claim runs of a tenant, or all if `tenant` is None.
    """
    return await WORKERS.all(conn, tenant=tenant, with_dead=with_dead, most=limit)


async def list_schedulers(conn: Connection, *, limit: int = 1000) -> list[SchedulerRow]:
    """Return the schedulers with a valid lease, youngest first, each with its shards."""
    return await SCHEDULERS.all(conn, most=limit)


async def list_processes(conn: Connection, *, limit: int = 10_000) -> list[ProcessRow]:
    """Return the live processes that have an observability listener, the oldest first."""
    return await PROCESSES.all(conn, most=limit)


async def list_shards(conn: Connection) -> list[ShardRow]:
    return await SHARDS.all(conn)


async def list_queues(
    conn: Connection, *, tenant_id: int, all_tenants: bool = False
) -> list[QueueRow]:
    """Return the queues of a tenant; or all queues, with the settings for all tenants."""
    return await QUEUES.all(conn, tenant_id=tenant_id, all_tenants=all_tenants)


async def read_served_kinds(
    conn: Connection, *, tenant: str = DEFAULT_TENANT
) -> dict[str, frozenset[str] | None]:
    """Return the kinds that some living worker executes for a tenant, each with all fields that its
    payloads may have; None if any field is allowed.
    """
    return {
        row.name: None if row.fields is None else frozenset(row.fields)
        for row in await KINDS_SERVED.all(conn, tenant=tenant)
    }
