"""What people do with a graph run: pause it, let it go on, retry what failed. Room: flow/graphs.

Cancelling is as for any run (flow/submit/cancelling.py): the steps follow. The caller gives the
hint MARKS once this has committed, and RUNS after a retry; without them it takes a second longer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from rota.core.errors import Conflict, IllegalMove
from rota.core.graphs import StepState, note, restart, restarted, state_of
from rota.core.states import BAD, RunState
from rota.core.submission import canonical, check_name
from rota.flow.graphs.closing import count_members
from rota.flow.graphs.plans import read
from rota.store import graphs, live_runs, revival
from rota.store.driver import Connection
from rota.store.graphs import Asked, Mark
from rota.store.transaction import transaction

REVIVABLE: Final = BAD | {RunState.CANCELLED, RunState.EXPIRED}
RETRIED: Final = "be retried from its failed steps"
STOPPING: Final = "some of its steps are still stopping; ask again when they have ended"
A_STEP: Final = "it is a step of another graph run, which is to be retried instead"
_STATES: Final = {state.value: state for state in RunState}


async def pause(
    conn: Connection,
    tenant_id: int,
    run_id: UUID,
    by: str,
    now: datetime,  # noqa: ARG001 — the database's clock is the one that counts
) -> None:
    """Begin no more steps; those that run go on. One that is paused stays so."""
    check_name(by, "by")
    async with transaction(conn):
        await _find_alive(conn, tenant_id, run_id, "be paused")
        await graphs.pause(conn, run_id)


async def resume(
    conn: Connection,
    tenant_id: int,
    run_id: UUID,
    by: str,
    now: datetime,  # noqa: ARG001 — as for pause
) -> None:
    """Let a paused graph run go on. One that is not paused goes on as it does."""
    check_name(by, "by")
    async with transaction(conn):
        await _find_alive(conn, tenant_id, run_id, "be resumed")
        await graphs.resume(conn, run_id)


async def retry_failed(
    conn: Connection,
    tenant_id: int,
    run_id: UUID,
    by: str,
    now: datetime,  # noqa: ARG001 — as for pause
) -> None:
    """Let a graph run that did not succeed go on from the steps that failed, with what the others
    came to. It keeps its definition, whatever has become of its job since.
    """
    check_name(by, "by")
    async with transaction(conn):
        found = await _find(conn, tenant_id, run_id)
        run = await revival.find(conn, run_id, tenant_id=tenant_id)
        if found.path:
            raise Conflict("run", A_STEP)
        if not found.has_ended or run.state not in REVIVABLE:
            raise IllegalMove("run", run.state.value, RETRIED)
        if await graphs.live_steps(conn, [run_id], stopping=True, most=1):
            raise Conflict("run", STOPPING)
        marks = await graphs.take_marks(conn, [run_id])
        maps = await count_members(conn, run_id, marks)
        await _reopen(conn, found, [mark for mark in marks if mark.step not in maps])
        if not await live_runs.replay(conn, ids=[run_id]):
            raise IllegalMove("run", run.state.value, RETRIED)
        await revival.sign(conn, [run_id], by=by)


async def _reopen(conn: Connection, found: Asked, marks: Sequence[Mark]) -> None:
    """Let the steps wait again that failed, and those behind them."""
    late = {
        mark.step: state_of(_STATES[mark.state])
        for mark in marks
        if mark.state is not None and 0 <= mark.step < len(found.board) and not mark.members
    }
    # Nothing of it lives any more: what was live was never made, or is a map that was cut short.
    board = note(found.board, late).replace(StepState.LIVE, StepState.CANCELLED)
    told = msgspec.json.decode(found.told)
    if board:
        graph = await read(conn, found.graph_id, found.path)
        again = restarted(graph, board)
        board = restart(graph, board)
        told = {step: why for step, why in told.items() if int(step) not in again}
    await graphs.reopen(conn, found.run_id, board=board, told=canonical(told))


async def _find(conn: Connection, tenant_id: int, run_id: UUID) -> Asked:
    """Lock the graph run; one that has not unfolded yet has nothing to be asked for."""
    found = await graphs.find(conn, run_id, tenant_id=tenant_id)
    if found is not None:
        return found
    run = await revival.find(conn, run_id, tenant_id=tenant_id)
    raise Conflict("run", f"it is {run.state.value} and has no steps")


async def _find_alive(conn: Connection, tenant_id: int, run_id: UUID, event: str) -> None:
    await _find(conn, tenant_id, run_id)
    run = await revival.find(conn, run_id, tenant_id=tenant_id)
    if run.state is not RunState.BLOCKED:
        raise IllegalMove("run", run.state.value, event)
