"""Helpers to test jobs, graphs, schedules, executors and event sources.

run_inline          runs one attempt of a job in this process; `run_until_ended` with all retries
Clock               a clock that the test moves
run_graph           runs a graph with all its steps in this process
simulate            simulates a schedule over months, with outages and clock changes
recording           records what an app submits instead of sending it
serving             starts a real Rota in a folder, for integration tests
pytest_plugin       fixtures; list it in `pytest_plugins`
RecordingContext    the context of an attempt that records output in memory, without a database
executor_contract   the tests that every executor must pass; needs pytest, so import it by name:
                    `from rota.sdk.testing.executor_contract import ExecutorContract`
source_contract     the tests that every event source must pass: `SourceContract`
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rota.sdk.testing.context import RecordedOutput, RecordingContext

if TYPE_CHECKING:
    from rota.sdk.testing.clock import Clock
    from rota.sdk.testing.graphs import GraphRunResult, StepRunResult, run_graph, run_graph_async
    from rota.sdk.testing.inline import (
        InlineAttemptResult,
        RunHistory,
        run_inline,
        run_inline_async,
        run_until_ended,
        run_until_ended_async,
    )
    from rota.sdk.testing.server import Server, ServerNotStarted, serving
    from rota.sdk.testing.simulation import Simulation, simulate
    from rota.sdk.testing.submissions import RecordedSubmission, Submissions, recording

# Loaded on first use: a test of an executor needs neither the store nor the app.
_MODULE_OF = {
    "Clock": "clock",
    "GraphRunResult": "graphs",
    "InlineAttemptResult": "inline",
    "RecordedSubmission": "submissions",
    "RunHistory": "inline",
    "Server": "server",
    "ServerNotStarted": "server",
    "Simulation": "simulation",
    "StepRunResult": "graphs",
    "Submissions": "submissions",
    "recording": "submissions",
    "run_graph": "graphs",
    "run_graph_async": "graphs",
    "run_inline": "inline",
    "run_inline_async": "inline",
    "run_until_ended": "inline",
    "run_until_ended_async": "inline",
    "serving": "server",
    "simulate": "simulation",
}

__all__ = [
    "Clock",
    "GraphRunResult",
    "InlineAttemptResult",
    "RecordedOutput",
    "RecordedSubmission",
    "RecordingContext",
    "RunHistory",
    "Server",
    "ServerNotStarted",
    "Simulation",
    "StepRunResult",
    "Submissions",
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
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
