"""`rota runs`: look at runs, stop them, let them go again. Room: cli."""

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

app = App(name="runs", help="Runs: look at, follow, cancel, retry.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which runs.

    Parameters
    ----------
    status
        Those in this state; may be given several times.
    job
        Those of this job: its name or its id.
    kind
        Those of this kind.
    queue
        Those in this queue.
    worker
        Those executed last by this worker: its id or its name.
    since
        Those made since: a time, or how long ago, as in 2h.
    until
        Those made before: a time, or how long ago.
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
    talk.rows(found.rows, run_columns(times.now()), ids="run_id", empty="there are no such runs")
    tell_more(found, talk)
    return 0


def run_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("RUN", lambda run: run.run_id),
        Column("JOB", lambda run: run.job_name or run.job_id, flexible=True),
        Column("STATUS", lambda run: run.status, mood=True),
        Column("TRY", lambda run: run.attempt_number, right=True),
        Column("DUE", lambda run: times.ago(run.due_at, now)),
        Column("TOOK", lambda run: took(run, now), right=True),
        Column("MESSAGE", message, flexible=True),
    ]


def took(run: Any, now: datetime) -> str:
    if run.start_time is None:
        return ""
    return times.between(run.start_time, run.end_time or now)


def message(run: Any) -> str:
    """What went wrong, or how far it is."""
    if run.progress is not None and run.status in {"running", "cancelling"}:
        return f"{run.progress:.0%} {run.progress_message or ''}".strip()
    return run.error_message or ""


@app.command
def show(run: str, /, *, talk: Talk = TALK) -> int:
    """Show one run, with its payload and its result; of a failed one, the traceback.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
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
    yield "took", took(run, now)
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
    """List the attempts of a run, the first one first.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    """
    with talk.open() as client:
        found = client.list_attempts(naming.run_id(client, run)).items
    columns: list[Column[Any]] = [
        Column("TRY", lambda each: each.attempt_number, right=True),
        Column("OUTCOME", lambda each: each.outcome, mood=True),
        Column("STARTED", lambda each: each.start_time),
        Column("TOOK", lambda each: times.between(each.start_time, each.end_time), right=True),
        Column("WORKER", lambda each: each.worker, flexible=True),
        Column("MESSAGE", lambda each: each.error_message, flexible=True),
    ]
    talk.rows(found, columns, ids="attempt_number", empty="nothing has been attempted yet")
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
    """List the members of a map of a graph run, in their order.

    Parameters
    ----------
    run
        The id of the graph run, or the beginning of it.
    step
        The name of the step that is a map.
    status
        Those in this state; may be given several times.
    """
    with talk.open() as client:
        id_ = naming.run_id(client, run)
        found = gather(client.list_members, id_, most=most, step=step, status=status)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("MEMBER", lambda each: each.member, right=True),
        Column("RUN", lambda each: each.run_id),
        Column("STATUS", lambda each: each.status, mood=True),
        Column("TRY", lambda each: each.attempt_number, right=True),
        Column("TOOK", lambda each: took(each, now), right=True),
        Column("MESSAGE", message, flexible=True),
    ]
    talk.rows(found.rows, columns, ids="run_id", empty="there are no such members")
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
    """Cancel runs: at once if they wait; if they run, their workers are asked to stop.

    Without runs, all that fit the options: counts them first, and asks.

    Parameters
    ----------
    runs
        Their ids, or the beginnings of them.
    reason
        Why, for whoever asks later.
    force
        End them now, whatever their workers do.
    yes
        Do not ask.
    """
    with talk.open() as client:
        if not runs:
            return do_many(client.cancel_runs, many.filters(client), "Cancel", yes=yes, talk=talk)
        many.refuse_beside(runs)
        for run in runs:
            done = client.cancel_run(
                naming.run_id(client, run), **said(reason=reason, force=force or None)
            )
            talk.done(done, f"{done.run_id} is {done.status}", id_=done.run_id)
    return 0


@app.command
def retry(*runs: str, talk: Talk = TALK) -> int:
    """Let runs that died, were lost or were cancelled go again, as themselves.

    Parameters
    ----------
    runs
        Their ids, or the beginnings of them.
    """
    some("run", runs)
    with talk.open() as client:
        for run in runs:
            done = client.retry_run(naming.run_id(client, run))
            talk.done(done, f"{done.run_id} is {done.status}", id_=done.run_id)
    return 0


@app.command
def replay(run: str, /, *, payload: str | None = None, talk: Talk = TALK) -> int:
    """Make a new run like a finished one, with the same payload or another.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    payload
        Instead of the one that the run had: JSON, @file or -.
    """
    fields = {}
    if payload is not None:
        fields["payload"] = json_of(payload, field="--payload")
    with talk.open() as client:
        made = client.replay_run(naming.run_id(client, run), **fields)
    talk.done(made, f"it runs again as {made.run_id}", id_=made.run_id)
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
    """Print what a run wrote; with -f as it comes, until the run has ended.

    With --json each piece is one object on a line of its own. Colours show on a terminal; other
    control characters are printed as their numbers.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    follow
        Go on until the run has ended.
    attempt
        Only what this attempt wrote.
    raw
        Print every byte as the run wrote it, also sequences that steer the terminal. Default: off.
    """
    from rota.cli.logs import followed, read, write_pieces  # noqa: PLC0415 - only here

    if talk.quiet:
        raise Misused("logs have no ids: --quiet means nothing here")
    if raw and talk.as_json:
        raise Misused("--raw prints what the run wrote, --json prints objects: use one of them")
    with talk.open() as client:
        id_ = naming.run_id(client, run)
        pieces = followed(client, id_) if follow else read(client, id_)
        write_pieces(pieces, attempt=attempt, as_json=talk.as_json, raw=raw)
    return 0
