"""`rota jobs status|runs|history|preview|backfill`: the activity of a job."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.commands.jobs import app
from rota.cli.commands.runs import run_columns
from rota.cli.drafts import priority_of
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import SWITCH, TALK, YES, Talk, write
from rota.cli.schedules import show_preview
from rota.cli.tables import Column
from rota.core.errors import InvalidInput


@app.command
def status(job: str, /, *, talk: Talk = TALK) -> int:
    """Show the status of a job: its newest run, and why it waits.

    Parameters
    ----------
    job
        Job name or id.
    """
    with talk.open() as client:
        found = client.get_job_status(naming.job_id(client, job))
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
            ("last change", times.ago(latest.modified_time, times.now())),
        ]
    talk.thing(found, rows, ids="job_id")
    return 0


@app.command
def runs(
    job: str,
    /,
    *,
    most: Most = SOME,
    talk: Talk = TALK,
) -> int:
    """List the runs of a job, newest first.

    Parameters
    ----------
    job
        Job name or id.
    """
    with talk.open() as client:
        found = gather(client.list_runs_of_job, naming.job_id(client, job), most=most)
    talk.rows(found.rows, run_columns(times.now()), ids="run_id", empty="No runs")
    tell_more(found, talk)
    return 0


@app.command
def history(job: str, /, *, most: Most = SOME, talk: Talk = TALK) -> int:
    """List the changes of a job, newest first: version, author, origin and differences.

    Parameters
    ----------
    job
        Job name or id.
    """
    with talk.open() as client:
        found = gather(client.list_job_changes, naming.job_id(client, job), most=most)
    columns: list[Column[Any]] = [
        Column("AT", lambda each: each.at),
        Column("VERSION", lambda each: each.version),
        Column("AUTHOR", lambda each: each.author, flexible=True),
        Column("ORIGIN", lambda each: each.origin),
        Column("ACTION", lambda each: each.action.removeprefix("job.")),
        Column("CHANGES", describe_changes, flexible=True),
    ]
    talk.rows(found.rows, columns, ids="id", empty="No changes recorded")
    tell_more(found, talk)
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
    talk: Talk = TALK,
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
    with talk.open() as client:
        found = client.get_job(naming.job_id(client, job))
        if found.schedule is None:
            raise InvalidInput("job", job, "the job has no schedule")
        shown = client.preview_schedule(schedule=found.schedule, count=count, **said(viewer=viewer))
    show_preview(shown, talk, viewer=viewer)
    return 0


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
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

    def fields(self) -> dict[str, Any]:
        return said(
            since=times.instant(self.since, field="--since"),
            until=times.instant(self.until or "0s", field="--until"),
            only=self.only,
            name=self.name,
        )


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
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
    yes: Annotated[bool, YES] = False


GENTLY: Final = Making()


@app.command
def backfill(job: str, /, *, span: Span, making: Making = GENTLY, talk: Talk = TALK) -> int:
    """Create runs for past ticks. Counts them and asks first.

    Parameters
    ----------
    job
        Job name or id.
    """
    fields = span.fields()
    fields |= said(priority=priority_of(making.priority), at_once=making.at_once)
    with talk.open() as client:
        id_ = naming.job_id(client, job)
        counted = client.backfill_job(id_, dry_run=True, **fields)
        summary = f"{counted.ticks} ticks: {counted.exist} have run, {counted.new} would run"
        if making.dry_run or not counted.new:
            talk.done(counted, summary, id_=counted.new)
            return 0
        if not confirm(f"{summary}. Create {counted.new} runs of {job}?", yes=making.yes):
            return 1
        done = client.backfill_job(id_, **fields)
    if talk.quiet:
        write(done.run_ids)
    else:
        talk.done(done, f"Created {done.new} runs", id_="")
    return 0
