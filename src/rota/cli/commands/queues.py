"""`rota queues`: lists, creates, pauses and limits queues, and shows their demand."""

import re
from typing import Annotated, Any, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, SWITCH, ApiOptions, require_arguments
from rota.cli.errors import UsageError
from rota.cli.pagination import drop_empty
from rota.cli.tables import TableColumn
from rota.core.errors import InvalidInput

RATE_PATTERN: Final = re.compile(r"(\d{1,7})/(\S+)")

app = App(name="queues", help="Queues: list, create, pause, limit.")


@app.command(name="list")
def list_queues(
    *, all_tenants: bool | None = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List queues with their status, limits and run counts.

    Parameters
    ----------
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    with api_options.open_client() as client:
        found = client.list_queues(all_tenants=all_tenants).items
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("QUEUE", lambda queue: queue.name, flexible=True),
        TableColumn("STATUS", lambda queue: "paused" if queue.is_paused else "active", mood=True),
        TableColumn("WAITING", lambda queue: queue.waiting, right=True),
        TableColumn("LATER", lambda queue: queue.later, right=True),
        TableColumn("RUNNING", lambda queue: queue.running, right=True),
        TableColumn(
            "OLDEST", lambda queue: times.format_since(queue.oldest_waiting_since, now), right=True
        ),
        TableColumn("MAX", lambda queue: queue.max, right=True),
        TableColumn("RATE", format_rate),
    ]
    api_options.print_rows(found, columns, ids="name", empty="No queues")
    return 0


@app.command
def demand(
    *queues: str, all_tenants: bool | None = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Show how many slots queues could use: ready, running and upcoming runs.

    Parameters
    ----------
    queues
        Queue names.
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    require_arguments("queue", queues)
    with api_options.open_client() as client:
        found = [client.get_queue_demand(queue, all_tenants=all_tenants) for queue in queues]
    columns: list[TableColumn[Any]] = [
        TableColumn("QUEUE", lambda each: each.queue, flexible=True),
        TableColumn("DEMAND", lambda each: each.demand, right=True),
        TableColumn("READY", lambda each: each.ready, right=True),
        TableColumn("RUNNING", lambda each: each.running, right=True),
        TableColumn("UPCOMING", lambda each: each.upcoming, right=True),
    ]
    api_options.print_rows(found, columns, ids="demand", empty="No queues")
    return 0


@app.command
def create(*queues: str, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Create queues. A queue is also created when a job first uses it.

    Parameters
    ----------
    queues
        Queue names.
    """
    require_arguments("queue", queues)
    with api_options.open_client() as client:
        for queue in queues:
            made = client.create_queue(name=queue)
            api_options.print_result(made, f"Created queue {made.name}", id_=made.name)
    return 0


def format_rate(queue: Any) -> str:
    rate = queue.rate
    if rate is None:
        return ""
    burst = f", burst {rate['burst']}" if rate.get("burst", 1) > 1 else ""
    return f"{rate['count']}/{rate['per']}{burst}"


@app.command
def pause(
    *queues: str, all_tenants: bool | None = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Pause queues: start no new runs. Current runs continue.

    Parameters
    ----------
    queues
        Queue names.
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    require_arguments("queue", queues)
    with api_options.open_client() as client:
        for queue in queues:
            done = client.pause_queue(queue, all_tenants=all_tenants)
            api_options.print_result(
                done, f"Paused queue {done.name}{describe_scope(done)}", id_=done.name
            )
    return 0


@app.command
def resume(
    *queues: str, all_tenants: bool | None = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Resume paused queues.

    Parameters
    ----------
    queues
        Queue names.
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    require_arguments("queue", queues)
    with api_options.open_client() as client:
        for queue in queues:
            done = client.resume_queue(queue, all_tenants=all_tenants)
            api_options.print_result(
                done, f"Resumed queue {done.name}{describe_scope(done)}", id_=done.name
            )
    return 0


def describe_scope(done: Any) -> str:
    return "" if done.is_for_all else " for this tenant"


@app.command
def limit(  # noqa: PLR0913 — the options of the command
    queue: str,
    /,
    *,
    most: Annotated[int | None, Parameter(name="--max", validator=Number(gte=1))] = None,
    rate: str | None = None,
    burst: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    none: Annotated[bool, SWITCH] = False,
    all_tenants: bool | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Set the concurrency limit and the rate limit of a queue.

    Replaces both limits: a limit that is not given is removed.

    Parameters
    ----------
    queue
        Queue name.
    most
        Maximum number of concurrent runs. Default: no limit.
    rate
        Maximum number of starts per time, such as 100/1m. Default: no limit.
    burst
        Number of starts allowed at once within the rate. Default: 1.
    none
        Remove both limits.
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    if none == (most is not None or rate is not None):
        raise UsageError("give --max, --rate or both; or --none to remove the limits")
    if burst is not None and rate is None:
        raise UsageError("--burst requires --rate")
    fields = drop_empty(max=most, rate=None if rate is None else parse_rate(rate, burst))
    with api_options.open_client() as client:
        client.limit_queue(queue, all_tenants=all_tenants, **fields)
    summary = f"Removed the limits of queue {queue}" if none else f"Limited queue {queue}"
    api_options.print_result({"name": queue} | fields, summary, id_=queue)
    return 0


def parse_rate(text: str, burst: int | None) -> dict[str, Any]:
    found = RATE_PATTERN.fullmatch(text)
    if found is None:
        raise InvalidInput("--rate", text, "expected COUNT/TIME, such as 100/1m")
    per = found[2] if found[2][0].isdigit() or found[2].startswith("P") else f"1{found[2]}"
    return {"count": int(found[1]), "per": per} | drop_empty(burst=burst)
