"""`rota bench`: measures Rota on this machine and compares the results with the targets."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli.output import print_message
from rota.cli.settings import load_settings
from rota.core.errors import InvalidInput
from rota_bench.measures import to_plain
from rota_bench.plot import draw_svg
from rota_bench.report import render_report
from rota_bench.runner import PARTS, BenchOrder, BenchResult, Part, run_bench
from rota_bench.server import BenchServerOptions

TERMINATED: Final = 128 + signal.SIGTERM
SWITCH: Final = Parameter(negative=())


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTarget:
    """Where to measure.

    Parameters
    ----------
    data
        Existing folder for the data of the benchmark's own PostgreSQL, which is removed afterwards.
        Default: the system's folder for temporary files.
    server
        Measure the server of ROTA_DATABASE_URL instead, in temporary databases that are dropped
        afterwards. Its CPU time is not measured.
    """

    data: Path | None = None
    server: Annotated[bool, SWITCH] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOutput:
    """How to print the results.

    Parameters
    ----------
    as_json
        Print one JSON object instead of the table.
    plot
        Also draw the results into this SVG file.
    """

    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False
    plot: Annotated[Path | None, Parameter(name="--plot")] = None


DEFAULT_TARGET: Final = BenchTarget()
DEFAULT_OUTPUT: Final = BenchOutput()


def bench(
    *parts: Part,
    only: Annotated[tuple[Part, ...], Parameter(consume_multiple=True, negative=())] = (),
    quick: Annotated[bool, SWITCH] = False,
    repeat: Annotated[int, Parameter(validator=Number(gte=1, lte=100))] = 1,
    seconds: Annotated[int | None, Parameter(validator=Number(gte=2, lte=3600))] = None,
    target: Annotated[BenchTarget, Parameter(name="*")] = DEFAULT_TARGET,
    output: Annotated[BenchOutput, Parameter(name="*")] = DEFAULT_OUTPUT,
) -> int:
    """Measure Rota on this machine and compare the results with the targets.

    Starts its own PostgreSQL with full durability, and real scheduler and worker processes. The
    machine should be idle otherwise. Progress goes to standard error. The wheel does not contain
    this command: clone the repository and run `make bench`.

    Parameters
    ----------
    parts
        Parts to measure. Default: all.
    only
        Parts to measure, as an option. Default: all.
    quick
        Smaller workloads: for a first impression, not for publication.
    repeat
        Rounds of each part; results are medians. Default: 1.
    seconds
        Length of each measurement at a steady rate: lag, cron and watched. Default: 10, 20 and 8
        seconds, less with --quick.
    """
    check_plot_path(output.plot)
    order = BenchOrder(
        parts=tuple(part for part in PARTS if part in {*parts, *only}) or tuple(PARTS),
        server_options=build_server_options(target),
        environment=os.environ,
        repeat=repeat,
        is_quick=quick,
        seconds=seconds,
    )
    try:
        measured = asyncio.run(measure_until_stopped(order))
    except asyncio.CancelledError:
        return TERMINATED
    publish_results(order, measured, output)
    return 1 if measured.failed else 0


async def measure_until_stopped(order: BenchOrder) -> BenchResult:
    """Measure. SIGTERM ends it like Ctrl-C, and everything is cleaned up."""
    if (task := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await run_bench(order, say=print_progress)


def check_plot_path(path: Path | None) -> None:
    """Check the path of the plot before measuring, which takes minutes."""
    if path is None:
        return
    if path.suffix.lower() != ".svg":
        raise InvalidInput("--plot", str(path), "expected a file name that ends in .svg")
    if not path.parent.is_dir():
        raise InvalidInput("--plot", str(path), "its folder does not exist")


def build_server_options(target: BenchTarget) -> BenchServerOptions:
    database = load_settings(data=None, config=None).database
    if target.data is not None and not target.data.is_dir():
        raise InvalidInput("--data", str(target.data), "expected an existing folder")
    if not target.server:
        return BenchServerOptions(data=target.data, binaries=database.binaries)
    if database.url is None:
        raise InvalidInput("--server", True, "set ROTA_DATABASE_URL to the server to measure")
    return BenchServerOptions(url=database.url)


def print_progress(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)


def publish_results(order: BenchOrder, result: BenchResult, output: BenchOutput) -> None:
    if output.plot is not None:
        title = "Rota, quick look" if order.is_quick else "Rota"
        output.plot.write_text(
            draw_svg(result.figures, title=title, note=result.conditions), "utf-8"
        )
    if output.as_json:
        conditions = {
            "quick": order.is_quick,
            "rounds": order.repeat,
            "failed": result.failed,
            "conditions": result.conditions,
        }
        print_message(json.dumps(to_plain(result.figures) | conditions, ensure_ascii=False))
    else:
        print_message(f"{render_report(result.figures)}\n\n{result.conditions}")
