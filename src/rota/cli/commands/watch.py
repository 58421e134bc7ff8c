"""`rota runs watch`: shows the live progress of runs until they end.

At a terminal it draws a bar for each run; elsewhere it prints a line for each change. It polls: one
request costs the API less than a millisecond, and no event can be missed.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Self

from rota.cli import naming, times
from rota.cli.commands.runs import app, message
from rota.cli.options import TALK, Talk, some, write, write_json
from rota.cli.tables import cut, shown
from rota.cli.terminal import raw_output
from rota.core.errors import InvalidInput
from rota.core.states import FINAL_STATES, RunState

if TYPE_CHECKING:
    from rota.sdk.client import Client

EVERY: Final = 0.25
MOST: Final = 50
NAMED: Final = 40
STYLES: Final = {"succeeded": "green", "running": "cyan", "dead": "red", "lost": "red"}


@app.command
def watch(*runs: str, talk: Talk = TALK) -> int:
    """Watch runs until they end; the exit code is 0 if all succeeded.

    With --json the finished runs are printed as an array.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    """
    some("run", runs)
    if len(runs) > MOST:
        raise InvalidInput("runs", len(runs), f"must be at most {MOST}")
    with talk.open() as client:
        ids = list(dict.fromkeys(naming.run_id(client, run) for run in runs))
        return watch_runs(client, ids, talk=talk)


def watch_runs(client: "Client", ids: Sequence[str], *, talk: Talk) -> int:
    """Show the runs until all have ended, and return the exit code."""
    found: dict[str, Any] = {}
    with teller(talk) as tell:
        for run in looks(client, ids):
            if tell is not None:
                tell(run)
            found[run.run_id] = run
    ended = [found[id_] for id_ in ids]
    if talk.as_json:
        write_json(ended)
    elif talk.quiet:
        write(run.run_id for run in ended)
    return 0 if all(run.status == RunState.SUCCEEDED for run in ended) else 1


def looks(client: "Client", ids: Sequence[str]) -> Iterator[Any]:
    """Poll the runs and yield each one at every poll until it ends."""
    left, rest = list(ids), Event()
    while left:
        for id_ in tuple(left):
            run = client.get_run(id_)
            if RunState(run.status) in FINAL_STATES:
                left.remove(id_)
            yield run
        if left:
            rest.wait(EVERY)


def teller(talk: Talk) -> AbstractContextManager[Any]:
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(file=raw_output())
    if not talk.is_plain:
        return nullcontext()
    return Bars(console) if console.is_terminal else Lines()


class Lines:
    """Prints a line for each change, for a file or pipe."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[object, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, run: Any) -> None:
        state = (run.status, run.attempt_number, message(run))
        if self._shown.get(run.run_id) == state:
            return
        self._shown[run.run_id] = state
        parts = (run.run_id, named(run), run.status, shown(message(run)))
        print("  ".join(part for part in parts if part), flush=True)


class Bars:
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
        fields = fields_of(run)
        task = self._tasks.get(run.run_id)
        if task is None:
            # Without a total the bar pulses: the progress is unknown.
            task = self._progress.add_task("", total=None, **fields)
            self._tasks[run.run_id] = task
        share = share_of(run)
        total = None if share is None else 1.0
        self._progress.update(task, total=total, completed=share or 0.0, **fields)


def fields_of(run: Any) -> dict[str, Any]:
    share, is_over = share_of(run), RunState(run.status) in FINAL_STATES
    attempt = f" (attempt {run.attempt_number})" if run.attempt_number > 1 else ""
    style = STYLES.get(run.status, "yellow")
    end = run.end_time or (times.now() if run.start_time else None)
    return {
        "job": cut(named(run), NAMED),
        "id": f"{run.run_id[:12]}…{run.run_id[-4:]}",
        "share": f"{share:.0%}" if share else "",
        "status": f"[{style}]{run.status}{attempt}[/]",
        "took": times.between(run.start_time, end),
        "message": shown(run.error_message or (None if is_over else run.progress_message)),
    }


def share_of(run: Any) -> float | None:
    """Return the progress, 0 to 1; None if it is unknown."""
    if run.status == RunState.SUCCEEDED:
        return 1.0
    if run.progress is None:
        # A bar without a total pulses forever; the bar of a finished run must not.
        return 0.0 if RunState(run.status) in FINAL_STATES else None
    return float(run.progress)


def named(run: Any) -> str:
    return shown(run.job_name or run.job_id)
