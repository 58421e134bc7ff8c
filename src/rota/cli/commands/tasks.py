"""`rota tasks`: shows the tasks that workers serve, with statistics of their runs."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions, print_json, print_lines
from rota.cli.commands.inspection import draw_sparkline
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, list_rows, print_more_hint
from rota.cli.tables import TableColumn, detect_screen, render_table

Window = Literal["1h", "24h", "7d", "30d"]
SHOWN_JOBS_MAX: Final = 10

app = App(name="tasks", help="Tasks: list, show.")


@app.command(name="list")
@app.default
def list_tasks(
    *,
    q: Annotated[str | None, Parameter(name=["--q", "--search"])] = None,
    served: bool | None = None,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List tasks with their load and statistics of the last hour.

    Parameters
    ----------
    q
        Text in the kind or description. Default: any.
    served
        Only tasks with a running worker, or with --no-served tasks without one. Default: both.
    """
    with api_options.open_client() as client:
        found = list_rows(client.list_tasks, row_limit=row_limit, q=q, served=served)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("TASK", lambda each: each.kind),
        TableColumn("WORKERS", lambda each: each.workers, right=True),
        TableColumn("PER MINUTE", lambda each: f"{each.runs_per_minute:.3g}", right=True),
        TableColumn("FAILED", lambda each: format_percent(each.failure_rate), right=True),
        TableColumn("RUNNING", lambda each: each.running, right=True),
        TableColumn("WAITING", lambda each: format_count(each.waiting, each), right=True),
        TableColumn("SCHEDULED", lambda each: format_count(each.scheduled, each), right=True),
        TableColumn("LAST RUN", lambda each: times.format_relative(each.last_run_at, now)),
        TableColumn("DESCRIPTION", lambda each: each.description, flexible=True),
    ]
    empty = "No tasks; start a worker with `rota worker module:app`"
    api_options.print_rows(found.rows, columns, ids="kind", empty=empty)
    print_more_hint(found, api_options)
    return 0


@app.command
def show(
    kind: str, /, *, window: Window = "24h", api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Show a task with its workers, policy and run statistics.

    Parameters
    ----------
    kind
        Kind of the task, as shown by `rota tasks list`.
    window
        Period of the statistics. Default: 24h.
    """
    with api_options.open_client() as client:
        found = client.get_task(kind, window=window)
    if api_options.as_json:
        print_json(found)
        return 0
    api_options.print_record(found, describe_task(found), ids="kind")
    if not api_options.is_plain:
        return 0
    if fields := list_payload_fields(found.payload_schema):
        print()
        columns: list[TableColumn[Any]] = [
            TableColumn("PAYLOAD", lambda each: each[0]),
            TableColumn("TYPE", lambda each: each[1]),
            TableColumn("REQUIRED", lambda each: "yes" if each[2] else "no"),
            TableColumn("DEFAULT", lambda each: each[3]),
            TableColumn("DESCRIPTION", lambda each: each[4], flexible=True),
        ]
        print_lines(render_table(columns, fields, detect_screen()))
    print(f"\n{draw_sparkline([each.ended for each in found.series])}")
    return 0


def describe_task(task: Any) -> Iterator[tuple[str, object]]:
    about = "about " if task.is_estimate else ""
    yield "task", task.kind
    yield "description", task.description
    yield "workers", describe_workers(task.workers)
    yield "default policy", describe_policy(task.default_policy)
    yield "running", task.running
    yield "waiting", format_count(task.waiting, task)
    yield "scheduled", format_count(task.scheduled, task)
    yield "since", task.since
    states = ", ".join(f"{number} {state}" for state, number in task.runs.items())
    yield "ended", f"{about}{states}" if states else "none"
    yield "rate", f"{about}{task.runs_per_minute:.3g} runs per minute"
    yield "failed", format_percent(task.failure_rate)
    yield "duration", format_percentiles(task.duration_p50_s, task.duration_p99_s)
    yield "wait", format_percentiles(task.wait_p50_s, task.wait_p99_s)
    yield "last run", task.last_run_at
    if task.last_failure is not None:
        failure = task.last_failure
        reason = ": ".join(filter(None, (failure.error_type, failure.message)))
        yield "last failure", f"{failure.ended_at} {failure.run_id} {reason}"
    yield "jobs", describe_jobs(task)


def describe_workers(workers: list[Any]) -> str:
    if not workers:
        return "none"
    return ", ".join(f"{each.name} ({' '.join(each.queues) or 'no queue'})" for each in workers)


def describe_policy(policy: dict[str, Any] | None) -> str | None:
    if not policy:
        return None
    return ", ".join(f"{name} {value}" for name, value in policy.items())


def describe_jobs(task: Any) -> str | None:
    names = [each.name for each in task.jobs[:SHOWN_JOBS_MAX]]
    if task.has_more_jobs or len(task.jobs) > SHOWN_JOBS_MAX:
        names.append("…")
    return ", ".join(names) or None


def format_count(number: int, task: Any) -> str:
    return f"{number}+" if task.is_partial and number else str(number)


def format_percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.1%}"


def format_percentiles(p50: float | None, p99: float | None) -> str | None:
    if p50 is None:
        return None
    return f"p50 {times.format_seconds(p50)}, p99 {times.format_seconds(p99)}"


def list_payload_fields(
    schema: dict[str, Any] | None,
) -> list[tuple[str, str, bool, object, str | None]]:
    """Return the fields of a payload in their order: name, type, required, default, description."""
    properties = (schema or {}).get("properties", {})
    order = [name for name in (schema or {}).get("x-order", ()) if name in properties]
    needed = set((schema or {}).get("required", ()))
    return [
        (
            name,
            describe_type(properties[name]),
            name in needed,
            properties[name].get("default"),
            properties[name].get("description"),
        )
        for name in (*order, *(each for each in properties if each not in order))
    ]


def describe_type(field: dict[str, Any]) -> str:
    """Return the type of a field in short form."""
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    variants = field.get("anyOf") or field.get("oneOf")
    if variants:
        return " | ".join(dict.fromkeys(describe_type(variant) for variant in variants))
    found = field.get("type", "any")
    return " | ".join(found) if isinstance(found, list) else str(found)
