"""`rota graph`: draws graphs and graph runs, checks files, pauses and retries graph runs."""

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
from rota.core.graphs import StepGraph, drawing
from rota.core.graphs.drawing import SYMBOLS, StepAnnotation
from rota.core.states import FINAL_STATES, RunState

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
    """Draw the graph of a job, or of a run with states, durations and the critical path.

    Parameters
    ----------
    thing
        Job name or id, or run id (run_…) or a unique prefix of it.
    format
        Output format: text, Mermaid or Graphviz (dot). Default: text.
    watch
        Redraw until the run ends; the exit code is 0 if it succeeded.
    """
    is_run = thing.startswith("run_")
    if watch and (not is_run or format != "text" or not talk.is_plain):
        raise Misused("--watch requires a run id (run_…) and text output")
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


def drawn(graph: StepGraph, told: dict[int, StepAnnotation], form: Form) -> list[str]:
    match form:
        case "text":
            return drawing.draw_text(graph, told)
        case "mermaid":
            return drawing.draw_mermaid(graph, told)
        case "dot":
            return drawing.draw_dot(graph, told)


def pictured(run: Any, form: Form, screen: Screen = PLAIN) -> Iterator[str]:
    """Render the current state of a graph run."""
    now = times.now()
    details = {step.index: told_of(step, now) for step in run.steps}
    lines = drawn(read_stored_graph(run.graph), details, form)
    if form != "text":
        yield from lines
        return
    yield headline(run, now)
    states = {SYMBOLS[step.status]: step.status for step in run.steps}
    for line in lines:
        yield painted(line, states, screen)


def headline(run: Any, now: datetime) -> str:
    unfinished = run.counts.get("waiting", 0) + run.counts.get("live", 0)
    parts = [f"{len(run.steps) - unfinished} of {len(run.steps)} steps done"]
    parts += [
        f"{run.counts[state]} {state}" for state in ("failed", "skipped") if state in run.counts
    ]
    if run.round:
        parts.append(f"round {run.round + 1}")
    if run.paused_at is not None and run.end_time is None:
        parts.append("paused")
    duration = times.between(run.start_time, run.end_time or now)
    return "  ".join(part for part in (run.run_id, run.status, ", ".join(parts), duration) if part)


def told_of(step: Any, now: datetime) -> StepAnnotation:
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
    return StepAnnotation(step.status, ", ".join(part for part in parts if part), step.is_critical)


def painted(line: str, states: dict[str, str], screen: Screen) -> str:
    """Cut a line to the screen and colour its symbol by state."""
    text = line if screen.width is None else cut(line, screen.width)
    for char in text:
        if char in states:
            return text.replace(char, coloured(char, MOODS.get(states[char]), screen), 1)
    return text


def follow(client: "Client", run_id: str) -> int:
    """Draw a run until it ends: in place at a terminal, elsewhere after each change."""
    screen, rest = screen_of(), Event()
    before: list[str] = []
    while True:
        run = client.get_run_graph(run_id)
        lines = list(pictured(run, "text", screen))
        if screen.width is not None:
            lines = fitting(lines, shutil.get_terminal_size().lines)
            # Move up to the first line of the previous drawing and clear it.
            raw_output().write(f"\x1b[{len(before)}A\x1b[J" if before else "")
            print("\n".join(lines), flush=True)
        elif [bare(run)] != before[:1]:
            print("\n".join([*lines, ""]), flush=True)
        before = lines if screen.width is not None else [bare(run)]
        if RunState(run.status) in FINAL_STATES:
            return 0 if run.status == RunState.SUCCEEDED else 1
        rest.wait(EVERY)


def fitting(lines: list[str], height: int) -> list[str]:
    """Cut to the height of the screen: lines that scrolled off cannot be redrawn."""
    if len(lines) < height:
        return lines
    return [*lines[: height - 2], f"… and {len(lines) - height + 2} more"]


def bare(run: Any) -> str:
    """Return the states of a run without durations, to detect changes worth drawing."""
    return f"{run.status} {[(step.status, step.run_status) for step in run.steps]}"


@app.command
def check(
    file: Path,
    /,
    *,
    format: Form = "text",  # noqa: A002 — as above
) -> int:
    """Check and draw the graphs in a file, without a server.

    Parameters
    ----------
    file
        A manifest (rota.yaml), a job with a graph, or bare steps; YAML or JSON.
    format
        Output format: text, Mermaid or Graphviz (dot). Default: text.
    """
    from rota.sdk.jobs_as_code import graph_files

    for name, graph in graph_files.load_graphs(file):
        if format == "text":
            print(f"{shown(name)}: valid, {len(graph.steps)} steps")
        write(drawn(graph, {}, format))
    return 0


@app.command
def retry(run: str, /, *, talk: Talk = TALK) -> int:
    """Retry a finished graph run from its failed steps. Successful steps are kept.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with talk.open() as client:
        done = client.retry_run_graph(naming.run_id(client, run))
    talk.done(done, f"Retrying {done.run_id} from its failed steps", id_=done.run_id)
    return 0


@app.command
def pause(run: str, /, *, talk: Talk = TALK) -> int:
    """Pause a graph run: start no new steps. Current steps continue.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with talk.open() as client:
        done = client.pause_run(naming.run_id(client, run))
    talk.done(done, f"Paused {done.run_id}", id_=done.run_id)
    return 0


@app.command
def resume(run: str, /, *, talk: Talk = TALK) -> int:
    """Resume a paused graph run.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with talk.open() as client:
        done = client.resume_run(naming.run_id(client, run))
    talk.done(done, f"Resumed {done.run_id}", id_=done.run_id)
    return 0
