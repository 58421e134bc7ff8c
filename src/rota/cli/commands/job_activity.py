"""`rota jobs status|runs|history|preview`: the activity of a job."""

import json
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli import name_resolution, times
from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions
from rota.cli.commands.jobs import app
from rota.cli.commands.runs import build_run_columns
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.schedules import print_preview
from rota.cli.tables import TableColumn
from rota.core.errors import InvalidInput


@app.command
def status(job: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show the status of a job: its newest run, and why it waits.

    Parameters
    ----------
    job
        Job name or id.
    """
    with api_options.open_client() as client:
        found = client.get_job_status(name_resolution.resolve_job_id(client, job))
    latest = found.latest_run
    rows: list[tuple[str, object]] = [
        ("job", found.job_id),
        ("status", found.status),
        ("explanation", found.explanation),
    ]
    if latest is not None:
        rows += [
            ("newest run", latest.run_id),
            ("run status", latest.status),
            ("attempt", latest.attempt_number),
            ("last change", times.format_relative(latest.modified_time, times.now())),
        ]
    api_options.print_record(found, rows, ids="job_id")
    return 0


@app.command
def runs(
    job: str,
    /,
    *,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List the runs of a job, newest first.

    Parameters
    ----------
    job
        Job name or id.
    """
    with api_options.open_client() as client:
        found = list_rows(
            client.list_runs_of_job,
            name_resolution.resolve_job_id(client, job),
            row_limit=row_limit,
        )
    api_options.print_rows(
        found.rows, build_run_columns(times.now()), ids="run_id", empty="No runs"
    )
    print_more_hint(found, api_options)
    return 0


@app.command
def history(
    job: str,
    /,
    *,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List the changes of a job, newest first: version, author, origin and differences.

    Parameters
    ----------
    job
        Job name or id.
    """
    with api_options.open_client() as client:
        found = list_rows(
            client.list_job_changes,
            name_resolution.resolve_job_id(client, job),
            row_limit=row_limit,
        )
    columns: list[TableColumn[Any]] = [
        TableColumn("AT", lambda each: each.at),
        TableColumn("VERSION", lambda each: each.version),
        TableColumn("AUTHOR", lambda each: each.author, flexible=True),
        TableColumn("ORIGIN", lambda each: each.origin),
        TableColumn("ACTION", lambda each: each.action.removeprefix("job.")),
        TableColumn("CHANGES", describe_changes, flexible=True),
    ]
    api_options.print_rows(found.rows, columns, ids="id", empty="No changes recorded")
    print_more_hint(found, api_options)
    return 0


def describe_changes(change: Any) -> str:
    """Describe the changed fields in a line; without any, the details of the entry."""
    if not change.changes:
        details = change.details.items()
        return ", ".join(f"{name}: {value}" for name, value in details if value is not None)
    return "; ".join(
        f"{each.field}: {json.dumps(each.before)} -> {json.dumps(each.after)}"
        if each.is_shown
        else f"{each.field} (value not logged)"
        for each in change.changes
    )


@app.command
def preview(
    job: str,
    /,
    *,
    count: Annotated[int, Parameter(name=["--count", "-n"], validator=Number(gte=1, lte=100))] = 5,
    viewer: Annotated[str | None, Parameter(name="--viewer")] = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Show the next runs of a job, with its calendars applied.

    Parameters
    ----------
    job
        Job name or id.
    count
        Number of runs, 1 to 100. Default: 5.
    viewer
        Additional time zone to show. Default: none.
    """
    with api_options.open_client() as client:
        found = client.get_job(name_resolution.resolve_job_id(client, job))
        if found.schedule is None:
            raise InvalidInput("job", job, "the job has no schedule")
        shown = client.preview_schedule(
            schedule=found.schedule, count=count, **drop_empty(viewer=viewer)
        )
    print_preview(shown, api_options, viewer=viewer)
    return 0


@app.command(name="expectations")
def list_expectations(job: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """List what is expected of a job: its own conditions, matching rules and defaults.

    Parameters
    ----------
    job
        Job name or id.
    """
    with api_options.open_client() as client:
        job_id = name_resolution.resolve_job_id(client, job)
        found = client.list_job_expectations(job_id).items
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("STATE", lambda each: each.state),
        TableColumn("NAME", lambda each: each.name, flexible=True),
        TableColumn("FROM", lambda each: each.origin),
        TableColumn("CONDITION", lambda each: each.condition),
        TableColumn("SEVERITY", lambda each: each.severity),
        TableColumn("NEXT CHECK", lambda each: times.format_relative(each.next_check_at, now)),
        TableColumn("INCIDENT", lambda each: each.incident_id),
    ]
    api_options.print_rows(found, columns, ids="expectation_id", empty="No expectations")
    return 0
