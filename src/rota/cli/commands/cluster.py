"""`rota workers`, `rota drain`, `rota kinds`, `rota schedulers`, `rota shards`: the processes."""

from typing import Annotated, Any

from cyclopts import Parameter

from rota.cli import times
from rota.cli.options import TALK, Talk, some
from rota.cli.tables import Column


def workers(
    *,
    with_dead: Annotated[bool, Parameter(name="--all", negative=())] = False,
    talk: Talk = TALK,
) -> int:
    """List the workers that serve your tenant, with their queues, kinds and load.

    A platform key lists every worker.

    Parameters
    ----------
    with_dead
        Also show workers that stopped recently.
    """
    with talk.open() as client:
        found = client.list_workers(with_dead=with_dead).items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("WORKER", lambda each: each.name, flexible=True),
        Column("STATUS", status),
        Column("BUSY", lambda each: f"{each.running}/{each.slots}", right=True),
        Column("UP", lambda each: times.since(each.started_at, now), right=True),
        Column("HEARTBEAT", lambda each: times.ago(each.beat_at, now)),
        Column("QUEUES", lambda each: " ".join(each.queues), flexible=True),
        Column("TENANTS", lambda each: " ".join(each.tenants), flexible=True),
        Column("KINDS", lambda each: " ".join(each.kinds), flexible=True),
        Column("ID", lambda each: each.worker_id),
    ]
    empty = "No workers running; start one with `rota worker module:app`"
    talk.rows(found, columns, ids="worker_id", empty=empty)
    return 0


def status(worker: Any) -> str:
    if not worker.is_alive:
        return "stopped"
    return "draining" if worker.is_draining else "alive"


def drain(*workers: str, talk: Talk = TALK) -> int:
    """Drain workers: finish current runs, then stop.

    Parameters
    ----------
    workers
        Worker ids, as shown by `rota workers`.
    """
    some("worker", workers)
    with talk.open() as client:
        for worker in workers:
            drained = client.drain_worker(worker)
            talk.done(drained, f"Draining {drained.name}", id_=drained.worker_id)
    return 0


def kinds(*, talk: Talk = TALK) -> int:
    """List the kinds of jobs that workers serve, with their payload fields."""
    with talk.open() as client:
        found = client.list_kinds().items
    columns: list[Column[Any]] = [
        Column("KIND", lambda each: each.kind),
        Column("WORKERS", lambda each: each.workers, right=True),
        Column("PAYLOAD", lambda each: fields(each.payload_schema), flexible=True),
    ]
    empty = "No kinds registered; start a worker with `rota worker module:app`"
    talk.rows(found, columns, ids="kind", empty=empty)
    return 0


def fields(schema: dict[str, Any] | None) -> str:
    """Return the fields of a payload; optional ones are in brackets."""
    if schema is None:
        return "any"
    needed = set(schema.get("required", ()))
    names = schema.get("properties", {})
    return " ".join(name if name in needed else f"[{name}]" for name in names) or "none"


def schedulers(*, talk: Talk = TALK) -> int:
    """List the running schedulers, with their shards."""
    with talk.open() as client:
        found = client.list_schedulers().items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("SCHEDULER", lambda each: each.name, flexible=True),
        Column("STATUS", lambda each: "draining" if each.is_draining else "alive"),
        Column("SHARDS", lambda each: len(each.shards), right=True),
        Column("UP", lambda each: times.since(each.started_at, now), right=True),
        Column("HEARTBEAT", lambda each: times.ago(each.beat_at, now)),
        Column("ID", lambda each: each.scheduler_id),
    ]
    empty = "No schedulers running; start one with `rota scheduler`"
    talk.rows(found, columns, ids="scheduler_id", empty=empty)
    return 0


def shards(*, talk: Talk = TALK) -> int:
    """List the shards and their schedulers."""
    with talk.open() as client:
        found = client.list_shards().items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("SHARD", lambda each: each.shard, right=True),
        Column("SCHEDULER", lambda each: each.scheduler or "none", flexible=True),
        Column("EPOCH", lambda each: each.epoch, right=True),
        Column("LEASE EXPIRES", lambda each: times.ago(each.expires_at, now)),
    ]
    talk.rows(found, columns, ids="shard", empty="No shards")
    return 0
