"""`rota backfill` and `rota backfills`: runs for a stretch of the past, and how far they are.

Room: cli.
"""

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
from rota.core.backfills import UNFINISHED, BackfillState
from rota.core.time import durations

if TYPE_CHECKING:
    from rota.sdk.client import Client

EVERY: Final = 0.5
Status = Literal["running", "paused", "cancelling", "finished", "cancelled"]

app = App(name="backfills", help="Backfills: list, show, watch, pause, resume, cancel.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """Which ticks.

    Parameters
    ----------
    since
        The first tick that counts: a time, or how long ago, as in 30d.
    until
        Ticks before this time count (default: now).
    only
        Ticks that never ran, those whose runs failed, or each of them again.
    order
        Which of them run first.
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
    """How the runs are made.

    Parameters
    ----------
    at_once
        How many of them may run at a time (default: 4).
    priority
        Of the runs that are made (default: low).
    payload
        What they are given instead of the job's payload: JSON, @file or - for standard input.
    dry_run
        Only count.
    watch
        Stay until all of them have ended; the exit code is 0 if all succeeded.
    yes
        Do not ask.
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
    """Make runs for ticks of the past, however many, little by little; counts first, and asks.

    Parameters
    ----------
    job
        Its name or its id.
    """
    fields = ticks.fields() | making.fields()
    with talk.open() as client:
        id_ = naming.job_id(client, job)
        counted = client.create_backfill(id_, dry_run=True, **fields)
        if making.dry_run or not counted.new:
            talk.done(counted, told(counted), id_=counted.new)
            return 0
        if not confirm(f"{told(counted)}. Begin?", yes=making.yes):
            return 1
        begun = client.create_backfill(id_, **fields)
        if making.watch:
            return follow(client, str(begun.backfill_id), talk=talk)
    talk.done(begun, f"backfill {begun.backfill_id} has begun", id_=begun.backfill_id)
    return 0


def told(counted: Any) -> str:
    """What was counted, in a sentence."""
    about = "about " if counted.estimated else ""
    parts = [
        f"{number:,} {word}"
        for number, word in (
            (counted.ran, "ran"),
            (counted.alive, "are under way"),
            (counted.failed, "failed"),
            (counted.missing, "are missing"),
        )
        if number
    ]
    sentence = f"{about}{counted.ticks:,} ticks: {', '.join(parts) or 'none'}; "
    sentence += f"{about}{counted.new:,} would run"
    if counted.takes is not None and counted.new:
        length = durations.parse(counted.takes, longest=durations.LONGEST * 10)
        sentence += f", which takes about {times.short(length)}"
    if counted.undecided:
        sentence += f"; {counted.undecided:,} more are left to the scheduler"
    return sentence


@app.command(name="list")
def list_backfills(
    *,
    job: str | None = None,
    status: Annotated[list[Status] | None, Parameter(negative=())] = None,
    most: Most = SOME,
    talk: Talk = TALK,
) -> int:
    """List backfills, the newest first.

    Parameters
    ----------
    job
        Those of this job: its name or its id.
    status
        Those in this state; may be given several times.
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
        Column("DONE", lambda each: times.ago(each.eta or each.ended_at, now)),
        Column("BEGUN", lambda each: times.ago(each.created_at, now)),
    ]
    talk.rows(found.rows, columns, ids="backfill_id", empty="there are no backfills")
    tell_more(found, talk)
    return 0


@app.command
def show(backfill: str, /, *, talk: Talk = TALK) -> int:
    """Show a backfill: what it does, how far it is, and when it will be done.

    Parameters
    ----------
    backfill
        Its id.
    """
    with talk.open() as client:
        found = client.get_backfill(backfill)
    now = times.now()
    rows: list[tuple[str, object]] = [
        ("backfill", found.backfill_id),
        ("job", found.job_name or found.job_id),
        ("status", found.status),
        ("ticks", f"{shown(found.since)} to {shown(found.until)}"),
        ("which", f"{found.only}, the {found.order} first, {found.at_once} at once"),
        ("reached", found.reached),
        ("looked at", found.ticks),
        ("made", found.made),
        ("succeeded", found.succeeded),
        ("failed", found.failed),
        ("cancelled", found.cancelled),
        ("alive", found.alive),
        ("left", f"{'about ' if found.estimated else ''}{found.left}"),
        ("done", times.at(found.eta, now)),
        ("paused", times.at(found.paused_at, now)),
        ("begun", f"{times.at(found.created_at, now)} by {found.created_by}"),
        ("ended", times.at(found.ended_at, now)),
        ("why", found.reason),
    ]
    talk.thing(found, rows, ids="backfill_id")
    return 0


@app.command
def watch(backfill: str, /, *, talk: Talk = TALK) -> int:
    """Watch a backfill until it has ended; the exit code is 0 if all of its runs succeeded.

    Parameters
    ----------
    backfill
        Its id.
    """
    with talk.open() as client:
        return follow(client, backfill, talk=talk)


@app.command
def pause(*backfills: str, talk: Talk = TALK) -> int:
    """Start no more runs of backfills; those that run may finish.

    Parameters
    ----------
    backfills
        Their ids.
    """
    some("backfill", backfills)
    with talk.open() as client:
        for each in backfills:
            done = client.pause_backfill(each)
            talk.done(done, f"{each} is paused, {done.left} runs are left", id_=each)
    return 0


@app.command
def resume(*backfills: str, talk: Talk = TALK) -> int:
    """Let paused backfills go on.

    Parameters
    ----------
    backfills
        Their ids.
    """
    some("backfill", backfills)
    with talk.open() as client:
        for each in backfills:
            done = client.resume_backfill(each)
            talk.done(done, f"{each} goes on, {done.left} runs are left", id_=each)
    return 0


@app.command
def cancel(
    *backfills: str,
    running: Literal["finish", "cancel"] = "finish",
    reason: str | None = None,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
) -> int:
    """Make no more runs, and cancel those that wait.

    Parameters
    ----------
    backfills
        Their ids.
    running
        What becomes of runs that are at work.
    reason
        Why, for whoever asks later.
    yes
        Do not ask.
    """
    some("backfill", backfills)
    with talk.open() as client:
        if not confirm(f"Cancel {', '.join(backfills)}?", yes=yes):
            return 1
        for each in backfills:
            done = client.cancel_backfill(each, running=running, **said(reason=reason))
            talk.done(done, f"{each} is {done.status}", id_=each)
    return 0


def follow(client: "Client", id_: str, *, talk: Talk) -> int:
    """Show a backfill until it has ended, and return the exit code."""
    rest = Event()
    with teller(talk) as tell:
        while True:
            found = client.get_backfill(id_)
            if tell is not None:
                tell(found)
            if BackfillState(found.status) not in UNFINISHED:
                break
            rest.wait(EVERY)
    if not talk.is_plain:
        talk.thing(found, [], ids="backfill_id")
    return 0 if found.status == BackfillState.FINISHED and not found.failed else 1


def teller(talk: Talk) -> AbstractContextManager[Any]:
    from rich.console import Console  # noqa: PLC0415 - only where something is drawn

    console = Console(file=raw_output())
    if not talk.is_plain:
        return nullcontext()
    return Bar(console) if console.is_terminal else Lines()


def line(found: Any) -> str:
    """How it stands, on one line."""
    ended = found.succeeded + found.failed + found.cancelled
    parts = [found.status, f"{ended:,} of {ended + found.left:,} done"]
    parts += [f"{found.failed:,} failed"] if found.failed else []
    parts += [f"{found.cancelled:,} cancelled"] if found.cancelled else []
    if found.eta is not None:
        parts.append(f"{times.ago(found.eta, times.now())}")
    return ", ".join(parts)


class Lines:
    """For a file or a pipe: a line whenever something has changed."""

    def __init__(self) -> None:
        self._said = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, found: Any) -> None:
        said_ = line(found).partition(", in ")[0]
        if said_ != self._said:
            self._said = said_
            print(f"{found.backfill_id}  {line(found)}", flush=True)


class Bar:
    """For a terminal."""

    def __init__(self, console: Any) -> None:
        from rich.progress import (  # noqa: PLC0415 - only where something is drawn
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
            # A bar whose total is 0 moves for ever.
            total=ended + found.left or 1,
            completed=ended if ended + found.left else 1,
            description=line(found),
            job=shown(found.job_name or found.job_id),
        )
