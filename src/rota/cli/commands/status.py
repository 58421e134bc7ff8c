"""`rota status`: shows processes, queues, jobs and recent outcomes from the API."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from rota.cli import times
from rota.cli.errors import Misused
from rota.cli.options import TALK, Talk, write, write_json
from rota.cli.tables import Column, screen_of, table
from rota.core.time import moments

if TYPE_CHECKING:
    from rota.sdk.client import Client

RECENT: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """A snapshot from the API; `ended` counts the runs of the last five minutes by outcome."""

    url: str
    tenant: str
    now: datetime
    nodes: Sequence[Mapping[str, Any]]
    queues: Sequence[Any]
    jobs: Sequence[Any]
    ended: Sequence[Mapping[str, Any]]


def status(*, talk: Talk = TALK) -> int:
    """Show processes, queues, jobs, and the outcomes of the last five minutes.

    Reads the API and creates nothing. Queues, jobs and runs are those of your key's tenant. The
    exit code is 69 if the server is unreachable.
    """
    if talk.quiet:
        raise Misused("--quiet is not supported: a status has no ids; use --json")
    with talk.open() as client:
        report = read_status(client)
    if talk.as_json:
        write_json(report)
    else:
        write(as_text(report))
    return 0


def read_status(client: "Client") -> StatusReport:
    now = times.now()
    who = client.get_whoami()
    ended = client.get_statistics(since=moments.to_rfc3339(now - RECENT)).runs
    return StatusReport(
        url=client.url,
        tenant=who.tenant,
        now=now,
        nodes=[
            *({"role": "scheduler", **node_of(each)} for each in client.list_schedulers().items),
            *({"role": "worker", **node_of(each)} for each in client.list_workers().items),
        ],
        queues=client.list_queues().items,
        jobs=client.get_job_counts().items,
        ended=[{"state": state, "number": number} for state, number in sorted(ended.items())],
    )


def node_of(process: Any) -> dict[str, Any]:
    """Describe a process; only schedulers have shards, only workers have slots."""
    shards = getattr(process, "shards", None)
    return {
        "name": process.name,
        "is_draining": process.is_draining,
        "started_at": process.started_at,
        "beat_at": process.beat_at,
        "shards": None if shards is None else len(shards),
        "slots": getattr(process, "slots", None),
        "running": getattr(process, "running", None),
    }


def as_text(report: StatusReport) -> Iterator[str]:
    """Render the tables."""
    now = report.now
    yield f"{report.url} · tenant {report.tenant}"
    yield ""
    empty = "No scheduler and no worker running; start both with `rota up`"
    yield from section(node_columns(now), report.nodes, empty=empty)
    yield ""
    yield from section(queue_columns(now), report.queues, empty="No queues")
    yield ""
    jobs: list[Column[Any]] = [
        Column("JOBS", lambda jobs: jobs.status, mood=True),
        Column("NUMBER", lambda jobs: jobs.count, right=True),
        Column("NEXT FIRE", lambda jobs: times.ago(jobs.next_fire_time, now)),
    ]
    empty = "No jobs; `rota up --demo` adds example jobs"
    yield from section(jobs, report.jobs, empty=empty)
    yield ""
    ended: list[Column[Any]] = [
        Column("ENDED (5 MIN)", lambda ended: ended["state"], mood=True),
        Column("NUMBER", lambda ended: ended["number"], right=True),
    ]
    yield from section(ended, report.ended, empty="No run ended in the last five minutes")


def section(columns: Sequence[Column[Any]], rows: Sequence[Any], *, empty: str) -> Iterator[str]:
    if rows:
        yield from table(columns, rows, screen_of())
    else:
        yield empty


def node_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("PROCESS", lambda node: node["role"] + draining(node)),
        Column("NAME", lambda node: node["name"], flexible=True),
        Column("UP", lambda node: times.since(node["started_at"], now), right=True),
        Column("HEARTBEAT", lambda node: times.ago(node["beat_at"], now)),
        Column("SHARDS", lambda node: node["shards"], right=True),
        Column("SLOTS", lambda node: node["slots"], right=True),
        Column("RUNNING", lambda node: node["running"], right=True),
    ]


def draining(node: Mapping[str, Any]) -> str:
    return " (draining)" if node["is_draining"] else ""


def queue_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("QUEUE", lambda queue: queue.name, flexible=True),
        Column("STATUS", lambda queue: "paused" if queue.is_paused else "active", mood=True),
        Column("READY", lambda queue: queue.waiting, right=True),
        Column("LATER", lambda queue: queue.later, right=True),
        Column("RUNNING", lambda queue: queue.running, right=True),
        Column("OLDEST", lambda queue: times.since(queue.oldest_waiting_since, now), right=True),
    ]
