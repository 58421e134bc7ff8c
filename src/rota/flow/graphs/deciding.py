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
from rota.flow.graphs import mapping
from rota.flow.graphs.mapping import Decided, Mapped
from rota.flow.graphs.turns import Turn
from rota.store import graph_maps, graphs
from rota.store.driver import Connection
from rota.store.graphs import GraphEnding

Wanted = Mapping[Turn, Iterable[int]]
CANCELLED: Final = encode_canonical({"code": "step_cancelled"})


async def decide(conn: Connection, passes: Sequence[Turn]) -> None:
    """Decide everything that follows from the step completions of these graph runs."""
    work = list(passes)
    for graph_pass in work:
        for step, completions in graph_pass.of_maps.items():
            mapped = _map_of(conn, graph_pass, step)
            _settle(graph_pass, step, await mapping.go_on(conn, mapped, completions))
    while work:
        work = [graph_pass for graph_pass in work if graph_pass.ended or graph_pass.looks]
        await _read_values(
            conn,
            {
                graph_pass: _wanted_results(graph_pass)
                for graph_pass in work
                if graph_pass.plan.asks
            },
        )
        begun = [(graph_pass, _advance(graph_pass)) for graph_pass in work]
        work = [
            graph_pass for graph_pass, after in begun if await _begin_maps(conn, graph_pass, after)
        ]


async def endings(conn: Connection, passes: Sequence[Turn]) -> list[GraphEnding]:
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


def _ending_of(graph_pass: Turn) -> GraphEnding:
    graph, board = graph_pass.plan.graph, graph_pass.board
    state = graph_pass.final or RunState.SUCCEEDED
    result = reason = None
    if state is RunState.SUCCEEDED:
        result = build_graph_result(graph, board, graph_pass.scope())
    elif state is RunState.DEAD:
        reason = encode_canonical(
            {"type": "StepFailed", "message": describe_graph_error(graph, board)}
        )
    else:
        reason = CANCELLED
    return GraphEnding(graph_pass.run_id, state, result, reason)


def _advance(graph_pass: Turn) -> GraphAdvance:
    board, ended = graph_pass.board, graph_pass.ended
    if graph_pass.looks:
        # Without completions, core checks every waiting step.
        board, ended = record_endings(board, ended), {}
    after = graph_pass.plan.advance(board, ended, graph_pass.scope())
    graph_pass.adopt(after)
    return after


def _wanted_results(graph_pass: Turn) -> frozenset[int]:
    board, ended = graph_pass.board, graph_pass.ended
    if graph_pass.looks:
        board, ended = record_endings(board, ended), {}
    return find_needed_results(graph_pass.plan.graph, board, ended)


async def _read_values(conn: Connection, wanted: Wanted) -> None:
    """Read the inputs of graph runs, and the results of the wanted steps."""
    new = [
        graph_pass.run_id
        for graph_pass in wanted
        if graph_pass.given is None and graph_pass.plan.asks
    ]
    if new:
        inputs = await graphs.read_inputs(conn, new)
        for graph_pass in wanted:
            graph_pass.given = graph_pass.given or inputs.get(graph_pass.run_id)
    lacking = {graph_pass: graph_pass.lacks(steps) for graph_pass, steps in wanted.items()}
    tenants = {
        graph_pass.id_of(step): graph_pass.locked.tenant_id
        for graph_pass, steps in lacking.items()
        for step in steps
    }
    if tenants:
        results = await graphs.read_results(conn, tenants)
        for graph_pass, steps in lacking.items():
            graph_pass.learn(results, steps)
    for graph_pass, steps_wanted in wanted.items():
        for step in steps_wanted:
            if (
                graph_pass.plan.graph.steps[step].map is not None
                and step not in graph_pass.of_members
            ):
                graph_pass.of_members[step] = await _map_results(conn, graph_pass, step)


async def _map_results(conn: Connection, graph_pass: Turn, step: int) -> tuple[object, object]:
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


def _is_listed(graph_pass: Turn, step: int) -> bool:
    """Return whether a step reads the list of the members' results."""
    reads = (read for reader in graph_pass.plan.graph.steps for read in reader.reads)
    return any(read.step == step and read.part == "results" for read in reads)


async def _begin_maps(conn: Connection, graph_pass: Turn, after: GraphAdvance) -> bool:
    """Start the maps that are ready; return whether one of them is already decided."""
    for step in after.ready:
        if graph_pass.plan.graph.steps[step].map is None:
            continue
        mapped = _map_of(conn, graph_pass, step, after.payloads.get(step))
        decided = await mapping.begin(
            conn, mapped, after.items.get(step), afresh=graph_pass.goes_afresh(step)
        )
        _settle(graph_pass, step, decided)
    return bool(graph_pass.ended)


def _settle(graph_pass: Turn, step: int, decided: Decided | None) -> None:
    graph_pass.has_members = True
    if decided is not None:
        graph_pass.settle(step, decided.state, decided.why)


def _map_of(conn: Connection, graph_pass: Turn, step: int, payload: str | None = None) -> Mapped:
    member_template, ids = graph_pass.mould(step), graph_pass.plan.ids[step]
    source = None
    if ids is not None and ids.source_kind_id is not None:
        source = member_template._replace(kind_id=ids.source_kind_id, payload=payload)
    return Mapped(
        run_id=graph_pass.run_id,
        tenant_id=graph_pass.locked.tenant_id,
        round=graph_pass.locked.round,
        graph=graph_pass.plan.graph,
        index=step,
        board=graph_pass.board,
        mould=member_template,
        scope=_scope_reader(conn, graph_pass, step),
        source=source,
    )


def _scope_reader(
    conn: Connection, graph_pass: Turn, step: int
) -> Callable[[], Awaitable[GraphScope]]:
    async def scope() -> GraphScope:
        reads = {read.step for read in graph_pass.plan.graph.steps[step].reads}
        await _read_values(conn, {graph_pass: reads})
        return graph_pass.scope()

    return scope
