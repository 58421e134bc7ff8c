"""Ends the steps of graph runs that somebody else ended: cancelled, expired. Room: flow/graphs.

The graph run is in history already; its steps are told here, by whoever holds its lock. A step that
is a graph run itself ends at once and leaves a mark of its own, so the steps below it follow.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.graphs import StepState, cancelled_board, note, state_of
from rota.core.states import RunState
from rota.core.submission import canonical
from rota.flow.graphs import mapping
from rota.store import graph_maps, graphs, live_runs
from rota.store.driver import Connection
from rota.store.graphs import Board, Locked, Mark

AT_ONCE: Final = 1_000
ENDED: Final = canonical({"code": "graph_ended"})
_STATES: Final = {state.value: state for state in RunState}


class Alive(NamedTuple):
    """Sub-graphs that were ended, and the (graph run, step) that somebody still has to stop."""

    nested: list[UUID]
    steps: set[tuple[UUID, int]]


async def cancel_steps(conn: Connection, over: Sequence[Locked]) -> Alive:
    """Cancel what is alive of these graph runs."""
    ids = [row.run_id for row in over if not row.has_ended]
    nested: list[UUID] = []
    if not ids:
        return Alive([], set())
    while some := await graphs.live_steps(conn, ids, stopping=False, most=AT_ONCE):
        await live_runs.cancel(conn, ids=[step.id for step in some], reason=ENDED)
        nested += [step.id for step in some if step.state is RunState.BLOCKED]
    return Alive(nested, await graphs.open_steps(conn, ids))


async def note_endings(
    conn: Connection,
    over: Sequence[Locked],
    alive: Alive,
    marks: Mapping[UUID, Sequence[Mark]],
) -> list[Board]:
    """Write on the boards of graph runs that are over what still comes in."""
    boards: list[Board] = []
    for row in over:
        mine = marks.get(row.run_id, ())
        maps = await count_members(conn, row.run_id, mine)
        board = note(row.board, _endings(row, [m for m in mine if m.step not in maps]))
        if not row.has_ended:
            board = "".join(
                StepState.CANCELLED.value
                if state == StepState.LIVE and (row.run_id, step) not in alive.steps
                else state
                for step, state in enumerate(cancelled_board(board))
            )
        if board != row.board or not row.has_ended:
            boards.append(Board(row.run_id, board, None, None, has_ended=True))
    return boards


def _endings(row: Locked, marks: Sequence[Mark]) -> dict[int, StepState]:
    return {
        mark.step: state_of(_STATES[mark.state])
        for mark in marks
        if mark.state is not None and 0 <= mark.step < len(row.board) and not mark.members
    }


async def count_members(conn: Connection, run_id: UUID, marks: Sequence[Mark]) -> set[int]:
    """Keep the counters of maps right, whatever else becomes of the marks; return which steps are
    maps: their board says nothing of a member or a source that ended.
    """
    maps: set[int] = set()
    for step in {mark.step for mark in marks if mark.step >= 0}:
        known = await graph_maps.lock(conn, run_id=run_id, step=step)
        if known is not None:
            maps.add(step)
            await mapping.count(conn, known.which, [mark for mark in marks if mark.step == step])
    return maps
