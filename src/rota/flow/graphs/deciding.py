"""Asks core what follows from the marks of graph runs, and reads what it needs. Room: flow/graphs.

Core is pure and cannot read: what its expressions may ask for is read before, for all graph runs of
a pass at once, and only where there are expressions. A map that is decided as soon as it begins, an
empty one, is an ending like any other, and core is asked again.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from rota.core.graphs import (
    Advanced,
    Scope,
    graph_error,
    graph_result,
    last_steps,
    note,
    results_wanted,
)
from rota.core.maps import MOST_RESULTS
from rota.core.states import RunState
from rota.core.submission import MOST_PAYLOAD, canonical
from rota.flow.graphs import mapping
from rota.flow.graphs.mapping import Decided, Mapped
from rota.flow.graphs.turns import Turn
from rota.store import graph_maps, graphs
from rota.store.driver import Connection
from rota.store.graphs import Ending

Wanted = Mapping[Turn, Iterable[int]]
CANCELLED: Final = canonical({"code": "step_cancelled"})


async def decide(conn: Connection, turns: Sequence[Turn]) -> None:
    """Decide all that follows from the marks that these turns took."""
    work = list(turns)
    for turn in work:
        for step, marks in turn.of_maps.items():
            _settle(turn, step, await mapping.go_on(conn, _mapped(conn, turn, step), marks))
    while work:
        work = [turn for turn in work if turn.ended or turn.looks]
        await _learn(conn, {turn: _wanted(turn) for turn in work if turn.plan.asks})
        begun = [(turn, _advance(turn)) for turn in work]
        work = [turn for turn, after in begun if await _begin_maps(conn, turn, after)]


async def endings(conn: Connection, turns: Sequence[Turn]) -> list[Ending]:
    """How the graph runs end whose last step is decided."""
    good = [turn for turn in turns if turn.final is RunState.SUCCEEDED]
    await _learn(conn, {turn: last_steps(turn.plan.graph, turn.board) for turn in good})
    return [_ending(turn) for turn in turns if turn.final is not None]


def _ending(turn: Turn) -> Ending:
    graph, board = turn.plan.graph, turn.board
    state = turn.final or RunState.SUCCEEDED
    result = reason = None
    if state is RunState.SUCCEEDED:
        result = graph_result(graph, board, turn.scope())
    elif state is RunState.DEAD:
        reason = canonical({"type": "StepFailed", "message": graph_error(graph, board)})
    else:
        reason = CANCELLED
    return Ending(turn.run_id, state, result, reason)


def _advance(turn: Turn) -> Advanced:
    board, ended = turn.board, turn.ended
    if turn.looks:
        # Without endings, core looks at every step that waits.
        board, ended = note(board, ended), {}
    after = turn.plan.advance(board, ended, turn.scope())
    turn.adopt(after)
    return after


def _wanted(turn: Turn) -> frozenset[int]:
    board, ended = turn.board, turn.ended
    if turn.looks:
        board, ended = note(board, ended), {}
    return results_wanted(turn.plan.graph, board, ended)


async def _learn(conn: Connection, wanted: Wanted) -> None:
    """Read the inputs of graph runs, and what the wanted steps came to."""
    new = [turn.run_id for turn in wanted if turn.given is None and turn.plan.asks]
    if new:
        inputs = await graphs.inputs(conn, new)
        for turn in wanted:
            turn.given = turn.given or inputs.get(turn.run_id)
    lacking = {turn: turn.lacks(steps) for turn, steps in wanted.items()}
    tenants = {
        turn.id_of(step): turn.locked.tenant_id for turn, steps in lacking.items() for step in steps
    }
    if tenants:
        results = await graphs.results(conn, tenants)
        for turn, steps in lacking.items():
            turn.learn(results, steps)
    for turn, asked in wanted.items():
        for step in asked:
            if turn.plan.graph.steps[step].map is not None and step not in turn.of_members:
                turn.of_members[step] = await _map_results(conn, turn, step)


async def _map_results(conn: Connection, turn: Turn, step: int) -> tuple[object, object]:
    """The counters of a map as its result, and the results of its members if they are few."""
    known = await graph_maps.lock(conn, run_id=turn.run_id, step=step)
    if known is None:
        return None, None
    counted = {
        "total": known.total,
        "succeeded": known.succeeded,
        "failed": known.failed,
        "cancelled": known.cancelled,
    }
    if known.total is None or known.total > MOST_RESULTS or not _is_listed(turn, step):
        return counted, None
    rows = await graph_maps.results(conn, known.which, after=-1, most=MOST_RESULTS)
    if sum(len(row.result) for row in rows if row.result is not None) > MOST_PAYLOAD:
        return counted, None  # no payload could hold them
    found: list[object] = [None] * known.total
    for row in rows:
        if row.result is not None and row.member < known.total:
            found[row.member] = msgspec.json.decode(row.result)
    return counted, found


def _is_listed(turn: Turn, step: int) -> bool:
    """Whether some step reads the results of the members one by one."""
    reads = (read for each in turn.plan.graph.steps for read in each.reads)
    return any(read.step == step and read.part == "results" for read in reads)


async def _begin_maps(conn: Connection, turn: Turn, after: Advanced) -> bool:
    """Begin the maps that are ready; True if one of them is decided already."""
    for step in after.ready:
        if turn.plan.graph.steps[step].map is None:
            continue
        mapped = _mapped(conn, turn, step, after.payloads.get(step))
        decided = await mapping.begin(
            conn, mapped, after.items.get(step), afresh=turn.goes_afresh(step)
        )
        _settle(turn, step, decided)
    return bool(turn.ended)


def _settle(turn: Turn, step: int, decided: Decided | None) -> None:
    turn.has_members = True
    if decided is not None:
        turn.settle(step, decided.state, decided.why)


def _mapped(conn: Connection, turn: Turn, step: int, payload: str | None = None) -> Mapped:
    mould, ids = turn.mould(step), turn.plan.ids[step]
    source = None
    if ids is not None and ids.source_kind_id is not None:
        source = mould._replace(kind_id=ids.source_kind_id, payload=payload)
    return Mapped(
        run_id=turn.run_id,
        tenant_id=turn.locked.tenant_id,
        round=turn.locked.round,
        graph=turn.plan.graph,
        index=step,
        board=turn.board,
        mould=mould,
        scope=_scoped(conn, turn, step),
        source=source,
    )


def _scoped(conn: Connection, turn: Turn, step: int) -> Callable[[], Awaitable[Scope]]:
    async def scope() -> Scope:
        reads = {read.step for read in turn.plan.graph.steps[step].reads}
        await _learn(conn, {turn: reads})
        return turn.scope()

    return scope
