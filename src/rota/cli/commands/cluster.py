"""`rota workers`, `rota drain`, `rota kinds`, `rota schedulers`, `rota shards`: the processes.

Room: cli.
"""

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
    """List the workers that take your tenant's runs, with what they serve and how busy they are.

    With a platform key it lists every worker.

    Parameters
    ----------
    with_dead
        Also those that have died or stopped lately.
    """
    with talk.open() as client:
        found = client.list_workers(with_dead=with_dead).items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("WORKER", lambda each: each.name, flexible=True),
        Column("STATUS", status),
        Column("BUSY", lambda each: f"{each.running}/{each.slots}", right=True),
        Column("UP", lambda each: times.since(each.started_at, now), right=True),
        Column("LAST BEAT", lambda each: times.ago(each.beat_at, now)),
        Column("QUEUES", lambda each: " ".join(each.queues), flexible=True),
        Column("TENANTS", lambda each: " ".join(each.tenants), flexible=True),
        Column("KINDS", lambda each: " ".join(each.kinds), flexible=True),
        Column("ID", lambda each: each.worker_id),
    ]
    empty = "no worker is alive; `rota worker module:app` starts one"
    talk.rows(found, columns, ids="worker_id", empty=empty)
    return 0


def status(worker: Any) -> str:
    if not worker.is_alive:
        return "gone"
    return "draining" if worker.is_draining else "alive"


def drain(*workers: str, talk: Talk = TALK) -> int:
    """Let workers take no more runs; each ends when those that it has have ended.

    Parameters
    ----------
    workers
        Their ids, as `rota workers` shows them.
    """
    some("worker", workers)
    with talk.open() as client:
        for worker in workers:
            asked = client.drain_worker(worker)
            talk.done(asked, f"{asked.name} takes no more runs", id_=asked.worker_id)
    return 0


def kinds(*, talk: Talk = TALK) -> int:
    """List the kinds of jobs that workers carry out, with the fields of their payloads."""
    with talk.open() as client:
        found = client.list_kinds().items
    columns: list[Column[Any]] = [
        Column("KIND", lambda each: each.kind),
        Column("WORKERS", lambda each: each.workers, right=True),
        Column("PAYLOAD", lambda each: fields(each.payload_schema), flexible=True),
    ]
    empty = "no worker has told what it carries out; `rota worker module:app` starts one"
    talk.rows(found, columns, ids="kind", empty=empty)
    return 0


def fields(schema: dict[str, Any] | None) -> str:
    """The fields of a payload; what is needed without brackets."""
    if schema is None:
        return "any"
    needed = set(schema.get("required", ()))
    names = schema.get("properties", {})
    return " ".join(name if name in needed else f"[{name}]" for name in names) or "none"


def schedulers(*, talk: Talk = TALK) -> int:
    """List the schedulers that are alive, with their shards."""
    with talk.open() as client:
        found = client.list_schedulers().items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("SCHEDULER", lambda each: each.name, flexible=True),
        Column("STATUS", lambda each: "draining" if each.is_draining else "alive"),
        Column("SHARDS", lambda each: len(each.shards), right=True),
        Column("UP", lambda each: times.since(each.started_at, now), right=True),
        Column("LAST BEAT", lambda each: times.ago(each.beat_at, now)),
        Column("ID", lambda each: each.scheduler_id),
    ]
    empty = "no scheduler is alive; `rota scheduler` starts one"
    talk.rows(found, columns, ids="scheduler_id", empty=empty)
    return 0


def shards(*, talk: Talk = TALK) -> int:
    """List the shards and who fires them."""
    with talk.open() as client:
        found = client.list_shards().items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("SHARD", lambda each: each.shard, right=True),
        Column("SCHEDULER", lambda each: each.scheduler or "nobody", flexible=True),
        Column("EPOCH", lambda each: each.epoch, right=True),
        Column("LEASE ENDS", lambda each: times.ago(each.expires_at, now)),
    ]
    talk.rows(found, columns, ids="shard", empty="there are no shards")
    return 0
