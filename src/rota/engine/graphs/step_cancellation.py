"""Cancels the steps of graph runs that were ended from outside: cancelled or expired.

The graph run is already in history. The node that holds its lock cancels its steps here. A step
that is a graph run itself ends at once and inserts a step completion, so its own steps follow.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.graphs import StepState, cancel_waiting_steps, record_endings, step_state_of_run
from rota.core.states import RunState
from rota.core.submissions import encode_canonical
from rota.engine.graphs import map_steps
from rota.store import graph_maps, graphs, live_runs
from rota.store.driver import Connection
from rota.store.graphs import LockedGraphRun, StepCompletionRow, StepStatesUpdate

CANCEL_BATCH_MAX: Final = 1_000
GRAPH_ENDED_REASON: Final = encode_canonical({"code": "graph_ended"})
_STATES: Final = {state.value: state for state in RunState}


class ActiveSteps(NamedTuple):
    """Nested graph runs that were ended, and the (graph run, step) pairs that have yet to stop."""

    nested: list[UUID]
    steps: set[tuple[UUID, int]]


async def cancel_steps(conn: Connection, ended: Sequence[LockedGraphRun]) -> ActiveSteps:
    """Cancel the active steps of these graph runs."""
    ids = [row.run_id for row in ended if not row.has_ended]
    nested: list[UUID] = []
    if not ids:
        return ActiveSteps([], set())
    while some := await graphs.read_live_steps(conn, ids, stopping=False, limit=CANCEL_BATCH_MAX):
        await live_runs.cancel_runs(conn, ids=[step.id for step in some], reason=GRAPH_ENDED_REASON)
        nested += [step.id for step in some if step.state is RunState.BLOCKED]
    return ActiveSteps(nested, await graphs.read_open_steps(conn, ids))


async def update_step_states(
    conn: Connection,
    ended: Sequence[LockedGraphRun],
    alive: ActiveSteps,
    completions: Mapping[UUID, Sequence[StepCompletionRow]],
) -> list[StepStatesUpdate]:
    """Return the step states of ended graph runs, updated with late step completions."""
    boards: list[StepStatesUpdate] = []
    for row in ended:
        mine = completions.get(row.run_id, ())
        maps = await count_members(conn, row.run_id, mine)
        board = record_endings(
            row.board, _final_states(row, [m for m in mine if m.step not in maps])
        )
        if not row.has_ended:
            board = "".join(
                StepState.CANCELLED.value
                if state == StepState.LIVE and (row.run_id, step) not in alive.steps
                else state
                for step, state in enumerate(cancel_waiting_steps(board))
            )
        if board != row.board or not row.has_ended:
            boards.append(StepStatesUpdate(row.run_id, board, None, None, has_ended=True))
    return boards


def _final_states(
    row: LockedGraphRun, completions: Sequence[StepCompletionRow]
) -> dict[int, StepState]:
    return {
        completion.step: step_state_of_run(_STATES[completion.state])
        for completion in completions
        if completion.state is not None
        and 0 <= completion.step < len(row.board)
        and not completion.members
    }


async def count_members(
    conn: Connection, run_id: UUID, completions: Sequence[StepCompletionRow]
) -> set[int]:
    """Update the counters of maps with step completions. Return the steps that are maps: the
    completion of a member or a source does not change their step state.
    """
    maps: set[int] = set()
    for step in {completion.step for completion in completions if completion.step >= 0}:
        known = await graph_maps.lock_map(conn, run_id=run_id, step=step)
        if known is not None:
            maps.add(step)
            await map_steps.count_completions(
                conn,
                known.map_id,
                [completion for completion in completions if completion.step == step],
            )
    return maps
