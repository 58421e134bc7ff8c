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

from rota.cli.output import say
from rota.cli.settings import settings_for
from rota.core.errors import InvalidInput
from rota.node.bench.arena import Wishes
from rota.node.bench.figures import to_plain
from rota.node.bench.plot import draw
from rota.node.bench.report import table
from rota.node.bench.running import PARTS, Measured, Order, Part, run_bench

TERMINATED: Final = 128 + signal.SIGTERM
SWITCH: Final = Parameter(negative=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
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
class Output:
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


HERE: Final = Place()
PLAIN: Final = Output()


def bench(
    *parts: Part,
    only: Annotated[tuple[Part, ...], Parameter(consume_multiple=True, negative=())] = (),
    quick: Annotated[bool, SWITCH] = False,
    repeat: Annotated[int, Parameter(validator=Number(gte=1, lte=100))] = 1,
    place: Annotated[Place, Parameter(name="*")] = HERE,
    output: Annotated[Output, Parameter(name="*")] = PLAIN,
) -> int:
    """Measure Rota on this machine and compare the results with the targets.

    Starts its own PostgreSQL with full durability, and real scheduler and worker processes. The
    machine should be idle otherwise. Progress goes to standard error.

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
    """
    refuse_plot(output.plot)
    order = Order(
        parts=tuple(part for part in PARTS if part in {*parts, *only}) or tuple(PARTS),
        wishes=wishes_for(place),
        environment=os.environ,
        repeat=repeat,
        is_quick=quick,
    )
    try:
        measured = asyncio.run(until_told(order))
    except asyncio.CancelledError:
        return TERMINATED
    publish(order, measured, output)
    return 1 if measured.failed else 0


async def until_told(order: Order) -> Measured:
    """Measure. SIGTERM ends it like Ctrl-C, and everything is cleaned up."""
    if (task := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await run_bench(order, say=progress)


def refuse_plot(path: Path | None) -> None:
    """Check the path of the plot before measuring, which takes minutes."""
    if path is None:
        return
    if path.suffix.lower() != ".svg":
        raise InvalidInput("--plot", str(path), "expected a file name that ends in .svg")
    if not path.parent.is_dir():
        raise InvalidInput("--plot", str(path), "its folder does not exist")


def wishes_for(place: Place) -> Wishes:
    database = settings_for(data=None, config=None).database
    if place.data is not None and not place.data.is_dir():
        raise InvalidInput("--data", str(place.data), "expected an existing folder")
    if not place.server:
        return Wishes(data=place.data, binaries=database.binaries)
    if database.url is None:
        raise InvalidInput("--server", True, "set ROTA_DATABASE_URL to the server to measure")
    return Wishes(url=database.url)


def progress(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)


def publish(order: Order, measured: Measured, output: Output) -> None:
    if output.plot is not None:
        title = "Rota, quick look" if order.is_quick else "Rota"
        output.plot.write_text(
            draw(measured.figures, title=title, note=measured.conditions), "utf-8"
        )
    if output.as_json:
        conditions = {
            "quick": order.is_quick,
            "rounds": order.repeat,
            "failed": measured.failed,
            "conditions": measured.conditions,
        }
        say(json.dumps(to_plain(measured.figures) | conditions, ensure_ascii=False))
    else:
        say(f"{table(measured.figures)}\n\n{measured.conditions}")
