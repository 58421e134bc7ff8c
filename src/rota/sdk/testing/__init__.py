"""What people need to test their own jobs and executors. Room: sdk/testing.

run_inline          one attempt of a job, here and now; `run_until_ended` with all its retries
Clock               a clock that the test moves
run_graph           a graph with all its steps, here and now
simulate            a schedule over months, with outages and clock changes
recording           what an app submits, written down instead of sent
serving             a real Rota in a folder, for integration tests
pytest_plugin       fixtures; named in `pytest_plugins`
RecordingContext    an attempt that keeps what an executor says, without a database
executor_contract   the tests that every executor must pass; needs pytest, so it is imported
                    by name: `from rota.sdk.testing.executor_contract import ExecutorContract`
source_contract     the same for sources of events: `SourceContract`
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rota.sdk.testing.context import Recorded, RecordingContext

if TYPE_CHECKING:
    from rota.sdk.testing.clock import Clock
    from rota.sdk.testing.graphs import Played, PlayedStep, run_graph, run_graph_async
    from rota.sdk.testing.inline import (
        Ran,
        Story,
        run_inline,
        run_inline_async,
        run_until_ended,
        run_until_ended_async,
    )
    from rota.sdk.testing.server import NotStarted, Server, serving
    from rota.sdk.testing.simulating import Simulation, simulate
    from rota.sdk.testing.submissions import Submissions, Submitted, recording

# By name: who tests an executor needs neither the store nor the app.
_WHERE = {
    "Clock": "clock",
    "NotStarted": "server",
    "Played": "graphs",
    "PlayedStep": "graphs",
    "Ran": "inline",
    "Server": "server",
    "Simulation": "simulating",
    "Story": "inline",
    "Submissions": "submissions",
    "Submitted": "submissions",
    "recording": "submissions",
    "run_graph": "graphs",
    "run_graph_async": "graphs",
    "run_inline": "inline",
    "run_inline_async": "inline",
    "run_until_ended": "inline",
    "run_until_ended_async": "inline",
    "serving": "server",
    "simulate": "simulating",
}

__all__ = [
    "Clock",
    "NotStarted",
    "Played",
    "PlayedStep",
    "Ran",
    "Recorded",
    "RecordingContext",
    "Server",
    "Simulation",
    "Story",
    "Submissions",
    "Submitted",
    "recording",
    "run_graph",
    "run_graph_async",
    "run_inline",
    "run_inline_async",
    "run_until_ended",
    "run_until_ended_async",
    "serving",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
