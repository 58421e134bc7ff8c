"""`rota graph`: draws graphs and graph runs, checks files, pauses and retries graph runs."""

import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import App

from rota.cli import name_resolution, times
from rota.cli.api_options import DEFAULT_API_OPTIONS, SWITCH, ApiOptions, print_json, print_lines
from rota.cli.errors import UsageError
from rota.cli.tables import (
    PLAIN_SCREEN,
    Screen,
    colour_text,
    detect_screen,
    format_cell,
    truncate_text,
)
from rota.cli.terminal import raw_output
from rota.contract.graph import read_stored_graph
from rota.core.graphs import StepGraph, drawing
from rota.core.graphs.drawing import SYMBOLS, StepAnnotation
from rota.core.states import FINAL_STATES, RunState

if TYPE_CHECKING:
    from rota.sdk.client import Client

GraphFormat = Literal["text", "mermaid", "dot"]
POLL_INTERVAL_S: Final = 0.5
STATE_MOODS: Final = {
    "live": "busy",
    "succeeded": "good",
    "failed": "bad",
    "cancelled": "waits",
    "waiting": "faint",
    "skipped": "faint",
}

app = App(name="graph", help="Graphs: draw, check, retry, pause.")


@app.command
def show(
    thing: str,
    /,
    *,
    format: GraphFormat = "text",  # noqa: A002 — the word of the command line
    watch: Annotated[bool, SWITCH] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    if watch and (not is_run or format != "text" or not api_options.is_plain):
        raise UsageError("--watch requires a run id (run_…) and text output")
    with api_options.open_client() as client:
        if not is_run:
            return show_job_graph(client, thing, format, api_options)
        run_id = name_resolution.resolve_run_id(client, thing)
        if watch:
            return watch_until_ended(client, run_id)
        run = client.get_run_graph(run_id)
    if api_options.as_json:
        print_json(run)
    elif api_options.quiet:
        print_lines(step.run_id for step in run.steps if step.run_id is not None)
    else:
        print_lines(render_run(run, format, detect_screen()))
    return 0


def show_job_graph(
    client: "Client", job: str, output_format: GraphFormat, api_options: ApiOptions
) -> int:
    found = client.get_graph(name_resolution.resolve_job_id(client, job))
    if api_options.as_json:
        print_json(found)
    elif api_options.quiet:
        print(found.job_id)
    else:
        print_lines(render_graph(read_stored_graph(found.graph), {}, output_format))
    return 0


def render_graph(
    graph: StepGraph, details: dict[int, StepAnnotation], output_format: GraphFormat
) -> list[str]:
    match output_format:
        case "text":
            return drawing.draw_text(graph, details)
        case "mermaid":
            return drawing.draw_mermaid(graph, details)
        case "dot":
            return drawing.draw_dot(graph, details)


def render_run(
    run: Any, output_format: GraphFormat, screen: Screen = PLAIN_SCREEN
) -> Iterator[str]:
    """Render the current state of a graph run."""
    now = times.now()
    details = {step.index: describe_step(step, now) for step in run.steps}
    lines = render_graph(read_stored_graph(run.graph), details, output_format)
    if output_format != "text":
        yield from lines
        return
    yield format_headline(run, now)
    states = {SYMBOLS[step.status]: step.status for step in run.steps}
    for line in lines:
        yield paint_line(line, states, screen)


def format_headline(run: Any, now: datetime) -> str:
    unfinished = run.counts.get("waiting", 0) + run.counts.get("live", 0)
    parts = [f"{len(run.steps) - unfinished} of {len(run.steps)} steps done"]
    parts += [
        f"{run.counts[state]} {state}" for state in ("failed", "skipped") if state in run.counts
    ]
    if run.round:
        parts.append(f"round {run.round + 1}")
    if run.paused_at is not None and run.end_time is None:
        parts.append("paused")
    duration = times.format_between(run.start_time, run.end_time or now)
    return "  ".join(part for part in (run.run_id, run.status, ", ".join(parts), duration) if part)


def describe_step(step: Any, now: datetime) -> StepAnnotation:
    parts = [times.format_between(step.start_time, step.end_time or now)]
    if step.map is not None:
        parts.append(step.map.progress)
    if (step.attempt_number or 0) > 1:
        parts.append(f"{step.attempt_number} attempts")
    if step.status == "live" and step.run_status in {"queued", "retrying"}:
        parts.append(step.run_status)
    if step.is_graph and step.run_id is not None:
        parts.append(step.run_id)
    if step.reason:
        parts.append(format_cell(step.reason))
    return StepAnnotation(step.status, ", ".join(part for part in parts if part), step.is_critical)


def paint_line(line: str, states: dict[str, str], screen: Screen) -> str:
    """Cut a line to the screen and colour its symbol by state."""
    text = line if screen.width is None else truncate_text(line, screen.width)
    for char in text:
        if char in states:
            return text.replace(char, colour_text(char, STATE_MOODS.get(states[char]), screen), 1)
    return text


def watch_until_ended(client: "Client", run_id: str) -> int:
    """Draw a run until it ends: in place at a terminal, elsewhere after each change."""
    screen, rest = detect_screen(), Event()
    before: list[str] = []
    while True:
        run = client.get_run_graph(run_id)
        lines = list(render_run(run, "text", screen))
        if screen.width is not None:
            lines = truncate_lines(lines, shutil.get_terminal_size().lines)
            # Move up to the first line of the previous drawing and clear it.
            raw_output().write(f"\x1b[{len(before)}A\x1b[J" if before else "")
            print("\n".join(lines), flush=True)
        elif [summarize_states(run)] != before[:1]:
            print("\n".join([*lines, ""]), flush=True)
        before = lines if screen.width is not None else [summarize_states(run)]
        if RunState(run.status) in FINAL_STATES:
            return 0 if run.status == RunState.SUCCEEDED else 1
        rest.wait(POLL_INTERVAL_S)


def truncate_lines(lines: list[str], height: int) -> list[str]:
    """Cut to the height of the screen: lines that scrolled off cannot be redrawn."""
    if len(lines) < height:
        return lines
    return [*lines[: height - 2], f"… and {len(lines) - height + 2} more"]


def summarize_states(run: Any) -> str:
    """Return the states of a run without durations, to detect changes worth drawing."""
    return f"{run.status} {[(step.status, step.run_status) for step in run.steps]}"


@app.command
def check(
    file: Path,
    /,
    *,
    format: GraphFormat = "text",  # noqa: A002 — as above
) -> int:
    """Check and draw the graphs in a file, without a server.

    Parameters
    ----------
    file
        A manifest (rota.yaml), a job with a graph, or bare steps; YAML or JSON.
    format
        Output format: text, Mermaid or Graphviz (dot). Default: text.
    """
    from rota.sdk.jobs_as_code import graph_files  # noqa: PLC0415 — YAML is loaded only here

    for name, graph in graph_files.load_graphs(file):
        if format == "text":
            print(f"{format_cell(name)}: valid, {len(graph.steps)} steps")
        print_lines(render_graph(graph, {}, format))
    return 0


@app.command
def retry(run: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Retry a finished graph run from its failed steps. Successful steps are kept.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with api_options.open_client() as client:
        done = client.retry_run_graph(name_resolution.resolve_run_id(client, run))
    api_options.print_result(done, f"Retrying {done.run_id} from its failed steps", id_=done.run_id)
    return 0


@app.command
def pause(run: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Pause a graph run: start no new steps. Current steps continue.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with api_options.open_client() as client:
        done = client.pause_run(name_resolution.resolve_run_id(client, run))
    api_options.print_result(done, f"Paused {done.run_id}", id_=done.run_id)
    return 0


@app.command
def resume(run: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Resume a paused graph run.

    Parameters
    ----------
    run
        Run id or unique prefix.
    """
    with api_options.open_client() as client:
        done = client.resume_run(name_resolution.resolve_run_id(client, run))
    api_options.print_result(done, f"Resumed {done.run_id}", id_=done.run_id)
    return 0
