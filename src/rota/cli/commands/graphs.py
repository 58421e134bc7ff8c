"""`rota graph`: draw graphs and their runs, check files, steer runs. Room: cli."""

import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import App

from rota.cli import naming, times
from rota.cli.errors import Misused
from rota.cli.options import SWITCH, TALK, Talk, write, write_json
from rota.cli.tables import PLAIN, Screen, coloured, cut, screen_of, shown
from rota.cli.terminal import raw_output
from rota.contract.graph import read_stored_graph
from rota.core.graphs import Graph, drawing
from rota.core.graphs.drawing import SYMBOLS, Drawn
from rota.core.states import FINAL, RunState

if TYPE_CHECKING:
    from rota.sdk.client import Client

Form = Literal["text", "mermaid", "dot"]
EVERY: Final = 0.5
MOODS: Final = {
    "live": "busy",
    "succeeded": "good",
    "failed": "bad",
    "cancelled": "waits",
    "waiting": "faint",
    "skipped": "faint",
}
BADLY: Final = ("failed", "cancelled", "skipped")

app = App(name="graph", help="Graphs: draw, check, retry, pause.")


@app.command
def show(
    thing: str,
    /,
    *,
    format: Form = "text",  # noqa: A002 — the word of the command line
    watch: Annotated[bool, SWITCH] = False,
    talk: Talk = TALK,
) -> int:
    """Draw a graph: of a job its steps, of a run their states, durations and the critical path.

    Parameters
    ----------
    thing
        The name or the id of a job, or the id of a run (run_…), or the beginning of it.
    format
        As text, or for Mermaid or Graphviz.
    watch
        Draw it again and again until the run has ended; the exit code is 0 if it succeeded.
    """
    is_run = thing.startswith("run_")
    if watch and (not is_run or format != "text" or not talk.is_plain):
        raise Misused("--watch draws a run (run_…) as text")
    with talk.open() as client:
        if not is_run:
            return show_job(client, thing, format, talk)
        run_id = naming.run_id(client, thing)
        if watch:
            return follow(client, run_id)
        run = client.get_run_graph(run_id)
    if talk.as_json:
        write_json(run)
    elif talk.quiet:
        write(step.run_id for step in run.steps if step.run_id is not None)
    else:
        write(pictured(run, format, screen_of()))
    return 0


def show_job(client: "Client", job: str, form: Form, talk: Talk) -> int:
    found = client.get_graph(naming.job_id(client, job))
    if talk.as_json:
        write_json(found)
    elif talk.quiet:
        print(found.job_id)
    else:
        write(drawn(read_stored_graph(found.graph), {}, form))
    return 0


def drawn(graph: Graph, told: dict[int, Drawn], form: Form) -> list[str]:
    match form:
        case "text":
            return drawing.text(graph, told)
        case "mermaid":
            return drawing.mermaid(graph, told)
        case "dot":
            return drawing.dot(graph, told)


def pictured(run: Any, form: Form, screen: Screen = PLAIN) -> Iterator[str]:
    """A graph run as it is now."""
    now = times.now()
    told = {step.index: told_of(step, now) for step in run.steps}
    lines = drawn(read_stored_graph(run.graph), told, form)
    if form != "text":
        yield from lines
        return
    yield headline(run, now)
    states = {SYMBOLS[step.status]: step.status for step in run.steps}
    for line in lines:
        yield painted(line, states, screen)


def headline(run: Any, now: datetime) -> str:
    open_ = run.counts.get("waiting", 0) + run.counts.get("live", 0)
    parts = [f"{len(run.steps) - open_} of {len(run.steps)} steps"]
    parts += [
        f"{run.counts[state]} {state}" for state in ("failed", "skipped") if state in run.counts
    ]
    if run.round:
        parts.append(f"round {run.round + 1}")
    if run.paused_at is not None and run.end_time is None:
        parts.append("paused")
    took = times.between(run.start_time, run.end_time or now)
    return "  ".join(part for part in (run.run_id, run.status, ", ".join(parts), took) if part)


def told_of(step: Any, now: datetime) -> Drawn:
    parts = [times.between(step.start_time, step.end_time or now)]
    if step.map is not None:
        parts.append(step.map.progress)
    if (step.attempt_number or 0) > 1:
        parts.append(f"{step.attempt_number} attempts")
    if step.status == "live" and step.run_status in {"queued", "retrying"}:
        parts.append(step.run_status)
    if step.is_graph and step.run_id is not None:
        parts.append(step.run_id)
    if step.reason:
        parts.append(shown(step.reason))
    return Drawn(step.status, ", ".join(part for part in parts if part), step.is_critical)


def painted(line: str, states: dict[str, str], screen: Screen) -> str:
    """A line as wide as the screen, with its symbol in the colour of its state."""
    text = line if screen.width is None else cut(line, screen.width)
    for char in text:
        if char in states:
            return text.replace(char, coloured(char, MOODS.get(states[char]), screen), 1)
    return text


def follow(client: "Client", run_id: str) -> int:
    """Draw a run until it has ended: in place on a terminal, elsewhere whenever it has changed."""
    screen, rest = screen_of(), Event()
    before: list[str] = []
    while True:
        run = client.get_run_graph(run_id)
        lines = list(pictured(run, "text", screen))
        if screen.width is not None:
            lines = fitting(lines, shutil.get_terminal_size().lines)
            # Up to the first line of the last picture, which is cleared.
            raw_output().write(f"\x1b[{len(before)}A\x1b[J" if before else "")
            print("\n".join(lines), flush=True)
        elif [bare(run)] != before[:1]:
            print("\n".join([*lines, ""]), flush=True)
        before = lines if screen.width is not None else [bare(run)]
        if RunState(run.status) in FINAL:
            return 0 if run.status == RunState.SUCCEEDED else 1
        rest.wait(EVERY)


def fitting(lines: list[str], height: int) -> list[str]:
    """No more than fit: what has left the screen cannot be drawn again."""
    if len(lines) < height:
        return lines
    return [*lines[: height - 2], f"… and {len(lines) - height + 2} more"]


def bare(run: Any) -> str:
    """What of a run is worth another picture: not that time goes by."""
    return f"{run.status} {[(step.status, step.run_status) for step in run.steps]}"


@app.command
def check(
    file: Path,
    /,
    *,
    format: Form = "text",  # noqa: A002 — as above
) -> int:
    """Check the graphs of a file without a server, and draw them.

    Parameters
    ----------
    file
        A manifest (rota.yaml), a job with a graph, or steps alone; YAML or JSON.
    format
        As text, or for Mermaid or Graphviz.
    """
    from rota.sdk.code import graphs  # noqa: PLC0415 - brings the YAML library with it

    for name, graph in graphs.load(file):
        if format == "text":
            print(f"{shown(name)}: fine, {len(graph.steps)} steps")
        write(drawn(graph, {}, format))
    return 0


@app.command
def retry(run: str, /, *, talk: Talk = TALK) -> int:
    """Let a graph run that ended go on from its failed steps; what succeeded is not done again.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    """
    with talk.open() as client:
        done = client.retry_run_graph(naming.run_id(client, run))
    talk.done(done, f"{done.run_id} goes on from its failed steps", id_=done.run_id)
    return 0


@app.command
def pause(run: str, /, *, talk: Talk = TALK) -> int:
    """Let a graph run start no more steps; those that run go on.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    """
    with talk.open() as client:
        done = client.pause_run(naming.run_id(client, run))
    talk.done(done, f"{done.run_id} starts no more steps", id_=done.run_id)
    return 0


@app.command
def resume(run: str, /, *, talk: Talk = TALK) -> int:
    """Let a paused graph run go on.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    """
    with talk.open() as client:
        done = client.resume_run(naming.run_id(client, run))
    talk.done(done, f"{done.run_id} goes on", id_=done.run_id)
    return 0
