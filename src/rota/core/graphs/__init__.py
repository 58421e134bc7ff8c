"""Defines graphs: jobs whose run consists of many step runs with dependencies (D1 to D6).

contract/graph.py reads and validates a graph once. The state of a graph run is a string with one
character per step, its *step states*. `advance_graph` holds all the rules: given the step states
and the steps that ended, it returns the steps to start with their payloads, the steps to skip with
the reason, and the final state of the run. It is pure, evaluates only the children of decided
steps, and gives the same step states for any order and batching of the endings. The engine creates
runs, consumes step completions and takes locks.

How the engine uses it:

    graph = read_graph(definition)
    states = initial_step_states(graph)
    ended = {}                      # no endings: evaluate every waiting step
    needed = find_needed_results(graph, states, ended)
    … read the results of these steps …
    after = advance_graph(graph, states, ended, GraphScope(input=payload, results=…))
    … create the runs of after.ready and store after.step_states; after.final is set at the end …
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
