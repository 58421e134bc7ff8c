"""Opens and closes the session of a worker, which makes it a member of the cluster."""

import asyncio
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from rota.config.settings import Settings
from rota.core.errors import StoreUnavailable
from rota.core.executor import Executor
from rota.core.ids import build_id
from rota.core.kind_descriptions import (
    PayloadDescriber,
    collect_descriptions,
    find_exactly_once_kinds,
)
from rota.core.log_events import SessionOpened, SettingDeprecated, TenantsUnknown
from rota.core.tenancy import EVERY_TENANT, SERVES_EVERY_TENANT, ServedTenants
from rota.engine.execution.attempt_pool import GRAPH_KIND_EXECUTOR
from rota.engine.observability.process_metrics import read_version
from rota.processes.alert_channels import DEPRECATION_REMEDY, find_deprecated_setting
from rota.processes.process import measure_clock
from rota.runtime.service import ServiceContext
from rota.store import interning, kinds, sessions
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.sessions import NewSession, SessionRole

LEAVE_TIMEOUT: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerMember:
    """A registered worker with its session, queues, kinds and tenants."""

    session_id: UUID
    queue_ids: tuple[int, ...]
    queues: dict[int, str]
    kinds: dict[int, str]
    # The tenants that it serves, and whether the installation has more than one.
    served: ServedTenants = SERVES_EVERY_TENANT
    has_many_tenants: bool = False


async def register_worker(
    settings: Settings,
    access: DatabaseAccess,
    context: ServiceContext,
    executors: tuple[Executor, ...],
) -> WorkerMember:
    """Write the session with its queues, tenants and kinds."""
    worker = settings.worker
    served = read_served_tenants(settings)
    executed = [kind for executor in (GRAPH_KIND_EXECUTOR, *executors) for kind in executor.kinds]
    async with open_connection(access) as conn:
        queue_ids = [await interning.intern_queue(conn, name) for name in worker.queues]
        queues = dict(zip(worker.queues, queue_ids, strict=True))
        named = list_named_tenants(settings)
        unknown = {*named} - (await interning.find_known_tenant_ids(conn, named)).keys()
        has_many = await interning.has_many_tenants(conn)
        by_id = {await interning.intern_kind(conn, kind): kind for kind in executed}
        session = NewSession(
            id=build_id(await measure_clock(conn, context), context.rng.randbytes(10)),
            role=SessionRole.WORKER,
            name=f"{socket.gethostname()}:{os.getpid()}",
            queues=tuple(queue_ids),
            kinds=tuple(by_id),
            slots=worker.slots,
            serves=json.dumps(served.to_plain(queues)),
            observe_url=context.health.observe_url,
            version=read_version(),
        )
        await sessions.open_session(conn, session, ttl=worker.lease)
        await kinds.describe_schemas(conn, collect_schemas(executors))
        await kinds.describe_tasks(conn, collect_descriptions(executors))
        await kinds.describe_exactly_once(conn, find_exactly_once_kinds(executors))
    context.emit(SessionOpened(role="worker", name=session.name, session_id=session.id))
    if unknown:
        context.emit(TenantsUnknown(tenants=tuple(sorted(unknown))))
    if deprecated := find_deprecated_setting(settings):
        context.emit(SettingDeprecated(setting=deprecated, remedy=DEPRECATION_REMEDY))
    return WorkerMember(
        session_id=session.id,
        queue_ids=tuple(queue_ids),
        queues={queue_id: queue for queue, queue_id in queues.items()},
        kinds=by_id,
        served=served,
        has_many_tenants=has_many,
    )


def read_served_tenants(settings: Settings) -> ServedTenants:
    """Return the tenants whose runs a worker with these settings takes."""
    worker = settings.worker
    return ServedTenants(tenants=worker.tenants, by_queue=worker.queue_tenants)


def list_named_tenants(settings: Settings) -> list[str]:
    """Return every tenant in the settings of a worker, including those of its resources."""
    executors = settings.executors
    tables = (
        executors.connections,
        executors.channels,
        executors.webhooks,
        executors.places,
        settings.channels,
    )
    lists = [
        executors.shell_tenants,
        executors.data_folder_tenants,
        executors.http_allow_tenants,
        *(each.tenants for table in tables for each in table.values()),
    ]
    named = {name for each in lists for name in each if name != EVERY_TENANT}
    return sorted({*named, *read_served_tenants(settings).list_names()})


def collect_schemas(executors: tuple[Executor, ...]) -> dict[str, Mapping[str, Any]]:
    """Return the payload schemas of the executors, by kind."""
    return {
        kind: schema
        for executor in executors
        if isinstance(executor, PayloadDescriber)
        for kind in executor.kinds
        if (schema := executor.payload_schema(kind)) is not None
    }


def describe_served(member: WorkerMember) -> str | None:
    """Describe the tenants that a worker serves, if there is more than one."""
    if not member.has_many_tenants:
        return None
    return f"worker {member.served.describe(list(member.queues.values()))}"


async def close_session(access: DatabaseAccess, session_id: UUID) -> None:
    """Close the session, so that other processes need not wait for its lease. On failure, the lease
    expires.
    """
    try:
        async with asyncio.timeout(LEAVE_TIMEOUT.total_seconds()), open_connection(access) as conn:
            await sessions.close_session(conn, session_id)
    except (StoreUnavailable, TimeoutError):
        return
