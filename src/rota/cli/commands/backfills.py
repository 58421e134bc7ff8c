"""`rota backfill` and `rota backfills`: creates runs for past ticks, and shows their progress."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from cyclopts import App, Parameter
from cyclopts.validators import Number

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.drafts import priority_of
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import SWITCH, TALK, YES, Talk, some
from rota.cli.reading import json_of
from rota.cli.tables import Column, shown
from rota.cli.terminal import raw_output
from rota.core.backfills import UNFINISHED_STATES, BackfillState
from rota.core.time import durations

if TYPE_CHECKING:
    from rota.sdk.client import Client

EVERY: Final = 0.5
Status = Literal["running", "paused", "cancelling", "finished", "cancelled"]

app = App(name="backfills", help="Backfills: list, show, watch, pause, resume, cancel.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """Which ticks to backfill.

    Parameters
    ----------
    since
        Start of the range: a time, or how long ago, such as 30d.
    until
        End of the range, exclusive: a time, or how long ago. Default: now.
    only
        Ticks that never ran, ticks whose runs failed, or all ticks, including successful ones.
        Default: missing.
    order
        Which ticks run first. Default: oldest.
    """

    since: str
    until: str | None = None
    only: Literal["missing", "failed", "all"] = "missing"
    order: Literal["oldest", "newest"] = "oldest"

    def fields(self) -> dict[str, Any]:
        return {
            "since": times.instant(self.since, field="--since"),
            "until": times.instant(self.until or "0s", field="--until"),
            "only": self.only,
            "order": self.order,
        }


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """How the runs are created.

    Parameters
    ----------
    at_once
        Maximum number of concurrent runs. Default: 4.
    priority
        Priority of the runs. Default: low.
    payload
        Payload of the runs: JSON, @file, or - for standard input. Default: the job's payload.
    dry_run
        Only count the runs.
    watch
        Wait until all runs have ended; the exit code is 0 if all succeeded.
    yes
        Skip the confirmation.
    """

    at_once: Annotated[int | None, Parameter(validator=Number(gte=1, lte=1000))] = None
    priority: str | None = None
    payload: str | None = None
    dry_run: Annotated[bool, SWITCH] = False
    watch: Annotated[bool, SWITCH] = False
    yes: Annotated[bool, YES] = False

    def fields(self) -> dict[str, Any]:
        return said(
            at_once=self.at_once,
            priority=priority_of(self.priority),
            payload=json_of(self.payload, field="--payload"),
        )


GENTLY: Final = Making()


def backfill(job: str, /, *, ticks: Ticks, making: Making = GENTLY, talk: Talk = TALK) -> int:
    """Create runs for past ticks of a schedule, in small batches. Counts them and asks first.

    Parameters
    ----------
    job
        Job name or id.
    """
    fields = ticks.fields() | making.fields()
    with talk.open() as client:
        id_ = naming.job_id(client, job)
        counted = client.create_backfill(id_, dry_run=True, **fields)
        if making.dry_run or not counted.new:
            talk.done(counted, told(counted), id_=counted.new)
            return 0
        if not confirm(f"{told(counted)}. Start the backfill?", yes=making.yes):
            return 1
        started = client.create_backfill(id_, **fields)
        if making.watch:
            return follow(client, str(started.backfill_id), talk=talk)
    talk.done(started, f"Started backfill {started.backfill_id}", id_=started.backfill_id)
    return 0


def told(counted: Any) -> str:
    """Describe the counted ticks and runs in a sentence."""
    about = "about " if counted.estimated else ""
    parts = [
        f"{number:,} {word}"
        for number, word in (
            (counted.ran, "completed"),
            (counted.alive, "active"),
            (counted.failed, "failed"),
            (counted.missing, "missing"),
        )
        if number
    ]
    sentence = f"{about}{counted.ticks:,} ticks: {', '.join(parts) or 'none'}; "
    sentence += f"{about}{counted.new:,} would run"
    if counted.takes is not None and counted.new:
        length = durations.parse(counted.takes, maximum=durations.DURATION_MAX * 10)
        sentence += f", estimated duration {times.short(length)}"
    if counted.undecided:
        sentence += f"; {counted.undecided:,} more are still up to the scheduler"
    return sentence


@app.command(name="list")
def list_backfills(
    *,
    job: str | None = None,
    status: Annotated[list[Status] | None, Parameter(negative=())] = None,
    most: Most = SOME,
    talk: Talk = TALK,
) -> int:
    """List backfills, newest first.

    Parameters
    ----------
    job
        Filter by job name or id. Default: any.
    status
        Filter by status (repeatable). Default: any.
    """
    with talk.open() as client:
        job_id = None if job is None else naming.job_id(client, job)
        found = gather(client.list_backfills, most=most, job_id=job_id, status=status)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("BACKFILL", lambda each: each.backfill_id),
        Column("JOB", lambda each: each.job_name or each.job_id, flexible=True),
        Column("STATUS", lambda each: each.status, mood=True),
        Column("SUCCEEDED", lambda each: each.succeeded, right=True),
        Column("FAILED", lambda each: each.failed, right=True),
        Column("LEFT", lambda each: each.left, right=True),
        Column("ENDS", lambda each: times.ago(each.eta or each.ended_at, now)),
        Column("CREATED", lambda each: times.ago(each.created_at, now)),
    ]
    talk.rows(found.rows, columns, ids="backfill_id", empty="No backfills")
    tell_more(found, talk)
    return 0


@app.command
def show(backfill: str, /, *, talk: Talk = TALK) -> int:
    """Show a backfill: its range, progress and estimated end.

    Parameters
    ----------
    backfill
        Backfill id.
    """
    with talk.open() as client:
        found = client.get_backfill(backfill)
    now = times.now()
    rows: list[tuple[str, object]] = [
        ("backfill", found.backfill_id),
        ("job", found.job_name or found.job_id),
        ("status", found.status),
        ("ticks", f"{shown(found.since)} to {shown(found.until)}"),
        ("selection", f"{found.only}, {found.order} first, {found.at_once} at once"),
        ("reached", found.reached),
        ("ticks checked", found.ticks),
        ("runs created", found.made),
        ("succeeded", found.succeeded),
        ("failed", found.failed),
        ("cancelled", found.cancelled),
        ("active", found.alive),
        ("remaining", f"{'about ' if found.estimated else ''}{found.left}"),
        ("estimated end", times.at(found.eta, now)),
        ("paused", times.at(found.paused_at, now)),
        ("created", f"{times.at(found.created_at, now)} by {found.created_by}"),
        ("ended", times.at(found.ended_at, now)),
        ("reason", found.reason),
    ]
    talk.thing(found, rows, ids="backfill_id")
    return 0


@app.command
def watch(backfill: str, /, *, talk: Talk = TALK) -> int:
    """Watch a backfill until it ends; the exit code is 0 if all runs succeeded.

    Parameters
    ----------
    backfill
        Backfill id.
    """
    with talk.open() as client:
        return follow(client, backfill, talk=talk)


@app.command
def pause(*backfills: str, talk: Talk = TALK) -> int:
    """Pause backfills: start no new runs. Current runs continue.

    Parameters
    ----------
    backfills
        Backfill ids.
    """
    some("backfill", backfills)
    with talk.open() as client:
        for each in backfills:
            done = client.pause_backfill(each)
            talk.done(done, f"Paused {each}; {done.left} runs left", id_=each)
    return 0


@app.command
def resume(*backfills: str, talk: Talk = TALK) -> int:
    """Resume paused backfills.

    Parameters
    ----------
    backfills
        Backfill ids.
    """
    some("backfill", backfills)
    with talk.open() as client:
        for each in backfills:
            done = client.resume_backfill(each)
            talk.done(done, f"Resumed {each}; {done.left} runs left", id_=each)
    return 0


@app.command
def cancel(
    *backfills: str,
    running: Literal["finish", "cancel"] = "finish",
    reason: str | None = None,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
) -> int:
    """Cancel backfills: create no more runs, and cancel the waiting ones.

    Parameters
    ----------
    backfills
        Backfill ids.
    running
        Whether current runs finish or are cancelled. Default: finish.
    reason
        Reason, for the record. Default: none.
    yes
        Skip the confirmation.
    """
    some("backfill", backfills)
    with talk.open() as client:
        if not confirm(f"Cancel {', '.join(backfills)}?", yes=yes):
            return 1
        for each in backfills:
            done = client.cancel_backfill(each, running=running, **said(reason=reason))
            talk.done(done, f"Backfill {each} is {done.status}", id_=each)
    return 0


def follow(client: "Client", id_: str, *, talk: Talk) -> int:
    """Show progress until the backfill ends, and return the exit code."""
    rest = Event()
    with teller(talk) as tell:
        while True:
            found = client.get_backfill(id_)
            if tell is not None:
                tell(found)
            if BackfillState(found.status) not in UNFINISHED_STATES:
                break
            rest.wait(EVERY)
    if not talk.is_plain:
        talk.thing(found, [], ids="backfill_id")
    return 0 if found.status == BackfillState.FINISHED and not found.failed else 1


def teller(talk: Talk) -> AbstractContextManager[Any]:
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(file=raw_output())
    if not talk.is_plain:
        return nullcontext()
    return Bar(console) if console.is_terminal else Lines()


def line(found: Any) -> str:
    """Describe the progress on one line."""
    ended = found.succeeded + found.failed + found.cancelled
    parts = [found.status, f"{ended:,} of {ended + found.left:,} done"]
    parts += [f"{found.failed:,} failed"] if found.failed else []
    parts += [f"{found.cancelled:,} cancelled"] if found.cancelled else []
    if found.eta is not None:
        parts.append(f"{times.ago(found.eta, times.now())}")
    return ", ".join(parts)


class Lines:
    """Prints a line for each change, for a file or pipe."""

    def __init__(self) -> None:
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, found: Any) -> None:
        progress = line(found).partition(", in ")[0]
        if progress != self._last:
            self._last = progress
            print(f"{found.backfill_id}  {line(found)}", flush=True)


class Bar:
    """Draws a progress bar, for a terminal."""

    def __init__(self, console: Any) -> None:
        from rich.progress import (  # noqa: PLC0415 - slow to import
            BarColumn,
            Progress,
            TextColumn,
        )

        self._progress: Progress = Progress(
            TextColumn("{task.fields[job]}", markup=False),
            BarColumn(bar_width=32),
            TextColumn("{task.description}", markup=False),
            console=console,
        )
        self._task = self._progress.add_task("", total=None, job="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, found: Any) -> None:
        ended = found.succeeded + found.failed + found.cancelled
        self._progress.update(
            self._task,
            # A bar with a total of 0 would pulse forever.
            total=ended + found.left or 1,
            completed=ended if ended + found.left else 1,
            description=line(found),
            job=shown(found.job_name or found.job_id),
        )
