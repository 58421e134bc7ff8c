"""`rota runs watch`: shows the live progress of runs until they end.

At a terminal it draws a bar for each run; elsewhere it prints a line for each change. It polls: one
request costs the API less than a millisecond, and no event can be missed.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Self

from rota.cli import name_resolution, times
from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    ApiOptions,
    print_json,
    print_lines,
    require_arguments,
)
from rota.cli.commands.runs import app, get_message
from rota.cli.tables import format_cell, truncate_text
from rota.cli.terminal import raw_output
from rota.core.errors import InvalidInput
from rota.core.states import FINAL_STATES, RunState

if TYPE_CHECKING:
    from rota.sdk.client import Client

POLL_INTERVAL_S: Final = 0.25
WATCHED_RUNS_MAX: Final = 50
NAME_WIDTH_MAX: Final = 40
STYLES: Final = {"succeeded": "green", "running": "cyan", "dead": "red", "lost": "red"}


@app.command
def watch(*runs: str, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Watch runs until they end; the exit code is 0 if all succeeded.

    With --json the finished runs are printed as an array.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    """
    require_arguments("run", runs)
    if len(runs) > WATCHED_RUNS_MAX:
        raise InvalidInput("runs", len(runs), f"must be at most {WATCHED_RUNS_MAX}")
    with api_options.open_client() as client:
        ids = list(dict.fromkeys(name_resolution.resolve_run_id(client, run) for run in runs))
        return watch_runs(client, ids, api_options=api_options)


def watch_runs(client: "Client", ids: Sequence[str], *, api_options: ApiOptions) -> int:
    """Show the runs until all have ended, and return the exit code."""
    found: dict[str, Any] = {}
    with open_progress(api_options) as tell:
        for run in poll_runs(client, ids):
            if tell is not None:
                tell(run)
            found[run.run_id] = run
    ended = [found[id_] for id_ in ids]
    if api_options.as_json:
        print_json(ended)
    elif api_options.quiet:
        print_lines(run.run_id for run in ended)
    return 0 if all(run.status == RunState.SUCCEEDED for run in ended) else 1


def poll_runs(client: "Client", ids: Sequence[str]) -> Iterator[Any]:
    """Poll the runs and yield each one at every poll until it ends."""
    left, rest = list(ids), Event()
    while left:
        for id_ in tuple(left):
            run = client.get_run(id_)
            if RunState(run.status) in FINAL_STATES:
                left.remove(id_)
            yield run
        if left:
            rest.wait(POLL_INTERVAL_S)


def open_progress(api_options: ApiOptions) -> AbstractContextManager[Any]:
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(file=raw_output())
    if not api_options.is_plain:
        return nullcontext()
    return RunBars(console) if console.is_terminal else RunLines()


class RunLines:
    """Prints a line for each change, for a file or pipe."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[object, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, run: Any) -> None:
        state = (run.status, run.attempt_number, get_message(run))
        if self._shown.get(run.run_id) == state:
            return
        self._shown[run.run_id] = state
        parts = (run.run_id, get_job_name(run), run.status, format_cell(get_message(run)))
        print("  ".join(part for part in parts if part), flush=True)


class RunBars:
    """Draws a bar for each run, for a terminal."""

    def __init__(self, console: Any) -> None:
        from rich.progress import (  # noqa: PLC0415 - as above
            BarColumn,
            Progress,
            TextColumn,
        )
        from rich.table import Column  # noqa: PLC0415 - as above

        self._progress: Progress = Progress(
            TextColumn("{task.fields[job]}", markup=False),
            TextColumn("{task.fields[id]}", style="dim", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[share]}", justify="right", markup=False),
            TextColumn("{task.fields[status]}", markup=True),
            TextColumn("{task.fields[took]}", justify="right", markup=False),
            TextColumn(
                "{task.fields[message]}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            console=console,
            expand=True,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, run: Any) -> None:
        fields = build_bar_fields(run)
        task = self._tasks.get(run.run_id)
        if task is None:
            # Without a total the bar pulses: the progress is unknown.
            task = self._progress.add_task("", total=None, **fields)
            self._tasks[run.run_id] = task
        share = get_progress(run)
        total = None if share is None else 1.0
        self._progress.update(task, total=total, completed=share or 0.0, **fields)


def build_bar_fields(run: Any) -> dict[str, Any]:
    share, is_over = get_progress(run), RunState(run.status) in FINAL_STATES
    attempt = f" (attempt {run.attempt_number})" if run.attempt_number > 1 else ""
    style = STYLES.get(run.status, "yellow")
    end = run.end_time or (times.now() if run.start_time else None)
    return {
        "job": truncate_text(get_job_name(run), NAME_WIDTH_MAX),
        "id": f"{run.run_id[:12]}…{run.run_id[-4:]}",
        "share": f"{share:.0%}" if share else "",
        "status": f"[{style}]{run.status}{attempt}[/]",
        "took": times.format_between(run.start_time, end),
        "message": format_cell(run.error_message or (None if is_over else run.progress_message)),
    }


def get_progress(run: Any) -> float | None:
    """Return the progress, 0 to 1; None if it is unknown."""
    if run.status == RunState.SUCCEEDED:
        return 1.0
    if run.progress is None:
        # A bar without a total pulses forever; the bar of a finished run must not.
        return 0.0 if RunState(run.status) in FINAL_STATES else None
    return float(run.progress)


def get_job_name(run: Any) -> str:
    return format_cell(run.job_name or run.job_id)
