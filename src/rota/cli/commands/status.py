"""`rota status`: shows problems, processes, queues, jobs and recent outcomes from the API."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions, print_json, print_lines
from rota.cli.errors import UsageError
from rota.cli.problem_lines import has_bad, render_problems
from rota.cli.tables import TableColumn, detect_screen, render_table
from rota.core.time import moments

if TYPE_CHECKING:
    from rota.sdk.client import Client

RECENT_WINDOW: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """A snapshot from the API; `ended` counts the runs of the last five minutes by outcome."""

    url: str
    tenant: str
    now: datetime
    problems: Sequence[Any]
    nodes: Sequence[Mapping[str, Any]]
    queues: Sequence[Any]
    jobs: Sequence[Any]
    ended: Sequence[Mapping[str, Any]]


def status(*, check: bool = False, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show problems, processes, queues, jobs, and the outcomes of the last five minutes.

    Reads the API and creates nothing. Queues, jobs and runs are those of your key's tenant. The
    exit code is 69 if the server is unreachable.

    Parameters
    ----------
    check
        Show only the problems. The exit code is 1 if one of them is a warning or worse, else 0.
        With --quiet it prints nothing.
    """
    if check:
        return check_problems(api_options)
    if api_options.quiet:
        raise UsageError("--quiet is not supported: a status has no ids; use --json or --check")
    with api_options.open_client() as client:
        report = read_status(client)
    if api_options.as_json:
        print_json(report)
    else:
        print_lines(render_text(report))
    return 0


def check_problems(api_options: ApiOptions) -> int:
    """Print the problems; return the exit code."""
    with api_options.open_client() as client:
        problems = client.list_problems(fresh=True).items
    if api_options.as_json:
        print_json(problems)
    elif not api_options.quiet:
        print_lines(render_problems(problems, times.now(), detect_screen()))
    return 1 if has_bad(problems) else 0


def read_status(client: "Client") -> StatusReport:
    now = times.now()
    who = client.get_whoami()
    ended = client.get_statistics(since=moments.to_rfc3339(now - RECENT_WINDOW)).runs
    return StatusReport(
        url=client.url,
        tenant=who.tenant,
        now=now,
        problems=client.list_problems().items,
        nodes=[
            *(
                {"role": "scheduler", **describe_process(each)}
                for each in client.list_schedulers().items
            ),
            *({"role": "worker", **describe_process(each)} for each in client.list_workers().items),
        ],
        queues=client.list_queues().items,
        jobs=client.get_job_counts().items,
        ended=[{"state": state, "number": number} for state, number in sorted(ended.items())],
    )


def describe_process(process: Any) -> dict[str, Any]:
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


def render_text(report: StatusReport) -> Iterator[str]:
    """Render the tables."""
    now = report.now
    yield f"{report.url} · tenant {report.tenant}"
    yield ""
    yield from render_problems(report.problems, now, detect_screen())
    yield ""
    empty = "No scheduler and no worker running; start both with `rota up`"
    yield from render_section(build_process_columns(now), report.nodes, empty=empty)
    yield ""
    yield from render_section(build_queue_columns(now), report.queues, empty="No queues")
    yield ""
    jobs: list[TableColumn[Any]] = [
        TableColumn("JOBS", lambda jobs: jobs.status, mood=True),
        TableColumn("NUMBER", lambda jobs: jobs.count, right=True),
        TableColumn("NEXT FIRE", lambda jobs: times.format_relative(jobs.next_fire_time, now)),
    ]
    empty = "No jobs; `rota up --demo` adds example jobs"
    yield from render_section(jobs, report.jobs, empty=empty)
    yield ""
    ended: list[TableColumn[Any]] = [
        TableColumn("ENDED (5 MIN)", lambda ended: ended["state"], mood=True),
        TableColumn("NUMBER", lambda ended: ended["number"], right=True),
    ]
    yield from render_section(ended, report.ended, empty="No run ended in the last five minutes")


def render_section(
    columns: Sequence[TableColumn[Any]], rows: Sequence[Any], *, empty: str
) -> Iterator[str]:
    if rows:
        yield from render_table(columns, rows, detect_screen())
    else:
        yield empty


def build_process_columns(now: datetime) -> list[TableColumn[Any]]:
    return [
        TableColumn("PROCESS", lambda node: node["role"] + format_draining(node)),
        TableColumn("NAME", lambda node: node["name"], flexible=True),
        TableColumn("UP", lambda node: times.format_since(node["started_at"], now), right=True),
        TableColumn("HEARTBEAT", lambda node: times.format_relative(node["beat_at"], now)),
        TableColumn("SHARDS", lambda node: node["shards"], right=True),
        TableColumn("SLOTS", lambda node: node["slots"], right=True),
        TableColumn("RUNNING", lambda node: node["running"], right=True),
    ]


def format_draining(node: Mapping[str, Any]) -> str:
    return " (draining)" if node["is_draining"] else ""


def build_queue_columns(now: datetime) -> list[TableColumn[Any]]:
    return [
        TableColumn("QUEUE", lambda queue: queue.name, flexible=True),
        TableColumn("STATUS", lambda queue: "paused" if queue.is_paused else "active", mood=True),
        TableColumn("READY", lambda queue: queue.waiting, right=True),
        TableColumn("LATER", lambda queue: queue.later, right=True),
        TableColumn("RUNNING", lambda queue: queue.running, right=True),
        TableColumn(
            "OLDEST", lambda queue: times.format_since(queue.oldest_waiting_since, now), right=True
        ),
    ]
