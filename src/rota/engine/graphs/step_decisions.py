"""Decides what follows from step completions with the rules of core/graphs, and reads their inputs.

The rules are pure and cannot read. The values that expressions may use are read first, for all
graph runs of a pass at once, and only where expressions exist. A map that is decided as soon as it
starts, because it is empty, counts as a completion, and the rules are applied again.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from rota.core.graphs import (
    GraphAdvance,
    GraphScope,
    build_graph_result,
    describe_graph_error,
    find_last_steps,
    find_needed_results,
    record_endings,
)
from rota.core.maps import LISTED_RESULTS_MAX
from rota.core.states import RunState
from rota.core.submissions import PAYLOAD_BYTES_MAX, encode_canonical
from rota.engine.graphs import map_steps
from rota.engine.graphs.graph_pass import GraphPass
from rota.engine.graphs.map_steps import MapResult, MapStep
from rota.store import graph_maps, graphs
from rota.store.driver import Connection
from rota.store.graphs import GraphEnding

WantedSteps = Mapping[GraphPass, Iterable[int]]
STEP_CANCELLED_REASON: Final = encode_canonical({"code": "step_cancelled"})


async def decide_steps(conn: Connection, passes: Sequence[GraphPass]) -> None:
    """Decide everything that follows from the step completions of these graph runs."""
    work = list(passes)
    for graph_pass in work:
        for step, completions in graph_pass.map_completions.items():
            mapped = _map_of(conn, graph_pass, step)
            _settle(graph_pass, step, await map_steps.advance_map(conn, mapped, completions))
    while work:
        work = [
            graph_pass for graph_pass in work if graph_pass.ended or graph_pass.checks_all_steps
        ]
        await _read_values(
            conn,
            {
                graph_pass: _find_wanted_results(graph_pass)
                for graph_pass in work
                if graph_pass.plan.uses_input
            },
        )
        begun = [(graph_pass, _advance(graph_pass)) for graph_pass in work]
        work = [
            graph_pass for graph_pass, after in begun if await _begin_maps(conn, graph_pass, after)
        ]


async def build_endings(conn: Connection, passes: Sequence[GraphPass]) -> list[GraphEnding]:
    """Return the endings of graph runs whose last step is decided."""
    good = [graph_pass for graph_pass in passes if graph_pass.final is RunState.SUCCEEDED]
    await _read_values(
        conn,
        {
            graph_pass: find_last_steps(graph_pass.plan.graph, graph_pass.board)
            for graph_pass in good
        },
    )
    return [_ending_of(graph_pass) for graph_pass in passes if graph_pass.final is not None]


def _ending_of(graph_pass: GraphPass) -> GraphEnding:
    graph, board = graph_pass.plan.graph, graph_pass.board
    state = graph_pass.final or RunState.SUCCEEDED
    result = reason = None
    if state is RunState.SUCCEEDED:
        result = build_graph_result(graph, board, graph_pass.build_scope())
    elif state is RunState.DEAD:
        reason = encode_canonical(
            {"type": "StepFailed", "message": describe_graph_error(graph, board)}
        )
    else:
        reason = STEP_CANCELLED_REASON
    return GraphEnding(graph_pass.run_id, state, result, reason)


def _advance(graph_pass: GraphPass) -> GraphAdvance:
    board, ended = graph_pass.board, graph_pass.ended
    if graph_pass.checks_all_steps:
        # Without completions, core checks every waiting step.
        board, ended = record_endings(board, ended), {}
    after = graph_pass.plan.advance(board, ended, graph_pass.build_scope())
    graph_pass.apply_decision(after)
    return after


def _find_wanted_results(graph_pass: GraphPass) -> frozenset[int]:
    board, ended = graph_pass.board, graph_pass.ended
    if graph_pass.checks_all_steps:
        board, ended = record_endings(board, ended), {}
    return find_needed_results(graph_pass.plan.graph, board, ended)


async def _read_values(conn: Connection, wanted: WantedSteps) -> None:
    """Read the inputs of graph runs, and the results of the wanted steps."""
    new = [
        graph_pass.run_id
        for graph_pass in wanted
        if graph_pass.input is None and graph_pass.plan.uses_input
    ]
    if new:
        inputs = await graphs.read_inputs(conn, new)
        for graph_pass in wanted:
            graph_pass.input = graph_pass.input or inputs.get(graph_pass.run_id)
    lacking = {
        graph_pass: graph_pass.missing_results(steps) for graph_pass, steps in wanted.items()
    }
    tenants = {
        graph_pass.step_run_id_of(step): graph_pass.locked.tenant_id
        for graph_pass, steps in lacking.items()
        for step in steps
    }
    if tenants:
        results = await graphs.read_results(conn, tenants)
        for graph_pass, steps in lacking.items():
            graph_pass.add_results(results, steps)
    for graph_pass, steps_wanted in wanted.items():
        for step in steps_wanted:
            if (
                graph_pass.plan.graph.steps[step].map is not None
                and step not in graph_pass.map_results
            ):
                graph_pass.map_results[step] = await _map_results(conn, graph_pass, step)


async def _map_results(conn: Connection, graph_pass: GraphPass, step: int) -> tuple[object, object]:
    """Return the counters of a map as its result, and its members' results if they are few."""
    known = await graph_maps.lock_map(conn, run_id=graph_pass.run_id, step=step)
    if known is None:
        return None, None
    counted = {
        "total": known.total,
        "succeeded": known.succeeded,
        "failed": known.failed,
        "cancelled": known.cancelled,
    }
    if known.total is None or known.total > LISTED_RESULTS_MAX or not _is_listed(graph_pass, step):
        return counted, None
    rows = await graph_maps.read_results(conn, known.map_id, after=-1, limit=LISTED_RESULTS_MAX)
    if sum(len(row.result) for row in rows if row.result is not None) > PAYLOAD_BYTES_MAX:
        return counted, None  # too large for a payload
    results: list[object] = [None] * known.total
    for row in rows:
        if row.result is not None and row.member < known.total:
            results[row.member] = msgspec.json.decode(row.result)
    return counted, results


def _is_listed(graph_pass: GraphPass, step: int) -> bool:
    """Return whether a step reads the list of the members' results."""
    reads = (read for reader in graph_pass.plan.graph.steps for read in reader.reads)
    return any(read.step == step and read.part == "results" for read in reads)


async def _begin_maps(conn: Connection, graph_pass: GraphPass, after: GraphAdvance) -> bool:
    """Start the maps that are ready; return whether one of them is already decided."""
    for step in after.ready:
        if graph_pass.plan.graph.steps[step].map is None:
            continue
        mapped = _map_of(conn, graph_pass, step, after.payloads.get(step))
        decided = await map_steps.start_map(
            conn, mapped, after.items.get(step), from_scratch=graph_pass.runs_from_scratch(step)
        )
        _settle(graph_pass, step, decided)
    return bool(graph_pass.ended)


def _settle(graph_pass: GraphPass, step: int, decided: MapResult | None) -> None:
    graph_pass.has_members = True
    if decided is not None:
        graph_pass.settle_map(step, decided.state, decided.reason)


def _map_of(
    conn: Connection, graph_pass: GraphPass, step: int, payload: str | None = None
) -> MapStep:
    member_template, ids = graph_pass.build_step_run(step), graph_pass.plan.ids[step]
    source = None
    if ids is not None and ids.source_kind_id is not None:
        source = member_template._replace(kind_id=ids.source_kind_id, payload=payload)
    return MapStep(
        run_id=graph_pass.run_id,
        tenant_id=graph_pass.locked.tenant_id,
        round=graph_pass.locked.round,
        graph=graph_pass.plan.graph,
        index=step,
        board=graph_pass.board,
        member_template=member_template,
        read_scope=_scope_reader(conn, graph_pass, step),
        source=source,
    )


def _scope_reader(
    conn: Connection, graph_pass: GraphPass, step: int
) -> Callable[[], Awaitable[GraphScope]]:
    async def scope() -> GraphScope:
        reads = {read.step for read in graph_pass.plan.graph.steps[step].reads}
        await _read_values(conn, {graph_pass: reads})
        return graph_pass.build_scope()

    return scope
