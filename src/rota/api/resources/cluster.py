"""Operations for queues, workers, schedulers and shards.

A tenant's queues are its own: its admins create, pause and limit them. With a platform key the same
operations apply to all tenants.
"""

import json

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.schemas.cluster import (
    AllTenantsQuery,
    LimitsDraft,
    QueueCreated,
    QueueDraft,
    Queues,
    QueueState,
    QueueView,
    Schedulers,
    SchedulerView,
    Shards,
    ShardView,
    WorkerDrained,
    WorkerList,
    WorkersQuery,
    WorkerView,
)
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.core.access import Permission, is_allowed
from rota.core.errors import NotFound
from rota.core.limits import GateLimits, RateLimit
from rota.core.submissions import check_name
from rota.core.tenancy import EVERY_TENANT
from rota.core.time import durations
from rota.store import cluster_views, gates, hints, interning, sessions, tenant_queues
from rota.store.cluster_views import QueueRow


@operation(
    "GET",
    "/v1/queues",
    tag="queues",
    permission=Permission.READ,
    query=AllTenantsQuery,
    answer=Queues,
)
async def list_queues(call: Call) -> Reply:
    """List your queues with their pauses, limits and counts of runs.

    A queue is yours if you created it, named it in a job, or have a run in it. A platform key lists
    the queues of every tenant, with the pauses and limits for all tenants; the counts cover its own
    tenant.
    """
    found = await cluster_views.list_queues(
        call.conn, tenant_id=call.tenant_id, all_tenants=call.is_for_all_tenants
    )
    return Reply(Queues(data=[build_queue_view(row) for row in found]))


@operation(
    "POST",
    "/v1/queues",
    tag="queues",
    permission=Permission.MANAGE,
    body=QueueDraft,
    answer=QueueCreated,
    status=201,
    other_statuses=(200,),
    example={"name": "reports"},
)
async def create_queue(call: Call) -> Reply:
    """Create a queue of your tenant.

    Tenants share no queues: runs of two tenants in queues of the same name do not affect each
    other. A queue is also created when a job names it. The status is 200 if the queue exists.
    """
    name = check_name(call.body.name, "name")
    pair = (call.tenant_id, name)
    known = await tenant_queues.find_queue(call.conn, tenant_id=call.tenant_id, name=name)
    await interning.intern_tenant_queues(call.conn, [pair])
    if known is None:
        await write_audit_entry(call, "queue.create", "queue", name)
    return Reply(QueueCreated(name=name), status=201 if known is None else 200)


def build_queue_view(row: QueueRow) -> QueueView:
    rate = None
    if row.rate_count is not None and row.rate_per is not None:
        rate = {
            "count": row.rate_count,
            "per": durations.to_iso(row.rate_per),
            "burst": row.rate_burst,
        }
    return QueueView(
        name=row.name,
        is_paused=row.paused_at is not None,
        is_paused_for_all=row.is_paused_for_all,
        paused_at=format_optional_time(row.paused_at),
        max=row.most,
        rate=rate,
        waiting=row.waiting,
        later=row.later,
        running=row.running,
        oldest_waiting_since=format_optional_time(row.oldest_at),
    )


async def find_queue(call: Call) -> int:
    """Find the queue in the path, without creating it. A queue that only other tenants use is not
    found.
    """
    name = call.params["queue"]
    if call.is_for_all_tenants:
        found = await interning.find_queue(call.conn, name)
    else:
        found = await tenant_queues.find_queue(call.conn, tenant_id=call.tenant_id, name=name)
    if found is None:
        raise NotFound("queue", name)
    return found


@operation(
    "POST",
    "/v1/queues/{queue}/pause",
    tag="queues",
    permission=Permission.MANAGE,
    scope="either",
    query=AllTenantsQuery,
    answer=QueueState,
)
async def pause_queue(call: Call) -> Reply:
    """Pause a queue.

    No more of its runs start; running ones continue. The pause applies to your tenant; with a
    platform key to all tenants, unless `all_tenants=false`.
    """
    return await _set_paused(call, paused=True)


@operation(
    "POST",
    "/v1/queues/{queue}/resume",
    tag="queues",
    permission=Permission.MANAGE,
    scope="either",
    query=AllTenantsQuery,
    answer=QueueState,
)
async def resume_queue(call: Call) -> Reply:
    """Resume a queue.

    The pauses are independent: a tenant resumes its own, a platform key the one for all tenants.
    """
    return await _set_paused(call, paused=False)


async def _set_paused(call: Call, *, paused: bool) -> Reply:
    queue_id, name, for_all = await find_queue(call), call.params["queue"], call.is_for_all_tenants
    if for_all:
        await gates.pause_queue(call.conn, queue_id, paused=paused, by=call.actor)
    else:
        await tenant_queues.pause_queue(
            call.conn, tenant_id=call.tenant_id, queue_id=queue_id, paused=paused, by=call.actor
        )
    action = "queue.pause" if paused else "queue.resume"
    await write_audit_entry(call, action, "queue", name, {"all_tenants": for_all})
    if not paused:
        call.hints.add(hints.RUNS_CHANNEL)
    return Reply(QueueState(name=name, is_paused=paused, is_for_all=for_all))


@operation(
    "PUT",
    "/v1/queues/{queue}/limits",
    tag="queues",
    permission=Permission.MANAGE,
    scope="either",
    query=AllTenantsQuery,
    body=LimitsDraft,
    status=204,
    example={"max": 20, "rate": {"count": 100, "per": "1m", "burst": 10}},
)
async def limit_queue(call: Call) -> Reply:
    """Limit the concurrency and the rate of a queue.

    An omitted limit is removed. The limits apply to your tenant's runs; with a platform key to the
    runs of all tenants together, unless `all_tenants=false`. If both are set, both apply.
    """
    queue_id, draft = await find_queue(call), call.body
    rate = None
    if draft.rate is not None:
        per = durations.parse(draft.rate.per, field="rate.per")
        rate = RateLimit(count=draft.rate.count, per=per, burst=draft.rate.burst)
    limits = (
        None if draft.max is None and rate is None else GateLimits(max_running=draft.max, rate=rate)
    )
    for_all = call.is_for_all_tenants
    if for_all:
        await gates.limit_queue(call.conn, queue_id, limits)
    else:
        await tenant_queues.limit_queue(
            call.conn, tenant_id=call.tenant_id, queue_id=queue_id, limits=limits
        )
    change = {"max": draft.max, "all_tenants": for_all}
    await write_audit_entry(call, "queue.limit", "queue", call.params["queue"], change)
    call.hints.add(hints.RUNS_CHANNEL)
    return Reply()


@operation(
    "GET",
    "/v1/workers",
    tag="cluster",
    permission=Permission.READ,
    query=WorkersQuery,
    answer=WorkerList,
)
async def list_workers(call: Call) -> Reply:
    """List the workers that execute runs of your tenant, with their kinds, queues and load.

    A platform key lists every worker, unless `all_tenants=false`. `running` counts the runs of the
    caller's tenant.
    """
    tenant = None if call.is_for_all_tenants else call.principal.tenant
    found = await cluster_views.list_workers(
        call.conn, tenant=tenant, with_dead=call.query.with_dead
    )
    shows_addresses = is_allowed(call.principal, Permission.PLATFORM)
    return Reply(
        WorkerList(
            data=[
                WorkerView(
                    worker_id=identifiers.format_id("wrk", row.id),
                    name=row.name,
                    is_alive=row.is_alive,
                    is_draining=row.draining,
                    slots=row.slots,
                    running=row.running,
                    queues=row.queues,
                    tenants=list_served_tenants(row.serves, tenant),
                    kinds=row.kinds,
                    started_at=format_time(row.started_at),
                    beat_at=format_time(row.beat_at),
                    version=row.version,
                    observe_url=row.observe_url if shows_addresses else None,
                )
                for row in found
            ]
        )
    )


def list_served_tenants(serves: str | None, tenant: str | None) -> list[str]:
    """Return the tenants that a worker serves; a tenant sees only `*` or its own name."""
    if serves is None:
        return [EVERY_TENANT]
    stored = json.loads(serves)
    lists = (stored["tenants"], *stored["queues"].values())
    named = {name for names_ in lists for name in names_}
    if EVERY_TENANT in named:
        return [EVERY_TENANT]
    return sorted(named) if tenant is None else [tenant]


@operation(
    "POST",
    "/v1/workers/{worker_id}/drain",
    tag="cluster",
    permission=Permission.PLATFORM,
    scope="platform",
    answer=WorkerDrained,
    status=202,
)
async def drain_worker(call: Call) -> Reply:
    """Drain a worker: finish its current runs, then stop.

    The worker learns of it with its next heartbeat and claims no more runs. Its current runs have
    `worker.drain` to finish. Draining cannot be undone; start another worker instead.
    """
    session_id = identifiers.parse_id("worker_id", call.params["worker_id"])
    drained = await sessions.drain_session(call.conn, session_id)
    if drained is None:
        raise NotFound("worker", call.params["worker_id"])
    worker_id = identifiers.format_id("wrk", drained.id)
    await write_audit_entry(call, "worker.drain", "worker", worker_id, {"name": drained.name})
    return Reply(WorkerDrained(worker_id=worker_id, name=drained.name, is_draining=True))


@operation("GET", "/v1/schedulers", tag="cluster", permission=Permission.READ, answer=Schedulers)
async def list_schedulers(call: Call) -> Reply:
    """List the live schedulers with their shards."""
    found = await cluster_views.list_schedulers(call.conn)
    shows_addresses = is_allowed(call.principal, Permission.PLATFORM)
    return Reply(
        Schedulers(
            data=[
                SchedulerView(
                    scheduler_id=identifiers.format_id("sch", row.id),
                    name=row.name,
                    is_draining=row.draining,
                    started_at=format_time(row.started_at),
                    beat_at=format_time(row.beat_at),
                    shards=row.shards,
                    version=row.version,
                    observe_url=row.observe_url if shows_addresses else None,
                )
                for row in found
            ]
        )
    )


@operation("GET", "/v1/shards", tag="cluster", permission=Permission.READ, answer=Shards)
async def list_shards(call: Call) -> Reply:
    """List the 128 shards with their schedulers."""
    found = await cluster_views.list_shards(call.conn)
    return Reply(
        Shards(
            data=[
                ShardView(
                    shard=row.id,
                    scheduler=row.scheduler,
                    epoch=row.epoch,
                    expires_at=format_optional_time(row.expires_at),
                )
                for row in found
            ]
        )
    )
