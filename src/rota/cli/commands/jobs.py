"""`rota jobs`: creates, shows, edits, runs and pauses jobs."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from rota.cli import name_resolution, times
from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    REPEATABLE,
    SWITCH,
    YES_FLAG,
    ApiOptions,
    print_warnings,
    require_arguments,
)
from rota.cli.argument_values import read_document, read_json
from rota.cli.errors import UsageError
from rota.cli.job_options import (
    NO_EXECUTION_OPTIONS,
    NO_SCHEDULE_OPTIONS,
    ExecutionOptions,
    ScheduleOptions,
    parse_priority,
)
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.schedules import summarize_rules
from rota.cli.tables import TableColumn
from rota.contract.job import JOB_FIELDS, STORED_JOB_FIELDS, OverlapName
from rota.core.errors import InvalidInput

JobType = Literal["definition", "one_time", "all"]
Status = Literal["active", "pending", "running", "paused", "quarantined", "finished"]

app = App(name="jobs", help="Jobs: create, show, edit, run, pause.")
IF_VERSION: Final = Parameter(name="--if-version")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilters:
    """Filters that select jobs.

    Parameters
    ----------
    type_
        Jobs that can run more than once, one-time submissions, or all. Default: all with
        --status pending or running, otherwise definition.
    status
        Filter by status (repeatable). Default: any.
    kind
        Filter by kind. Default: any.
    queue
        Filter by queue. Default: any.
    label
        Filter by label, such as team=billing. Default: any.
    user_id
        Filter by user. Default: any.
    """

    type_: Annotated[JobType | None, Parameter(name="--type")] = None
    status: Annotated[list[Status] | None, REPEATABLE] = None
    kind: str | None = None
    queue: str | None = None
    label: str | None = None
    user_id: str | None = None

    def build_filters(self) -> dict[str, Any]:
        label = None if self.label is None else self.label.replace("=", ":", 1)
        return {
            "type": self.type_,
            "status": self.status,
            "kind": self.kind,
            "queue": self.queue,
            "label": label,
            "user_id": self.user_id,
        }


ANY_JOB: Final = JobFilters()


@app.command(name="list")
def list_jobs(
    search: str | None = None,
    /,
    *,
    selection: JobFilters = ANY_JOB,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List jobs, newest first. Use --type one_time for one-time submissions.

    Parameters
    ----------
    search
        Text in the job name. Default: any.
    """
    with api_options.open_client() as client:
        found = list_rows(
            client.list_jobs, row_limit=row_limit, q=search, **selection.build_filters()
        )
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda job: job.name, flexible=True),
        TableColumn("KIND", lambda job: job.kind, flexible=True),
        TableColumn("STATUS", lambda job: job.status, mood=True),
        TableColumn("SCHEDULE", summarize_rules, flexible=True),
        TableColumn("NEXT RUN", lambda job: times.format_relative(job.next_run_at, now)),
        TableColumn("QUEUE", lambda job: job.queue),
        TableColumn("ID", lambda job: job.job_id),
    ]
    api_options.print_rows(found.rows, columns, ids="job_id", empty="No matching jobs")
    print_more_hint(found, api_options)
    return 0


@app.command
def show(job: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a job or a one-time submission.

    Parameters
    ----------
    job
        Job name or id; id of a one-time submission.
    """
    with api_options.open_client() as client:
        found = client.get_job(name_resolution.resolve_job_id(client, job))
    api_options.print_record(found, describe_job(found), ids="job_id")
    return 0


# Fields that are not shown as their plain value.
FIELD_FORMATS: Final[dict[str, Callable[[Any], object]]] = {
    "graph": lambda job: (
        job.graph and f"{len(job.graph['steps'])} steps; `rota graph show` draws them"
    ),
    "retries": lambda job: job.max_retries,
    "labels": lambda job: " ".join(f"{name}={value}" for name, value in job.labels.items()),
}
HEAD_FIELDS: Final = ("name", "kind", "schedule")


def describe_job(job: Any) -> list[tuple[str, object]]:
    now = times.now()
    others = [JOB_FIELDS[name] for name in STORED_JOB_FIELDS if name not in HEAD_FIELDS]
    return [
        ("name", job.name),
        ("id", job.job_id),
        ("kind", job.kind),
        ("status", job.status),
        ("held", job.held),
        ("schedule", summarize_rules(job)),
        ("next run", times.format_time(job.next_run_at, now)),
        *(
            (
                (field.option or field.name).replace("_", " "),
                FIELD_FORMATS.get(field.name, attrgetter(field.name))(job),
            )
            for field in others
        ),
        ("version", job.version),
        ("created", times.format_time(job.created_at, now)),
        ("updated", times.format_time(job.updated_at, now)),
    ]


@app.command
def create(
    name: str | None = None,
    /,
    *,
    file: str | None = None,
    replace: Annotated[bool, SWITCH] = False,
    schedule_options: ScheduleOptions = NO_SCHEDULE_OPTIONS,
    execution_options: ExecutionOptions = NO_EXECUTION_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create a job, or several jobs from a file in one transaction.

    Parameters
    ----------
    name
        Unique name; also the kind, if no kind is given.
    file
        JSON or YAML file with one job or a list of jobs, as in docs/reference/api.md; - reads
        standard input.
    replace
        Update the job if the name exists.
    """
    if file is not None:
        return create_from_file(file, name=name, api_options=api_options)
    fields = execution_options.build_fields() | drop_empty(
        schedule=schedule_options.build_schedule()
    )
    with api_options.open_client() as client:
        if replace:
            if name is None:
                raise UsageError("--replace requires the name of the job")
            put = client.put_job(name, **fields)
            api_options.print_result(
                put, f"Saved job {put.name} ({put.job_id}), version {put.version}", id_=put.job_id
            )
            return 0
        made = client.create_job(**drop_empty(name=name), **fields)
    api_options.print_result(made, describe_created(made), id_=made.job_id)
    print_warnings(made.warnings)
    return 0


def create_from_file(file: str, *, name: str | None, api_options: ApiOptions) -> int:
    document = read_document(file, field="--file")
    if isinstance(document, dict):
        document = document.get("jobs", [document])
    if not isinstance(document, list) or not all(isinstance(each, dict) for each in document):
        raise InvalidInput("--file", file, "expected a job, which is an object, or a list of jobs")
    if name is not None:
        raise InvalidInput("name", name, "not allowed with --file, which contains the names")
    with api_options.open_client() as client:
        answer = client.create_jobs(jobs=document)
    if api_options.as_json:
        api_options.print_result(answer, "", id_="")
        return 0
    for made in answer.jobs:
        api_options.print_result(made, describe_created(made), id_=made.job_id)
        print_warnings(made.warnings)
    return 0


def describe_created(made: Any) -> str:
    if made.deduplicated:
        return f"Job {made.name} already exists ({made.job_id}), run {made.run_id}"
    if made.run_id is not None:
        return f"Created job {made.name} ({made.job_id}); queued run {made.run_id}"
    return f"Created job {made.name} ({made.job_id}){_next_run(made)}"


def _next_run(job: Any) -> str:
    return (
        f"; next run {times.format_relative(job.next_run_at, times.now())}"
        if job.next_run_at
        else ""
    )


@app.command
def edit(
    job: str,
    /,
    *,
    name: str | None = None,
    if_version: Annotated[int | None, IF_VERSION] = None,
    schedule_options: ScheduleOptions = NO_SCHEDULE_OPTIONS,
    execution_options: ExecutionOptions = NO_EXECUTION_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Edit a job. Options that are not given keep their values.

    Parameters
    ----------
    job
        Job name or id.
    name
        New name. Default: unchanged.
    if_version
        Fail if the current version is different. Default: any version.
    """
    fields = execution_options.build_fields() | drop_empty(name=name)
    if schedule_options == NO_SCHEDULE_OPTIONS and not fields:
        raise UsageError("nothing to change: give at least one option, such as --cron or --queue")
    with api_options.open_client() as client:
        before = client.get_job(name_resolution.resolve_job_id(client, job))
        fields |= drop_empty(schedule=schedule_options.merge_schedule(before.schedule))
        # The edit keeps parts of the schedule just read, so its version must be unchanged.
        version = before.version if if_version is None and "schedule" in fields else if_version
        found = client.update_job(before.job_id, **fields, **drop_empty(if_match=version))
    summary = f"Updated job {found.name} to version {found.version}{_next_run(found)}"
    api_options.print_result(found, summary, id_=found.job_id)
    return 0


@app.command
def delete(
    *jobs: str,
    keep_running: Annotated[bool, SWITCH] = False,
    cancel_running: Annotated[bool, SWITCH] = False,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete jobs and cancel their runs, including running ones.

    Parameters
    ----------
    jobs
        Job names or ids.
    keep_running
        Let current runs finish. Default: workers are asked to stop them.
    cancel_running
        Cancel current runs. This is the default; the option exists for older scripts.
    yes
        Skip the confirmation.
    """
    require_arguments("job", jobs)
    if keep_running and cancel_running:
        raise UsageError("--keep-running and --cancel-running exclude each other")
    with api_options.open_client() as client:
        ids = [(job, name_resolution.resolve_job_id(client, job)) for job in jobs]
        if not confirm(f"Delete {', '.join(jobs)}?", yes=yes):
            return 1
        for job, id_ in ids:
            client.delete_job(id_, **(drop_empty(running="keep") if keep_running else {}))
            api_options.print_result({"job_id": id_}, f"Deleted job {job}", id_=id_)
    return 0


@app.command
def pause(
    *jobs: str, reason: str | None = None, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Pause jobs: stop their schedules until resumed. Current runs continue.

    Parameters
    ----------
    jobs
        Job names or ids.
    reason
        Reason, shown with the job. Default: none.
    """
    require_arguments("job", jobs)
    with api_options.open_client() as client:
        for job in jobs:
            found = client.pause_job(
                name_resolution.resolve_job_id(client, job), **drop_empty(reason=reason)
            )
            api_options.print_result(found, f"Paused {found.name}", id_=found.job_id)
    return 0


@app.command
def resume(
    *jobs: str,
    missed: Literal["skip", "once", "all"] | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Resume paused jobs.

    Parameters
    ----------
    jobs
        Job names or ids.
    missed
        Catch up on ticks missed while paused: skip, once or all. Default: the misfire policy of
        the schedule.
    """
    require_arguments("job", jobs)
    with api_options.open_client() as client:
        for job in jobs:
            found = client.resume_job(
                name_resolution.resolve_job_id(client, job), **drop_empty(missed=missed)
            )
            upcoming = _next_run(found) or "; no scheduled run"
            api_options.print_result(found, f"Resumed {found.name}{upcoming}", id_=found.job_id)
    return 0


@app.command
def run(
    job: str,
    /,
    *,
    payload: str | None = None,
    priority: str | None = None,
    overlap: OverlapName | None = None,
    watch: Annotated[bool, SWITCH] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Run a job now, regardless of its schedule.

    Parameters
    ----------
    job
        Job name or id.
    payload
        Payload of this run: JSON, @file, or - for standard input. Default: the job's payload.
    priority
        Priority of this run. Default: the job's priority.
    overlap
        What to do if the previous run is still active. Default: the job's overlap policy.
    watch
        Watch the run until it ends; the exit code is 0 if it succeeded.
    """
    fields = drop_empty(priority=parse_priority(priority), overlap=overlap)
    if payload is not None:
        fields["payload"] = read_json(payload, field="--payload")
    with api_options.open_client() as client:
        made = client.run_job_now(name_resolution.resolve_job_id(client, job), **fields)
        if made.refused is not None:
            api_options.print_result(
                made, f"Skipped {made.run_id}: {made.refused}", id_=made.run_id
            )
            return 1
        api_options.print_result(made, f"Queued {job} as {made.run_id}", id_=made.run_id)
        if not watch:
            return 0
        from rota.cli.commands.watch import watch_runs  # noqa: PLC0415 - imports rich

        return watch_runs(client, [made.run_id], api_options=api_options)
