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

from rota.core.graphs.graph import (
    FailureTolerance,
    GraphStep,
    MapSource,
    StepCondition,
    StepGraph,
    StepMap,
    StepRead,
)
from rota.core.graphs.graph_outcome import (
    build_graph_result,
    describe_graph_error,
    find_end_state,
    find_last_steps,
)
from rota.core.graphs.path_analysis import StepTimes, find_critical_path
from rota.core.graphs.payloads import (
    build_step_payload,
    create_member_payload_builder,
    find_map_items,
    find_result_reads,
)
from rota.core.graphs.scope import GraphScope
from rota.core.graphs.serialization import to_graph_json, to_plain_graph
from rota.core.graphs.step_states import (
    StepState,
    cancel_waiting_steps,
    count_step_states,
    find_steps_to_restart,
    initial_step_states,
    restart_step_states,
    step_state_of_run,
)
from rota.core.graphs.transitions import (
    GraphAdvance,
    advance_graph,
    find_needed_results,
    record_endings,
)

__all__ = [
    "FailureTolerance",
    "GraphAdvance",
    "GraphScope",
    "GraphStep",
    "MapSource",
    "StepCondition",
    "StepGraph",
    "StepMap",
    "StepRead",
    "StepState",
    "StepTimes",
    "advance_graph",
    "build_graph_result",
    "build_step_payload",
    "cancel_waiting_steps",
    "count_step_states",
    "create_member_payload_builder",
    "describe_graph_error",
    "find_critical_path",
    "find_end_state",
    "find_last_steps",
    "find_map_items",
    "find_needed_results",
    "find_result_reads",
    "find_steps_to_restart",
    "initial_step_states",
    "record_endings",
    "restart_step_states",
    "step_state_of_run",
    "to_graph_json",
    "to_plain_graph",
]
