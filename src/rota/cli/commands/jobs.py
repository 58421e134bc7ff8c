"""`rota jobs`: everything about jobs. Room: cli."""

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
from rota.contract.job import FIELDS, STORED_FIELDS, OverlapName
from rota.core.errors import InvalidInput

JobType = Literal["definition", "one_time", "all"]
Status = Literal["active", "pending", "running", "paused", "quarantined", "finished"]

app = App(name="jobs", help="Jobs: make, look at, change, run, pause.")
VERSION: Final = Parameter(name="--if-version")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which jobs.

    Parameters
    ----------
    type_
        Jobs that can run more than once, one-time submissions, or both. Default: both with
        --status pending or running, otherwise definition.
    status
        Those in this state; may be given several times.
    kind
        Those of this kind.
    queue
        Those in this queue.
    label
        Those with this label, as in team=billing.
    user_id
        Those of this user.
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
    """List jobs, newest first.

    One-time submissions are listed with --type one_time.

    Parameters
    ----------
    search
        Part of the name.
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
    talk.rows(found.rows, columns, ids="job_id", empty="there are no such jobs")
    tell_more(found, talk)
    return 0


@app.command
def show(job: str, /, *, talk: Talk = TALK) -> int:
    """Show one job, or a one-time submission.

    Parameters
    ----------
    job
        Its name or its id. A one-time submission is known by its id.
    """
    with talk.open() as client:
        found = client.get_job(naming.job_id(client, job))
    talk.thing(found, told(found), ids="job_id")
    return 0


# How a field is shown that is more than its value.
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
    others = [FIELDS[name] for name in STORED_FIELDS if name not in ABOVE]
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
        ("made", times.at(job.created_at, now)),
        ("changed", times.at(job.updated_at, now)),
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
    """Make a job, or several from a file: all or none.

    Parameters
    ----------
    name
        Unique among jobs; without a kind it is also the kind.
    file
        JSON or YAML with one job or a list of them, as in docs/reference/api.md; - is standard
        input.
    replace
        Change the job of this name if there is one.
    """
    if file is not None:
        return create_from(file, name=name, talk=talk)
    fields = how.fields() | said(schedule=when.plain())
    with talk.open() as client:
        if replace:
            if name is None:
                raise Misused("--replace needs the name of the job to make or change")
            put = client.put_job(name, **fields)
            talk.done(put, f"{put.name} is {put.job_id}, version {put.version}", id_=put.job_id)
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
        raise InvalidInput("--file", file, "a job, which is an object, or a list of jobs")
    if name is not None:
        raise InvalidInput("name", name, "no name beside --file: it is in the file")
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
        return f"{made.name} was there already: {made.job_id}, run {made.run_id}"
    if made.run_id is not None:
        return f"{made.name} was made and runs at once: {made.job_id}, run {made.run_id}"
    soon = f"; it runs {times.ago(made.next_run_at, times.now())}" if made.next_run_at else ""
    return f"{made.name} was made: {made.job_id}{soon}"


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
    """Change a job: only what is said.

    Parameters
    ----------
    job
        Its name or its id.
    name
        Another name.
    if_version
        Only if it still has this version.
    """
    fields = how.fields() | said(name=name)
    if when == AT_ONCE and not fields:
        raise Misused("say something to change, such as --cron or --queue")
    with talk.open() as client:
        before = client.get_job(naming.job_id(client, job))
        fields |= said(schedule=when.over(before.schedule))
        # What is kept of a schedule was read a moment ago: it must still be that.
        version = before.version if if_version is None and "schedule" in fields else if_version
        found = client.update_job(before.job_id, **fields, **said(if_match=version))
    soon = f"; it runs {times.ago(found.next_run_at, times.now())}" if found.next_run_at else ""
    changed = f"{found.name} was changed and has version {found.version}{soon}"
    talk.done(found, changed, id_=found.job_id)
    return 0


@app.command
def delete(
    *jobs: str,
    keep_running: Annotated[bool, SWITCH] = False,
    cancel_running: Annotated[bool, SWITCH] = False,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
) -> int:
    """Delete jobs and cancel their runs, those that are being executed too.

    Parameters
    ----------
    jobs
        Their names or ids.
    keep_running
        Let runs that are being executed go on. Default: their workers are asked to stop them.
    cancel_running
        The default, for scripts that were written when it was not.
    yes
        Do not ask.
    """
    some("job", jobs)
    if keep_running and cancel_running:
        raise Misused("say --keep-running or --cancel-running, not both")
    with talk.open() as client:
        ids = [(job, naming.job_id(client, job)) for job in jobs]
        if not confirm(f"Delete {', '.join(jobs)}?", yes=yes):
            return 1
        for job, id_ in ids:
            client.delete_job(id_, **(said(running="keep") if keep_running else {}))
            talk.done({"job_id": id_}, f"{job} was deleted", id_=id_)
    return 0


@app.command
def pause(*jobs: str, reason: str | None = None, talk: Talk = TALK) -> int:
    """Fire no more ticks of these jobs until they are resumed; runs that exist go on.

    Parameters
    ----------
    jobs
        Their names or ids.
    reason
        Why, for whoever finds them paused.
    """
    some("job", jobs)
    with talk.open() as client:
        for job in jobs:
            found = client.pause_job(naming.job_id(client, job), **said(reason=reason))
            talk.done(found, f"{found.name} is paused", id_=found.job_id)
    return 0


@app.command
def resume(
    *jobs: str,
    missed: Literal["skip", "once", "all"] | None = None,
    talk: Talk = TALK,
) -> int:
    """Let paused jobs go on.

    Parameters
    ----------
    jobs
        Their names or ids.
    missed
        Whether ticks missed in the pause run: none, one, or each (default: as the schedule says).
    """
    some("job", jobs)
    with talk.open() as client:
        for job in jobs:
            found = client.resume_job(naming.job_id(client, job), **said(missed=missed))
            soon = times.ago(found.next_run_at, times.now()) or "not by itself"
            talk.done(found, f"{found.name} goes on; it runs {soon}", id_=found.job_id)
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
    """Run a job now, past its schedule.

    Parameters
    ----------
    job
        Its name or its id.
    payload
        Instead of the job's own: JSON, @file or -.
    priority
        Instead of the job's own.
    overlap
        Instead of the job's own.
    watch
        Watch it until it ends; the exit code is 0 if it succeeded.
    """
    fields = said(priority=priority_of(priority), overlap=overlap)
    if payload is not None:
        fields["payload"] = json_of(payload, field="--payload")
    with talk.open() as client:
        made = client.run_job_now(naming.job_id(client, job), **fields)
        if made.refused is not None:
            talk.done(made, f"{made.run_id} did not become a run: {made.refused}", id_=made.run_id)
            return 1
        talk.done(made, f"{job} runs as {made.run_id}", id_=made.run_id)
        if not watch:
            return 0
        from rota.cli.commands.watch import watch_runs  # noqa: PLC0415 - brings rich with it

        return watch_runs(client, [made.run_id], talk=talk)
