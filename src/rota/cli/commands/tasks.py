"""`rota tasks`: shows the tasks that workers serve, with statistics of their runs."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.commands.observing import sparkline
from rota.cli.listing import SOME, Most, gather, tell_more
from rota.cli.options import TALK, Talk, write, write_json
from rota.cli.tables import Column, screen_of, table

Window = Literal["1h", "24h", "7d", "30d"]
SHOWN_JOBS_MAX: Final = 10

app = App(name="tasks", help="Tasks: list, show.")


@app.command(name="list")
@app.default
def list_tasks(
    *,
    q: Annotated[str | None, Parameter(name=["--q", "--search"])] = None,
    served: bool | None = None,
    most: Most = SOME,
    talk: Talk = TALK,
) -> int:
    """List tasks with their load and statistics of the last hour.

    Parameters
    ----------
    q
        Text in the kind or description. Default: any.
    served
        Only tasks with a running worker, or with --no-served tasks without one. Default: both.
    """
    with talk.open() as client:
        found = gather(client.list_tasks, most=most, q=q, served=served)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("TASK", lambda each: each.kind),
        Column("WORKERS", lambda each: each.workers, right=True),
        Column("PER MINUTE", lambda each: f"{each.runs_per_minute:.3g}", right=True),
        Column("FAILED", lambda each: percent(each.failure_rate), right=True),
        Column("RUNNING", lambda each: each.running, right=True),
        Column("WAITING", lambda each: counted(each.waiting, each), right=True),
        Column("SCHEDULED", lambda each: counted(each.scheduled, each), right=True),
        Column("LAST RUN", lambda each: times.ago(each.last_run_at, now)),
        Column("DESCRIPTION", lambda each: each.description, flexible=True),
    ]
    empty = "No tasks; start a worker with `rota worker module:app`"
    talk.rows(found.rows, columns, ids="kind", empty=empty)
    tell_more(found, talk)
    return 0


@app.command
def show(kind: str, /, *, window: Window = "24h", talk: Talk = TALK) -> int:
    """Show a task with its workers, policy and run statistics.

    Parameters
    ----------
    kind
        Kind of the task, as shown by `rota tasks list`.
    window
        Period of the statistics. Default: 24h.
    """
    with talk.open() as client:
        found = client.get_task(kind, window=window)
    if talk.as_json:
        write_json(found)
        return 0
    talk.thing(found, facts(found), ids="kind")
    if not talk.is_plain:
        return 0
    if fields := payload_fields(found.payload_schema):
        print()
        columns: list[Column[Any]] = [
            Column("PAYLOAD", lambda each: each[0]),
            Column("TYPE", lambda each: each[1]),
            Column("REQUIRED", lambda each: "yes" if each[2] else "no"),
            Column("DEFAULT", lambda each: each[3]),
            Column("DESCRIPTION", lambda each: each[4], flexible=True),
        ]
        write(table(columns, fields, screen_of()))
    print(f"\n{sparkline([each.ended for each in found.series])}")
    return 0


def facts(task: Any) -> Iterator[tuple[str, object]]:
    about = "about " if task.is_estimate else ""
    yield "task", task.kind
    yield "description", task.description
    yield "workers", describe_workers(task.workers)
    yield "default policy", describe_policy(task.default_policy)
    yield "running", task.running
    yield "waiting", counted(task.waiting, task)
    yield "scheduled", counted(task.scheduled, task)
    yield "since", task.since
    states = ", ".join(f"{number} {state}" for state, number in task.runs.items())
    yield "ended", f"{about}{states}" if states else "none"
    yield "rate", f"{about}{task.runs_per_minute:.3g} runs per minute"
    yield "failed", percent(task.failure_rate)
    yield "duration", percentiles(task.duration_p50_s, task.duration_p99_s)
    yield "wait", percentiles(task.wait_p50_s, task.wait_p99_s)
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


def counted(number: int, task: Any) -> str:
    return f"{number}+" if task.is_partial and number else str(number)


def percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.1%}"


def percentiles(half: float | None, most: float | None) -> str | None:
    if half is None:
        return None
    return f"p50 {times.lasted(half)}, p99 {times.lasted(most)}"


def payload_fields(
    schema: dict[str, Any] | None,
) -> list[tuple[str, str, bool, object, str | None]]:
    """Return the fields of a payload in their order: name, type, required, default, description."""
    properties = (schema or {}).get("properties", {})
    order = [name for name in (schema or {}).get("x-order", ()) if name in properties]
    needed = set((schema or {}).get("required", ()))
    return [
        (
            name,
            type_of(properties[name]),
            name in needed,
            properties[name].get("default"),
            properties[name].get("description"),
        )
        for name in (*order, *(each for each in properties if each not in order))
    ]


def type_of(field: dict[str, Any]) -> str:
    """Return the type of a field in short form."""
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    variants = field.get("anyOf") or field.get("oneOf")
    if variants:
        return " | ".join(dict.fromkeys(type_of(variant) for variant in variants))
    found = field.get("type", "any")
    return " | ".join(found) if isinstance(found, list) else str(found)
