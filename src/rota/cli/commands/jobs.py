"""`rota jobs`: creates, shows, edits, runs and pauses jobs."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.drafts import AT_ONCE, USUALLY, How, When, priority_of
from rota.cli.errors import Misused
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import MANY, SWITCH, TALK, YES, Talk, some, warn
from rota.cli.reading import document_of, json_of
from rota.cli.schedules import summarize_rules
from rota.cli.tables import Column
from rota.contract.job import JOB_FIELDS, STORED_JOB_FIELDS, OverlapName
from rota.core.errors import InvalidInput

JobType = Literal["definition", "one_time", "all"]
Status = Literal["active", "pending", "running", "paused", "quarantined", "finished"]

app = App(name="jobs", help="Jobs: create, show, edit, run, pause.")
VERSION: Final = Parameter(name="--if-version")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
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
    status: Annotated[list[Status] | None, MANY] = None
    kind: str | None = None
    queue: str | None = None
    label: str | None = None
    user_id: str | None = None

    def filters(self) -> dict[str, Any]:
        label = None if self.label is None else self.label.replace("=", ":", 1)
        return {
            "type": self.type_,
            "status": self.status,
            "kind": self.kind,
            "queue": self.queue,
            "label": label,
            "user_id": self.user_id,
        }


ANY: Final = Which()


@app.command(name="list")
def list_jobs(
    search: str | None = None,
    /,
    *,
    which: Which = ANY,
    most: Most = SOME,
    talk: Talk = TALK,
) -> int:
    """List jobs, newest first. Use --type one_time for one-time submissions.

    Parameters
    ----------
    search
        Text in the job name. Default: any.
    """
    with talk.open() as client:
        found = gather(client.list_jobs, most=most, q=search, **which.filters())
    now = times.now()
    columns: list[Column[Any]] = [
        Column("NAME", lambda job: job.name, flexible=True),
        Column("KIND", lambda job: job.kind, flexible=True),
        Column("STATUS", lambda job: job.status, mood=True),
        Column("SCHEDULE", summarize_rules, flexible=True),
        Column("NEXT RUN", lambda job: times.ago(job.next_run_at, now)),
        Column("QUEUE", lambda job: job.queue),
        Column("ID", lambda job: job.job_id),
    ]
    talk.rows(found.rows, columns, ids="job_id", empty="No matching jobs")
    tell_more(found, talk)
    return 0


@app.command
def show(job: str, /, *, talk: Talk = TALK) -> int:
    """Show a job or a one-time submission.

    Parameters
    ----------
    job
        Job name or id; id of a one-time submission.
    """
    with talk.open() as client:
        found = client.get_job(naming.job_id(client, job))
    talk.thing(found, told(found), ids="job_id")
    return 0


# Fields that are not shown as their plain value.
TOLD: Final[dict[str, Callable[[Any], object]]] = {
    "graph": lambda job: (
        job.graph and f"{len(job.graph['steps'])} steps; `rota graph show` draws them"
    ),
    "retries": lambda job: job.max_retries,
    "labels": lambda job: " ".join(f"{name}={value}" for name, value in job.labels.items()),
}
ABOVE: Final = ("name", "kind", "schedule")


def told(job: Any) -> list[tuple[str, object]]:
    now = times.now()
    others = [JOB_FIELDS[name] for name in STORED_JOB_FIELDS if name not in ABOVE]
    return [
        ("name", job.name),
        ("id", job.job_id),
        ("kind", job.kind),
        ("status", job.status),
        ("held", job.held),
        ("schedule", summarize_rules(job)),
        ("next run", times.at(job.next_run_at, now)),
        *(
            (
                (field.option or field.name).replace("_", " "),
                TOLD.get(field.name, attrgetter(field.name))(job),
            )
            for field in others
        ),
        ("version", job.version),
        ("created", times.at(job.created_at, now)),
        ("updated", times.at(job.updated_at, now)),
    ]


@app.command
def create(
    name: str | None = None,
    /,
    *,
    file: str | None = None,
    replace: Annotated[bool, SWITCH] = False,
    when: When = AT_ONCE,
    how: How = USUALLY,
    talk: Talk = TALK,
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
        return create_from(file, name=name, talk=talk)
    fields = how.fields() | said(schedule=when.plain())
    with talk.open() as client:
        if replace:
            if name is None:
                raise Misused("--replace requires the name of the job")
            put = client.put_job(name, **fields)
            talk.done(
                put, f"Saved job {put.name} ({put.job_id}), version {put.version}", id_=put.job_id
            )
            return 0
        made = client.create_job(**said(name=name), **fields)
    talk.done(made, sentence(made), id_=made.job_id)
    warn(made.warnings)
    return 0


def create_from(file: str, *, name: str | None, talk: Talk) -> int:
    document = document_of(file, field="--file")
    if isinstance(document, dict):
        document = document.get("jobs", [document])
    if not isinstance(document, list) or not all(isinstance(each, dict) for each in document):
        raise InvalidInput("--file", file, "expected a job, which is an object, or a list of jobs")
    if name is not None:
        raise InvalidInput("name", name, "not allowed with --file, which contains the names")
    with talk.open() as client:
        answer = client.create_jobs(jobs=document)
    if talk.as_json:
        talk.done(answer, "", id_="")
        return 0
    for made in answer.jobs:
        talk.done(made, sentence(made), id_=made.job_id)
        warn(made.warnings)
    return 0


def sentence(made: Any) -> str:
    if made.deduplicated:
        return f"Job {made.name} already exists ({made.job_id}), run {made.run_id}"
    if made.run_id is not None:
        return f"Created job {made.name} ({made.job_id}); queued run {made.run_id}"
    return f"Created job {made.name} ({made.job_id}){_next_run(made)}"


def _next_run(job: Any) -> str:
    return f"; next run {times.ago(job.next_run_at, times.now())}" if job.next_run_at else ""


@app.command
def edit(
    job: str,
    /,
    *,
    name: str | None = None,
    if_version: Annotated[int | None, VERSION] = None,
    when: When = AT_ONCE,
    how: How = USUALLY,
    talk: Talk = TALK,
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
    fields = how.fields() | said(name=name)
    if when == AT_ONCE and not fields:
        raise Misused("nothing to change: give at least one option, such as --cron or --queue")
    with talk.open() as client:
        before = client.get_job(naming.job_id(client, job))
        fields |= said(schedule=when.over(before.schedule))
        # The edit keeps parts of the schedule just read, so its version must be unchanged.
        version = before.version if if_version is None and "schedule" in fields else if_version
        found = client.update_job(before.job_id, **fields, **said(if_match=version))
    summary = f"Updated job {found.name} to version {found.version}{_next_run(found)}"
    talk.done(found, summary, id_=found.job_id)
    return 0


@app.command
def delete(
    *jobs: str,
    keep_running: Annotated[bool, SWITCH] = False,
    cancel_running: Annotated[bool, SWITCH] = False,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
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
    some("job", jobs)
    if keep_running and cancel_running:
        raise Misused("--keep-running and --cancel-running exclude each other")
    with talk.open() as client:
        ids = [(job, naming.job_id(client, job)) for job in jobs]
        if not confirm(f"Delete {', '.join(jobs)}?", yes=yes):
            return 1
        for job, id_ in ids:
            client.delete_job(id_, **(said(running="keep") if keep_running else {}))
            talk.done({"job_id": id_}, f"Deleted job {job}", id_=id_)
    return 0


@app.command
def pause(*jobs: str, reason: str | None = None, talk: Talk = TALK) -> int:
    """Pause jobs: stop their schedules until resumed. Current runs continue.

    Parameters
    ----------
    jobs
        Job names or ids.
    reason
        Reason, shown with the job. Default: none.
    """
    some("job", jobs)
    with talk.open() as client:
        for job in jobs:
            found = client.pause_job(naming.job_id(client, job), **said(reason=reason))
            talk.done(found, f"Paused {found.name}", id_=found.job_id)
    return 0


@app.command
def resume(
    *jobs: str,
    missed: Literal["skip", "once", "all"] | None = None,
    talk: Talk = TALK,
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
    some("job", jobs)
    with talk.open() as client:
        for job in jobs:
            found = client.resume_job(naming.job_id(client, job), **said(missed=missed))
            upcoming = _next_run(found) or "; no scheduled run"
            talk.done(found, f"Resumed {found.name}{upcoming}", id_=found.job_id)
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
    talk: Talk = TALK,
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
    fields = said(priority=priority_of(priority), overlap=overlap)
    if payload is not None:
        fields["payload"] = json_of(payload, field="--payload")
    with talk.open() as client:
        made = client.run_job_now(naming.job_id(client, job), **fields)
        if made.refused is not None:
            talk.done(made, f"Skipped {made.run_id}: {made.refused}", id_=made.run_id)
            return 1
        talk.done(made, f"Queued {job} as {made.run_id}", id_=made.run_id)
        if not watch:
            return 0
        from rota.cli.commands.watch import watch_runs  # noqa: PLC0415 - imports rich

        return watch_runs(client, [made.run_id], talk=talk)
