"""`rota backfill` and `rota backfills`: creates runs for past ticks, and shows their progress."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from cyclopts import App, Parameter
from cyclopts.validators import Number

from rota.cli import name_resolution, times
from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    SWITCH,
    YES_FLAG,
    ApiOptions,
    require_arguments,
)
from rota.cli.argument_values import read_json
from rota.cli.job_options import parse_priority
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn, format_cell
from rota.cli.terminal import raw_output
from rota.core.backfills import UNFINISHED_STATES, BackfillState
from rota.core.time import durations

if TYPE_CHECKING:
    from rota.sdk.client import Client

POLL_INTERVAL_S: Final = 0.5
Status = Literal["running", "paused", "cancelling", "finished", "cancelled"]

app = App(name="backfills", help="Backfills: list, show, watch, pause, resume, cancel.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillTicks:
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

    def build_fields(self) -> dict[str, Any]:
        return {
            "since": times.parse_time(self.since, field="--since"),
            "until": times.parse_time(self.until or "0s", field="--until"),
            "only": self.only,
            "order": self.order,
        }


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillOptions:
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
    yes: Annotated[bool, YES_FLAG] = False

    def build_fields(self) -> dict[str, Any]:
        return drop_empty(
            at_once=self.at_once,
            priority=parse_priority(self.priority),
            payload=read_json(self.payload, field="--payload"),
        )


DEFAULT_BACKFILL_OPTIONS: Final = BackfillOptions()


def backfill(
    job: str,
    /,
    *,
    tick_range: BackfillTicks,
    run_options: BackfillOptions = DEFAULT_BACKFILL_OPTIONS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create runs for past ticks of a schedule, in small batches. Counts them and asks first.

    Parameters
    ----------
    job
        Job name or id.
    """
    fields = tick_range.build_fields() | run_options.build_fields()
    with api_options.open_client() as client:
        id_ = name_resolution.resolve_job_id(client, job)
        counted = client.create_backfill(id_, dry_run=True, **fields)
        if run_options.dry_run or not counted.new:
            api_options.print_result(counted, describe_plan(counted), id_=counted.new)
            return 0
        if not confirm(f"{describe_plan(counted)}. Start the backfill?", yes=run_options.yes):
            return 1
        started = client.create_backfill(id_, **fields)
        if run_options.watch:
            return watch_until_ended(client, str(started.backfill_id), api_options=api_options)
    api_options.print_result(
        started, f"Started backfill {started.backfill_id}", id_=started.backfill_id
    )
    return 0


def describe_plan(counted: Any) -> str:
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
        sentence += f", estimated duration {times.format_length(length)}"
    if counted.undecided:
        sentence += f"; {counted.undecided:,} more are still up to the scheduler"
    return sentence


@app.command(name="list")
def list_backfills(
    *,
    job: str | None = None,
    status: Annotated[list[Status] | None, Parameter(negative=())] = None,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List backfills, newest first.

    Parameters
    ----------
    job
        Filter by job name or id. Default: any.
    status
        Filter by status (repeatable). Default: any.
    """
    with api_options.open_client() as client:
        job_id = None if job is None else name_resolution.resolve_job_id(client, job)
        found = list_rows(client.list_backfills, row_limit=row_limit, job_id=job_id, status=status)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("BACKFILL", lambda each: each.backfill_id),
        TableColumn("JOB", lambda each: each.job_name or each.job_id, flexible=True),
        TableColumn("STATUS", lambda each: each.status, mood=True),
        TableColumn("SUCCEEDED", lambda each: each.succeeded, right=True),
        TableColumn("FAILED", lambda each: each.failed, right=True),
        TableColumn("LEFT", lambda each: each.left, right=True),
        TableColumn("ENDS", lambda each: times.format_relative(each.eta or each.ended_at, now)),
        TableColumn("CREATED", lambda each: times.format_relative(each.created_at, now)),
    ]
    api_options.print_rows(found.rows, columns, ids="backfill_id", empty="No backfills")
    print_more_hint(found, api_options)
    return 0


@app.command
def show(backfill: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a backfill: its range, progress and estimated end.

    Parameters
    ----------
    backfill
        Backfill id.
    """
    with api_options.open_client() as client:
        found = client.get_backfill(backfill)
    now = times.now()
    rows: list[tuple[str, object]] = [
        ("backfill", found.backfill_id),
        ("job", found.job_name or found.job_id),
        ("status", found.status),
        ("ticks", f"{format_cell(found.since)} to {format_cell(found.until)}"),
        ("selection", f"{found.only}, {found.order} first, {found.at_once} at once"),
        ("reached", found.reached),
        ("ticks checked", found.ticks),
        ("runs created", found.made),
        ("succeeded", found.succeeded),
        ("failed", found.failed),
        ("cancelled", found.cancelled),
        ("active", found.alive),
        ("remaining", f"{'about ' if found.estimated else ''}{found.left}"),
        ("estimated end", times.format_time(found.eta, now)),
        ("paused", times.format_time(found.paused_at, now)),
        ("created", f"{times.format_time(found.created_at, now)} by {found.created_by}"),
        ("ended", times.format_time(found.ended_at, now)),
        ("reason", found.reason),
    ]
    api_options.print_record(found, rows, ids="backfill_id")
    return 0


@app.command
def watch(backfill: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Watch a backfill until it ends; the exit code is 0 if all runs succeeded.

    Parameters
    ----------
    backfill
        Backfill id.
    """
    with api_options.open_client() as client:
        return watch_until_ended(client, backfill, api_options=api_options)


@app.command
def pause(*backfills: str, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Pause backfills: start no new runs. Current runs continue.

    Parameters
    ----------
    backfills
        Backfill ids.
    """
    require_arguments("backfill", backfills)
    with api_options.open_client() as client:
        for each in backfills:
            done = client.pause_backfill(each)
            api_options.print_result(done, f"Paused {each}; {done.left} runs left", id_=each)
    return 0


@app.command
def resume(*backfills: str, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Resume paused backfills.

    Parameters
    ----------
    backfills
        Backfill ids.
    """
    require_arguments("backfill", backfills)
    with api_options.open_client() as client:
        for each in backfills:
            done = client.resume_backfill(each)
            api_options.print_result(done, f"Resumed {each}; {done.left} runs left", id_=each)
    return 0


@app.command
def cancel(
    *backfills: str,
    running: Literal["finish", "cancel"] = "finish",
    reason: str | None = None,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    require_arguments("backfill", backfills)
    with api_options.open_client() as client:
        if not confirm(f"Cancel {', '.join(backfills)}?", yes=yes):
            return 1
        for each in backfills:
            done = client.cancel_backfill(each, running=running, **drop_empty(reason=reason))
            api_options.print_result(done, f"Backfill {each} is {done.status}", id_=each)
    return 0


def watch_until_ended(client: "Client", id_: str, *, api_options: ApiOptions) -> int:
    """Show progress until the backfill ends, and return the exit code."""
    rest = Event()
    with open_progress(api_options) as tell:
        while True:
            found = client.get_backfill(id_)
            if tell is not None:
                tell(found)
            if BackfillState(found.status) not in UNFINISHED_STATES:
                break
            rest.wait(POLL_INTERVAL_S)
    if not api_options.is_plain:
        api_options.print_record(found, [], ids="backfill_id")
    return 0 if found.status == BackfillState.FINISHED and not found.failed else 1


def open_progress(api_options: ApiOptions) -> AbstractContextManager[Any]:
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(file=raw_output())
    if not api_options.is_plain:
        return nullcontext()
    return BackfillBar(console) if console.is_terminal else BackfillLines()


def describe_progress(found: Any) -> str:
    """Describe the progress on one line."""
    ended = found.succeeded + found.failed + found.cancelled
    parts = [found.status, f"{ended:,} of {ended + found.left:,} done"]
    parts += [f"{found.failed:,} failed"] if found.failed else []
    parts += [f"{found.cancelled:,} cancelled"] if found.cancelled else []
    if found.eta is not None:
        parts.append(f"{times.format_relative(found.eta, times.now())}")
    return ", ".join(parts)


class BackfillLines:
    """Prints a line for each change, for a file or pipe."""

    def __init__(self) -> None:
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, found: Any) -> None:
        progress = describe_progress(found).partition(", in ")[0]
        if progress != self._last:
            self._last = progress
            print(f"{found.backfill_id}  {describe_progress(found)}", flush=True)


class BackfillBar:
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
            description=describe_progress(found),
            job=format_cell(found.job_name or found.job_id),
        )
