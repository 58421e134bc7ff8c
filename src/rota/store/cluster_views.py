"""The processes, shards and queues as the API shows them. Room: store.

Reads only, and each of a bounded cost however much waits. The processes belong to the cluster, not
to a tenant; who may see them is the API's to say.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.tenancy import DEFAULT_TENANT
from rota.store.driver import Connection
from rota.store.statement import statement

# Nothing is counted further; one more than what is shown, to tell that there are more.
MOST_COUNTED: Final = 10_001


class WorkerRow(NamedTuple):
    """A start of a worker process: its session."""

    id: UUID
    name: str
    is_alive: bool
    draining: bool
    slots: int
    running: int
    queues: list[str]
    kinds: list[str]
    # JSON of the tenants whose runs it takes; null for all, in a worker of the previous release.
    serves: str | None
    started_at: datetime
    beat_at: datetime


class SchedulerRow(NamedTuple):
    id: UUID
    name: str
    draining: bool
    started_at: datetime
    beat_at: datetime
    shards: list[int]


class ShardRow(NamedTuple):
    """`session_id` and `scheduler` are who holds it now, if anybody does."""

    id: int
    session_id: UUID | None
    scheduler: str | None
    epoch: int
    expires_at: datetime | None


class QueueRow(NamedTuple):
    """A queue, what holds a tenant's runs back there, and what of the tenant is in it. `waiting`
    could start now, `later` not yet.

    `oldest_at` is since when the one that waits longest could start. Counts end at `MOST_COUNTED`.
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


class Served(NamedTuple):
    name: str
    fields: list[str] | None


WORKERS = statement("cluster_views/workers", WorkerRow)
SCHEDULERS = statement("cluster_views/schedulers", SchedulerRow)
SHARDS = statement("cluster_views/shards", ShardRow)
QUEUES = statement("cluster_views/queues", QueueRow)
KINDS_SERVED = statement("cluster_views/kinds_served", Served)


async def workers(
    conn: Connection, *, tenant: str | None = None, with_dead: bool = False, limit: int = 1000
) -> list[WorkerRow]:
    """The workers whose lease holds, the youngest first, and perhaps the dead after them. Those
    that take runs of a tenant, or all if none is named.
    """
    return await WORKERS.all(conn, tenant=tenant, with_dead=with_dead, most=limit)


async def schedulers(conn: Connection, *, limit: int = 1000) -> list[SchedulerRow]:
    """The schedulers whose lease holds, the youngest first, each with its shards."""
    return await SCHEDULERS.all(conn, most=limit)


async def shards(conn: Connection) -> list[ShardRow]:
    return await SHARDS.all(conn)


async def queues(conn: Connection, *, tenant_id: int, all_tenants: bool = False) -> list[QueueRow]:
    """The queues of a tenant; or all that there are, with what was said for all tenants."""
    return await QUEUES.all(conn, tenant_id=tenant_id, all_tenants=all_tenants)


async def kinds_served(
    conn: Connection, *, tenant: str = DEFAULT_TENANT
) -> dict[str, frozenset[str] | None]:
    """Return the kinds of jobs that some living worker carries out for a tenant, each with all
    fields that its payloads may have; None if they may have any.
    """
    return {
        row.name: None if row.fields is None else frozenset(row.fields)
        for row in await KINDS_SERVED.all(conn, tenant=tenant)
    }
