"""Graphs: jobs whose run is many runs that wait for each other (D1 to D6). Room: core/graphs.

A graph is read once (contract/graph.py: all that can be wrong with it is refused then), and a run
of it is a board, one character for each step. `advance` is the whole rule book: given a board and
the endings that came in, it says which steps start with which payload, which are skipped and why,
and how the run ends. It is pure, asks only the children of what was decided, and comes to the same
board in whatever order and batches the endings arrive. Runs, marks and locks are flow/graphs.

How an engine uses it:

    graph = read_graph(definition)
    board = first_board(graph)
    ended = {}                      # nothing ended: look at every waiting step
    wanted = results_wanted(graph, board, ended)
    … read the results of these steps …
    after = advance(graph, board, ended, Scope(input=payload, results=…))
    … make the runs of after.ready, keep after.board; when after.final is there, it is over …
"""

from rota.core.graphs.advancing import Advanced, advance, note, results_wanted
from rota.core.graphs.board import (
    StepState,
    cancelled_board,
    counts,
    first_board,
    restart,
    restarted,
    state_of,
)
from rota.core.graphs.critical import Times, critical_path
from rota.core.graphs.endings import end_state, graph_error, graph_result, last_steps
from rota.core.graphs.filling import items_for, member_payloads, needs_results, payload_for
from rota.core.graphs.graph import Graph, Map, Read, Source, Step, Tolerance, When
from rota.core.graphs.plain import graph_json, graph_plain
from rota.core.graphs.scope import Scope

__all__ = [
    "Advanced",
    "Graph",
    "Map",
    "Read",
    "Scope",
    "Source",
    "Step",
    "StepState",
    "Times",
    "Tolerance",
    "When",
    "advance",
    "cancelled_board",
    "counts",
    "critical_path",
    "end_state",
    "first_board",
    "graph_error",
    "graph_json",
    "graph_plain",
    "graph_result",
    "items_for",
    "last_steps",
    "member_payloads",
    "needs_results",
    "note",
    "payload_for",
    "restart",
    "restarted",
    "results_wanted",
    "state_of",
]
