"""`rota queues`: lists, creates, pauses and limits queues."""

import re
from typing import Annotated, Any, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number

from rota.cli import times
from rota.cli.errors import Misused
from rota.cli.listing import said
from rota.cli.options import SWITCH, TALK, Talk, some
from rota.cli.tables import Column
from rota.core.errors import InvalidInput

RATE: Final = re.compile(r"(\d{1,7})/(\S+)")

app = App(name="queues", help="Queues: list, create, pause, limit.")


@app.command(name="list")
def list_queues(*, all_tenants: bool | None = None, talk: Talk = TALK) -> int:
    """List queues with their status, limits and run counts.

    Parameters
    ----------
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    with talk.open() as client:
        found = client.list_queues(all_tenants=all_tenants).items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("QUEUE", lambda queue: queue.name, flexible=True),
        Column("STATUS", lambda queue: "paused" if queue.is_paused else "active", mood=True),
        Column("WAITING", lambda queue: queue.waiting, right=True),
        Column("LATER", lambda queue: queue.later, right=True),
        Column("RUNNING", lambda queue: queue.running, right=True),
        Column("OLDEST", lambda queue: times.since(queue.oldest_waiting_since, now), right=True),
        Column("MAX", lambda queue: queue.max, right=True),
        Column("RATE", rate_told),
    ]
    talk.rows(found, columns, ids="name", empty="No queues")
    return 0


@app.command
def create(*queues: str, talk: Talk = TALK) -> int:
    """Create queues. A queue is also created when a job first uses it.

    Parameters
    ----------
    queues
        Queue names.
    """
    some("queue", queues)
    with talk.open() as client:
        for queue in queues:
            made = client.create_queue(name=queue)
            talk.done(made, f"Created queue {made.name}", id_=made.name)
    return 0


def rate_told(queue: Any) -> str:
    rate = queue.rate
    if rate is None:
        return ""
    burst = f", burst {rate['burst']}" if rate.get("burst", 1) > 1 else ""
    return f"{rate['count']}/{rate['per']}{burst}"


@app.command
def pause(*queues: str, all_tenants: bool | None = None, talk: Talk = TALK) -> int:
    """Pause queues: start no new runs. Current runs continue.

    Parameters
    ----------
    queues
        Queue names.
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    some("queue", queues)
    with talk.open() as client:
        for queue in queues:
            done = client.pause_queue(queue, all_tenants=all_tenants)
            talk.done(done, f"Paused queue {done.name}{whose(done)}", id_=done.name)
    return 0


@app.command
def resume(*queues: str, all_tenants: bool | None = None, talk: Talk = TALK) -> int:
    """Resume paused queues.

    Parameters
    ----------
    queues
        Queue names.
    all_tenants
        Every tenant, or with --no-all-tenants only the key's tenant. Default: every tenant with a
        platform key, otherwise the key's tenant.
    """
    some("queue", queues)
    with talk.open() as client:
        for queue in queues:
            done = client.resume_queue(queue, all_tenants=all_tenants)
            talk.done(done, f"Resumed queue {done.name}{whose(done)}", id_=done.name)
    return 0


def whose(done: Any) -> str:
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
    talk: Talk = TALK,
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
        raise Misused("give --max, --rate or both; or --none to remove the limits")
    if burst is not None and rate is None:
        raise Misused("--burst requires --rate")
    fields = said(max=most, rate=None if rate is None else rate_of(rate, burst))
    with talk.open() as client:
        client.limit_queue(queue, all_tenants=all_tenants, **fields)
    summary = f"Removed the limits of queue {queue}" if none else f"Limited queue {queue}"
    talk.done({"name": queue} | fields, summary, id_=queue)
    return 0


def rate_of(text: str, burst: int | None) -> dict[str, Any]:
    found = RATE.fullmatch(text)
    if found is None:
        raise InvalidInput("--rate", text, "expected COUNT/TIME, such as 100/1m")
    per = found[2] if found[2][0].isdigit() or found[2].startswith("P") else f"1{found[2]}"
    return {"count": int(found[1]), "per": per} | said(burst=burst)
