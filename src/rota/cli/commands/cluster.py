"""`rota workers`, `rota drain`, `rota kinds`, `rota schedulers`, `rota shards`: the processes."""

from typing import Annotated, Any

from cyclopts import Parameter

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions, require_arguments
from rota.cli.tables import TableColumn


def workers(
    *,
    with_dead: Annotated[bool, Parameter(name="--all", negative=())] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List the workers that serve your tenant, with their queues, kinds and load.

    A platform key lists every worker.

    Parameters
    ----------
    with_dead
        Also show workers that stopped recently.
    """
    with api_options.open_client() as client:
        found = client.list_workers(with_dead=with_dead).items
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("WORKER", lambda each: each.name, flexible=True),
        TableColumn("STATUS", describe_status),
        TableColumn("BUSY", lambda each: f"{each.running}/{each.slots}", right=True),
        TableColumn("UP", lambda each: times.format_since(each.started_at, now), right=True),
        TableColumn("HEARTBEAT", lambda each: times.format_relative(each.beat_at, now)),
        TableColumn("QUEUES", lambda each: " ".join(each.queues), flexible=True),
        TableColumn("TENANTS", lambda each: " ".join(each.tenants), flexible=True),
        TableColumn("KINDS", lambda each: " ".join(each.kinds), flexible=True),
        TableColumn("VERSION", lambda each: each.version or ""),
        TableColumn("METRICS", lambda each: each.observe_url or ""),
        TableColumn("ID", lambda each: each.worker_id),
    ]
    empty = "No workers running; start one with `rota worker module:app`"
    api_options.print_rows(found, columns, ids="worker_id", empty=empty)
    return 0


def describe_status(worker: Any) -> str:
    if not worker.is_alive:
        return "stopped"
    return "draining" if worker.is_draining else "alive"


def drain(*workers: str, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Drain workers: finish current runs, then stop.

    Parameters
    ----------
    workers
        Worker ids, as shown by `rota workers`.
    """
    require_arguments("worker", workers)
    with api_options.open_client() as client:
        for worker in workers:
            drained = client.drain_worker(worker)
            api_options.print_result(drained, f"Draining {drained.name}", id_=drained.worker_id)
    return 0


def kinds(*, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """List the kinds of jobs that workers serve, with their payload fields."""
    with api_options.open_client() as client:
        found = client.list_kinds().items
    columns: list[TableColumn[Any]] = [
        TableColumn("KIND", lambda each: each.kind),
        TableColumn("WORKERS", lambda each: each.workers, right=True),
        TableColumn("PAYLOAD", lambda each: describe_fields(each.payload_schema), flexible=True),
    ]
    empty = "No kinds registered; start a worker with `rota worker module:app`"
    api_options.print_rows(found, columns, ids="kind", empty=empty)
    return 0


def describe_fields(schema: dict[str, Any] | None) -> str:
    """Return the fields of a payload; optional ones are in brackets."""
    if schema is None:
        return "any"
    needed = set(schema.get("required", ()))
    names = schema.get("properties", {})
    return " ".join(name if name in needed else f"[{name}]" for name in names) or "none"


def schedulers(*, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """List the running schedulers, with their shards."""
    with api_options.open_client() as client:
        found = client.list_schedulers().items
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("SCHEDULER", lambda each: each.name, flexible=True),
        TableColumn("STATUS", lambda each: "draining" if each.is_draining else "alive"),
        TableColumn("SHARDS", lambda each: len(each.shards), right=True),
        TableColumn("UP", lambda each: times.format_since(each.started_at, now), right=True),
        TableColumn("HEARTBEAT", lambda each: times.format_relative(each.beat_at, now)),
        TableColumn("VERSION", lambda each: each.version or ""),
        TableColumn("METRICS", lambda each: each.observe_url or ""),
        TableColumn("ID", lambda each: each.scheduler_id),
    ]
    empty = "No schedulers running; start one with `rota scheduler`"
    api_options.print_rows(found, columns, ids="scheduler_id", empty=empty)
    return 0


def shards(*, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """List the shards and their schedulers."""
    with api_options.open_client() as client:
        found = client.list_shards().items
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("SHARD", lambda each: each.shard, right=True),
        TableColumn("SCHEDULER", lambda each: each.scheduler or "none", flexible=True),
        TableColumn("EPOCH", lambda each: each.epoch, right=True),
        TableColumn("LEASE EXPIRES", lambda each: times.format_relative(each.expires_at, now)),
    ]
    api_options.print_rows(found, columns, ids="shard", empty="No shards")
    return 0
