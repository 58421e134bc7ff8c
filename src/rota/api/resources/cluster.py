"""Queues, and the processes that serve them. Room: api/resources.

Queues are shared by all tenants, so pausing and limiting one is for whoever runs the installation.
"""

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.shared import audited
from rota.api.shapes.cluster import (
    LimitsDraft,
    Queues,
    QueueState,
    QueueView,
    Schedulers,
    SchedulerView,
    Shards,
    ShardView,
    WorkerDrained,
    Workers,
    WorkersQuery,
    WorkerView,
)
from rota.api.shapes.pieces import moment, moment_or_none
from rota.core.access import Permission
from rota.core.errors import NotFound
from rota.core.limits import Limits, Rate
from rota.core.time import durations
from rota.store import cluster_views, gates, hints, names, sessions
from rota.store.cluster_views import QueueRow


@operation("GET", "/v1/queues", tag="queues", permission=Permission.READ, answer=Queues)
async def list_queues(call: Call) -> Reply:
    """Every queue: whether it is paused, its limits, and what of yours waits and runs in it."""
    found = await cluster_views.queues(call.conn, tenant_id=call.tenant_id)
    return Reply(Queues(data=[queue_view(row) for row in found]))


def queue_view(row: QueueRow) -> QueueView:
    rate = None
    if row.rate_count is not None and row.rate_per is not None:
        rate = {
            "count": row.rate_count,
            "per": durations.iso(row.rate_per),
            "burst": row.rate_burst,
        }
    return QueueView(
        name=row.name,
        is_paused=row.paused_at is not None,
        paused_at=moment_or_none(row.paused_at),
        max=row.most,
        rate=rate,
        waiting=row.waiting,
        later=row.later,
        running=row.running,
        oldest_waiting_since=moment_or_none(row.oldest_at),
    )


async def known_queue(call: Call) -> int:
    """The queue of the path; asking for one must not make it."""
    name = call.params["queue"]
    found = await names.find_queue(call.conn, name)
    if found is None:
        raise NotFound("queue", name)
    return found


@operation(
    "POST",
    "/v1/queues/{queue}/pause",
    tag="queues",
    permission=Permission.PLATFORM,
    scope="platform",
    answer=QueueState,
)
async def pause_queue(call: Call) -> Reply:
    """Start nothing of this queue any more; what runs goes on."""
    return await _set_paused(call, paused=True)


@operation(
    "POST",
    "/v1/queues/{queue}/resume",
    tag="queues",
    permission=Permission.PLATFORM,
    scope="platform",
    answer=QueueState,
)
async def resume_queue(call: Call) -> Reply:
    """Start its runs again."""
    return await _set_paused(call, paused=False)


async def _set_paused(call: Call, *, paused: bool) -> Reply:
    queue_id, name = await known_queue(call), call.params["queue"]
    await gates.pause_queue(call.conn, queue_id, paused=paused, by=call.actor)
    await audited(call, "queue.pause" if paused else "queue.resume", "queue", name)
    if not paused:
        call.hints.add(hints.RUNS)
    return Reply(QueueState(name=name, is_paused=paused))


@operation(
    "PUT",
    "/v1/queues/{queue}/limits",
    tag="queues",
    permission=Permission.PLATFORM,
    scope="platform",
    body=LimitsDraft,
    status=204,
    example={"max": 20, "rate": {"count": 100, "per": "1m", "burst": 10}},
)
async def limit_queue(call: Call) -> Reply:
    """Let so many run at a time and so many start per time; nothing said lifts the limits."""
    queue_id, draft = await known_queue(call), call.body
    rate = None
    if draft.rate is not None:
        per = durations.parse(draft.rate.per, field="rate.per")
        rate = Rate(count=draft.rate.count, per=per, burst=draft.rate.burst)
    limits = None if draft.max is None and rate is None else Limits(most=draft.max, rate=rate)
    await gates.limit_queue(call.conn, queue_id, limits)
    await audited(call, "queue.limit", "queue", call.params["queue"], {"max": draft.max})
    call.hints.add(hints.RUNS)
    return Reply()


@operation(
    "GET",
    "/v1/workers",
    tag="cluster",
    permission=Permission.READ,
    query=WorkersQuery,
    answer=Workers,
)
async def list_workers(call: Call) -> Reply:
    """The workers that are alive, with what they serve and how busy they are."""
    found = await cluster_views.workers(call.conn, with_dead=call.query.with_dead)
    return Reply(
        Workers(
            data=[
                WorkerView(
                    worker_id=identifiers.shown("wrk", row.id),
                    name=row.name,
                    is_alive=row.is_alive,
                    is_draining=row.draining,
                    slots=row.slots,
                    running=row.running,
                    queues=row.queues,
                    kinds=row.kinds,
                    started_at=moment(row.started_at),
                    beat_at=moment(row.beat_at),
                )
                for row in found
            ]
        )
    )


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
    """Let a worker take no more runs, and end when those that it has have ended.

    It hears of it with its next heartbeat. What it runs may take as long as it stays within the
    time that the process has to stop; there is no way back but to start another worker.
    """
    session_id = identifiers.read("worker_id", call.params["worker_id"])
    asked = await sessions.drain(call.conn, session_id)
    if asked is None:
        raise NotFound("worker", call.params["worker_id"])
    worker_id = identifiers.shown("wrk", asked.id)
    await audited(call, "worker.drain", "worker", worker_id, {"name": asked.name})
    return Reply(WorkerDrained(worker_id=worker_id, name=asked.name, is_draining=True))


@operation("GET", "/v1/schedulers", tag="cluster", permission=Permission.READ, answer=Schedulers)
async def list_schedulers(call: Call) -> Reply:
    """The schedulers that are alive, with their shards."""
    found = await cluster_views.schedulers(call.conn)
    return Reply(
        Schedulers(
            data=[
                SchedulerView(
                    scheduler_id=identifiers.shown("sch", row.id),
                    name=row.name,
                    is_draining=row.draining,
                    started_at=moment(row.started_at),
                    beat_at=moment(row.beat_at),
                    shards=row.shards,
                )
                for row in found
            ]
        )
    )


@operation("GET", "/v1/shards", tag="cluster", permission=Permission.READ, answer=Shards)
async def list_shards(call: Call) -> Reply:
    """The 128 shards and who fires them."""
    found = await cluster_views.shards(call.conn)
    return Reply(
        Shards(
            data=[
                ShardView(
                    shard=row.id,
                    scheduler=row.scheduler,
                    epoch=row.epoch,
                    expires_at=moment_or_none(row.expires_at),
                )
                for row in found
            ]
        )
    )
