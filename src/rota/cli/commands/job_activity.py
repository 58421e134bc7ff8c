"""`rota jobs status|runs|history|preview|backfill`: the activity of a job."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli import name_resolution, times
from rota.cli.api_options import DEFAULT_API_OPTIONS, SWITCH, YES_FLAG, ApiOptions, print_lines
from rota.cli.commands.jobs import app
from rota.cli.commands.runs import build_run_columns
from rota.cli.job_options import parse_priority
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
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


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class JobBackfillRange:
    """Which ticks to backfill.

    Parameters
    ----------
    since
        Start of the range: a time, or how long ago, such as 7d.
    until
        End of the range, exclusive: a time, or how long ago. Default: now.
    only
        Ticks that never ran, or all ticks. Default: missing.
    name
        Name of the backfill, for `--only all`: each name runs every tick once. Default: none.
    """

    since: str
    until: str | None = None
    only: Literal["missing", "all"] = "missing"
    name: str | None = None

    def build_fields(self) -> dict[str, Any]:
        return drop_empty(
            since=times.parse_time(self.since, field="--since"),
            until=times.parse_time(self.until or "0s", field="--until"),
            only=self.only,
            name=self.name,
        )


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class JobBackfillOptions:
    """How the runs are created.

    Parameters
    ----------
    priority
        Priority of the runs. Default: low.
    at_once
        Maximum number of concurrent runs. Default: 4.
    dry_run
        Only count the runs.
    yes
        Skip the confirmation.
    """

    priority: str | None = None
    at_once: Annotated[int | None, Parameter(validator=Number(gte=1, lte=1000))] = None
    dry_run: Annotated[bool, SWITCH] = False
    yes: Annotated[bool, YES_FLAG] = False


DEFAULT_JOB_BACKFILL: Final = JobBackfillOptions()


@app.command
def backfill(
    job: str,
    /,
    *,
    tick_range: JobBackfillRange,
    run_options: JobBackfillOptions = DEFAULT_JOB_BACKFILL,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create runs for past ticks. Counts them and asks first.

    Parameters
    ----------
    job
        Job name or id.
    """
    fields = tick_range.build_fields()
    fields |= drop_empty(priority=parse_priority(run_options.priority), at_once=run_options.at_once)
    with api_options.open_client() as client:
        id_ = name_resolution.resolve_job_id(client, job)
        counted = client.backfill_job(id_, dry_run=True, **fields)
        summary = f"{counted.ticks} ticks: {counted.exist} have run, {counted.new} would run"
        if run_options.dry_run or not counted.new:
            api_options.print_result(counted, summary, id_=counted.new)
            return 0
        if not confirm(f"{summary}. Create {counted.new} runs of {job}?", yes=run_options.yes):
            return 1
        done = client.backfill_job(id_, **fields)
    if api_options.quiet:
        print_lines(done.run_ids)
    else:
        api_options.print_result(done, f"Created {done.new} runs", id_="")
    return 0
