"""`rota runs`: shows, cancels, retries and replays runs, and prints their logs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from rota.cli import naming, times
from rota.cli.bulk import NOBODY, Many, do_many
from rota.cli.commands.observing import why
from rota.cli.errors import Misused
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import MANY, SWITCH, TALK, YES, Talk, some, write
from rota.cli.reading import json_of
from rota.cli.tables import Column
from rota.cli.tracebacks import traceback_lines

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
class Which:
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

    status: Annotated[list[Status] | None, MANY] = None
    job: str | None = None
    kind: str | None = None
    queue: str | None = None
    worker: str | None = None
    since: str | None = None
    until: str | None = None

    def filters(self, client: Any) -> dict[str, Any]:
        return {
            "status": self.status,
            "job_id": None if self.job is None else naming.job_id(client, self.job),
            "kind": self.kind,
            "queue": self.queue,
            "worker_id": self.worker,
            "created_after": times.instant(self.since, field="--since"),
            "created_before": times.instant(self.until, field="--until"),
        }


ANY: Final = Which()


@app.command(name="list")
def list_runs(*, which: Which = ANY, most: Most = SOME, talk: Talk = TALK) -> int:
    """List runs, newest first."""
    with talk.open() as client:
        found = gather(client.list_runs, most=most, **which.filters(client))
    talk.rows(found.rows, run_columns(times.now()), ids="run_id", empty="No matching runs")
    tell_more(found, talk)
    return 0


def run_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("RUN", lambda run: run.run_id),
        Column("JOB", lambda run: run.job_name or run.job_id, flexible=True),
        Column("STATUS", lambda run: run.status, mood=True),
        Column("ATTEMPT", lambda run: run.attempt_number, right=True),
        Column("DUE", lambda run: times.ago(run.due_at, now)),
        Column("DURATION", lambda run: took(run, now), right=True),
        Column("MESSAGE", message, flexible=True),
    ]


def took(run: Any, now: datetime) -> str:
    if run.start_time is None:
        return ""
    return times.between(run.start_time, run.end_time or now)


def message(run: Any) -> str:
    """Return the error message, or the progress of an active run."""
    if run.progress is not None and run.status in {"running", "cancelling"}:
        return f"{run.progress:.0%} {run.progress_message or ''}".strip()
    return run.error_message or ""


@app.command
def show(run: str, /, *, talk: Talk = TALK) -> int:
    """Show a run with its payload and result, and the traceback of a failed run.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with talk.open() as client:
        found = client.get_run(naming.run_id(client, run))
    talk.thing(found, told(found), ids="run_id")
    if talk.is_plain:
        write(traceback_lines(found.traceback, found.run_id))
    return 0


def told(run: Any) -> Iterator[tuple[str, object]]:
    now = times.now()
    yield "run", run.run_id
    yield "job", f"{run.job_name or ''} {run.job_id}".strip()
    yield "status", run.status
    yield "reason", run.error_message
    yield "attempts", run.attempt_number
    yield "progress", message(run) if run.status == "running" else None
    yield "scheduled", times.at(run.scheduled_at, now)
    yield "due", run.due_at if run.due_at != run.scheduled_at else None
    yield "started", run.start_time
    yield "ended", run.end_time
    yield "duration", took(run, now)
    yield "deadline", run.deadline_at
    yield "worker", run.worker
    yield "kind", run.kind
    yield "queue", run.queue
    yield "priority", run.priority
    yield "trigger", run.trigger
    yield "payload", run.payload
    yield "result", run.result


@app.command
def attempts(run: str, /, *, talk: Talk = TALK) -> int:
    """List the attempts of a run, oldest first.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with talk.open() as client:
        found = client.list_attempts(naming.run_id(client, run)).items
    columns: list[Column[Any]] = [
        Column("ATTEMPT", lambda each: each.attempt_number, right=True),
        Column("OUTCOME", lambda each: each.outcome, mood=True),
        Column("STARTED", lambda each: each.start_time),
        Column("DURATION", lambda each: times.between(each.start_time, each.end_time), right=True),
        Column("WORKER", lambda each: each.worker, flexible=True),
        Column("MESSAGE", lambda each: each.error_message, flexible=True),
    ]
    talk.rows(found, columns, ids="attempt_number", empty="No attempts yet")
    return 0


@app.command
def members(
    run: str,
    step: str,
    /,
    *,
    status: Annotated[list[Status] | None, MANY] = None,
    most: Most = SOME,
    talk: Talk = TALK,
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
    with talk.open() as client:
        id_ = naming.run_id(client, run)
        found = gather(client.list_members, id_, most=most, step=step, status=status)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("MEMBER", lambda each: each.member, right=True),
        Column("RUN", lambda each: each.run_id),
        Column("STATUS", lambda each: each.status, mood=True),
        Column("ATTEMPT", lambda each: each.attempt_number, right=True),
        Column("DURATION", lambda each: took(each, now), right=True),
        Column("MESSAGE", message, flexible=True),
    ]
    talk.rows(found.rows, columns, ids="run_id", empty="No matching members")
    tell_more(found, talk)
    return 0


@app.command
def cancel(
    *runs: str,
    reason: str | None = None,
    force: Annotated[bool, SWITCH] = False,
    many: Many = NOBODY,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
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
    with talk.open() as client:
        if not runs:
            return do_many(client.cancel_runs, many.filters(client), "Cancel", yes=yes, talk=talk)
        many.refuse_beside(runs)
        for run in runs:
            done = client.cancel_run(
                naming.run_id(client, run), **said(reason=reason, force=force or None)
            )
            outcome = "Cancelled" if done.status == "cancelled" else "Cancelling"
            talk.done(done, f"{outcome} {done.run_id}", id_=done.run_id)
    return 0


@app.command
def retry(*runs: str, talk: Talk = TALK) -> int:
    """Retry dead, lost or cancelled runs under the same run id.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    """
    some("run", runs)
    with talk.open() as client:
        for run in runs:
            done = client.retry_run(naming.run_id(client, run))
            talk.done(done, f"Retrying {done.run_id} ({done.status})", id_=done.run_id)
    return 0


@app.command
def replay(run: str, /, *, payload: str | None = None, talk: Talk = TALK) -> int:
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
        fields["payload"] = json_of(payload, field="--payload")
    with talk.open() as client:
        made = client.replay_run(naming.run_id(client, run), **fields)
    talk.done(made, f"Replayed as {made.run_id}", id_=made.run_id)
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
    talk: Talk = TALK,
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
    from rota.cli.logs import followed, read, write_pieces  # noqa: PLC0415 - only here

    if talk.quiet:
        raise Misused("--quiet is not supported: logs have no ids")
    if raw and talk.as_json:
        raise Misused("--raw and --json exclude each other")
    with talk.open() as client:
        id_ = naming.run_id(client, run)
        pieces = followed(client, id_) if follow else read(client, id_)
        write_pieces(pieces, attempt=attempt, as_json=talk.as_json, raw=raw)
    return 0
