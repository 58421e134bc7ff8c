"""`rota runs`: shows, cancels, retries and replays runs, and prints their logs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from rota.cli import name_resolution, times
from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    REPEATABLE,
    SWITCH,
    YES_FLAG,
    ApiOptions,
    print_lines,
    require_arguments,
)
from rota.cli.argument_values import read_json
from rota.cli.bulk_actions import NO_SELECTION, RunSelection, apply_in_bulk
from rota.cli.commands.inspection import why
from rota.cli.errors import UsageError
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.tables import TableColumn
from rota.cli.tracebacks import render_traceback

Status = Literal[
    "blocked",
    "queued",
    "running",
    "cancelling",
    "retrying",
    "succeeded",
    "dead",
    "cancelled",
    "skipped",
    "missed",
    "coalesced",
    "expired",
    "lost",
    "quarantined",
]

app = App(name="runs", help="Runs: show, watch, cancel, retry.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilters:
    """Filters that select runs.

    Parameters
    ----------
    status
        Filter by status (repeatable). Default: any.
    job
        Filter by job name or id. Default: any.
    kind
        Filter by kind. Default: any.
    queue
        Filter by queue. Default: any.
    worker
        Filter by the worker of the last attempt, by id or name. Default: any.
    since
        Created at or after this time: a timestamp, or how long ago, such as 2h. Default: any.
    until
        Created before this time: a timestamp, or how long ago. Default: any.
    """

    status: Annotated[list[Status] | None, REPEATABLE] = None
    job: str | None = None
    kind: str | None = None
    queue: str | None = None
    worker: str | None = None
    since: str | None = None
    until: str | None = None

    def build_filters(self, client: Any) -> dict[str, Any]:
        return {
            "status": self.status,
            "job_id": None
            if self.job is None
            else name_resolution.resolve_job_id(client, self.job),
            "kind": self.kind,
            "queue": self.queue,
            "worker_id": self.worker,
            "created_after": times.parse_time(self.since, field="--since"),
            "created_before": times.parse_time(self.until, field="--until"),
        }


ANY_RUN: Final = RunFilters()


@app.command(name="list")
def list_runs(
    *,
    selection: RunFilters = ANY_RUN,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List runs, newest first."""
    with api_options.open_client() as client:
        found = list_rows(client.list_runs, row_limit=row_limit, **selection.build_filters(client))
    api_options.print_rows(
        found.rows, build_run_columns(times.now()), ids="run_id", empty="No matching runs"
    )
    print_more_hint(found, api_options)
    return 0


def build_run_columns(now: datetime) -> list[TableColumn[Any]]:
    return [
        TableColumn("RUN", lambda run: run.run_id),
        TableColumn("JOB", lambda run: run.job_name or run.job_id, flexible=True),
        TableColumn("STATUS", lambda run: run.status, mood=True),
        TableColumn("ATTEMPT", lambda run: run.attempt_number, right=True),
        TableColumn("DUE", lambda run: times.format_relative(run.due_at, now)),
        TableColumn("DURATION", lambda run: format_duration(run, now), right=True),
        TableColumn("MESSAGE", get_message, flexible=True),
    ]


def format_duration(run: Any, now: datetime) -> str:
    if run.start_time is None:
        return ""
    return times.format_between(run.start_time, run.end_time or now)


def get_message(run: Any) -> str:
    """Return the error message, or the progress of an active run."""
    if run.progress is not None and run.status in {"running", "cancelling"}:
        return f"{run.progress:.0%} {run.progress_message or ''}".strip()
    return run.error_message or ""


@app.command
def show(run: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a run with its payload and result, and the traceback of a failed run.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with api_options.open_client() as client:
        found = client.get_run(name_resolution.resolve_run_id(client, run))
    api_options.print_record(found, describe_run(found), ids="run_id")
    if api_options.is_plain:
        print_lines(render_traceback(found.traceback, found.run_id))
    return 0


def describe_run(run: Any) -> Iterator[tuple[str, object]]:
    now = times.now()
    yield "run", run.run_id
    yield "job", f"{run.job_name or ''} {run.job_id}".strip()
    yield "status", run.status
    yield "reason", run.error_message
    yield "attempts", run.attempt_number
    yield "progress", get_message(run) if run.status == "running" else None
    yield "scheduled", times.format_time(run.scheduled_at, now)
    yield "due", run.due_at if run.due_at != run.scheduled_at else None
    yield "started", run.start_time
    yield "ended", run.end_time
    yield "duration", format_duration(run, now)
    yield "deadline", run.deadline_at
    yield "worker", run.worker
    yield "kind", run.kind
    yield "queue", run.queue
    yield "priority", run.priority
    yield "trigger", run.trigger
    yield "payload", run.payload
    yield "result", run.result


@app.command
def attempts(run: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """List the attempts of a run, oldest first.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with api_options.open_client() as client:
        found = client.list_attempts(name_resolution.resolve_run_id(client, run)).items
    columns: list[TableColumn[Any]] = [
        TableColumn("ATTEMPT", lambda each: each.attempt_number, right=True),
        TableColumn("OUTCOME", lambda each: each.outcome, mood=True),
        TableColumn("STARTED", lambda each: each.start_time),
        TableColumn(
            "DURATION",
            lambda each: times.format_between(each.start_time, each.end_time),
            right=True,
        ),
        TableColumn("WORKER", lambda each: each.worker, flexible=True),
        TableColumn("MESSAGE", lambda each: each.error_message, flexible=True),
    ]
    api_options.print_rows(found, columns, ids="attempt_number", empty="No attempts yet")
    return 0


@app.command
def members(
    run: str,
    step: str,
    /,
    *,
    status: Annotated[list[Status] | None, REPEATABLE] = None,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List the members of a map step of a graph run, in order.

    Parameters
    ----------
    run
        Id of the graph run or a unique prefix.
    step
        Name of the map step.
    status
        Filter by status (repeatable). Default: any.
    """
    with api_options.open_client() as client:
        id_ = name_resolution.resolve_run_id(client, run)
        found = list_rows(client.list_members, id_, row_limit=row_limit, step=step, status=status)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("MEMBER", lambda each: each.member, right=True),
        TableColumn("RUN", lambda each: each.run_id),
        TableColumn("STATUS", lambda each: each.status, mood=True),
        TableColumn("ATTEMPT", lambda each: each.attempt_number, right=True),
        TableColumn("DURATION", lambda each: format_duration(each, now), right=True),
        TableColumn("MESSAGE", get_message, flexible=True),
    ]
    api_options.print_rows(found.rows, columns, ids="run_id", empty="No matching members")
    print_more_hint(found, api_options)
    return 0


@app.command
def cancel(
    *runs: str,
    reason: str | None = None,
    force: Annotated[bool, SWITCH] = False,
    selection: RunSelection = NO_SELECTION,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Cancel runs, by id or filter. A filter counts them and asks first.

    A waiting run ends at once. For a running one, the worker is asked to stop it.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    reason
        Reason, for the record. Default: none.
    force
        End the runs now, without waiting for the workers.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        if not runs:
            return apply_in_bulk(
                client.cancel_runs,
                selection.build_filters(client),
                "Cancel",
                yes=yes,
                api_options=api_options,
            )
        selection.reject_run_ids(runs)
        for run in runs:
            done = client.cancel_run(
                name_resolution.resolve_run_id(client, run),
                **drop_empty(reason=reason, force=force or None),
            )
            outcome = "Cancelled" if done.status == "cancelled" else "Cancelling"
            api_options.print_result(done, f"{outcome} {done.run_id}", id_=done.run_id)
    return 0


@app.command
def retry(*runs: str, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Retry dead, lost or cancelled runs under the same run id.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    """
    require_arguments("run", runs)
    with api_options.open_client() as client:
        for run in runs:
            done = client.retry_run(name_resolution.resolve_run_id(client, run))
            api_options.print_result(
                done, f"Retrying {done.run_id} ({done.status})", id_=done.run_id
            )
    return 0


@app.command
def replay(
    run: str, /, *, payload: str | None = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Replay a finished run: create a new run with the same or another payload.

    Parameters
    ----------
    run
        Run id or unique prefix.
    payload
        Payload of the new run: JSON, @file, or - for standard input. Default: the run's payload.
    """
    fields = {}
    if payload is not None:
        fields["payload"] = read_json(payload, field="--payload")
    with api_options.open_client() as client:
        made = client.replay_run(name_resolution.resolve_run_id(client, run), **fields)
    api_options.print_result(made, f"Replayed as {made.run_id}", id_=made.run_id)
    return 0


app.command(why)


@app.command
def logs(
    run: str,
    /,
    *,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], negative=())] = False,
    attempt: int | None = None,
    raw: Annotated[bool, SWITCH] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Print the output of a run; with -f, follow it until the run ends.

    With --json each chunk is one object per line. Colours show at a terminal; other control
    characters are printed as escapes.

    Parameters
    ----------
    run
        Run id or unique prefix.
    follow
        Follow the output until the run ends.
    attempt
        Only the output of this attempt. Default: all attempts.
    raw
        Print the output unchanged, including terminal control sequences.
    """
    from rota.cli.logs import follow_chunks, print_chunks, read_chunks  # noqa: PLC0415 - only here

    if api_options.quiet:
        raise UsageError("--quiet is not supported: logs have no ids")
    if raw and api_options.as_json:
        raise UsageError("--raw and --json exclude each other")
    with api_options.open_client() as client:
        id_ = name_resolution.resolve_run_id(client, run)
        pieces = follow_chunks(client, id_) if follow else read_chunks(client, id_)
        print_chunks(pieces, attempt=attempt, as_json=api_options.as_json, raw=raw)
    return 0
