"""Pauses and resumes graph runs, and retries their failed steps.

A graph run is cancelled like any other run (submission/run_cancellation.py), and its steps follow.
The caller sends the hint MARKS after the commit, and RUNS after a retry; without the hints it takes
a second longer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from rota.core.errors import Conflict, IllegalMove
from rota.core.graphs import (
    StepState,
    find_steps_to_restart,
    record_endings,
    restart_step_states,
    step_state_of_run,
)
from rota.core.states import RETRYABLE_STATES, RunState
from rota.core.submissions import check_name, encode_canonical
from rota.engine.graphs.plans import read_graph_of_run
from rota.engine.graphs.step_cancellation import count_members
from rota.store import graphs, live_runs, requeue
from rota.store.driver import Connection
from rota.store.graphs import RequestedGraphRun, StepCompletionRow
from rota.store.transaction import transaction

RETRY_EVENT: Final = "be retried from its failed steps"
STEPS_STOPPING: Final = "some of its steps are still stopping; try again when they have ended"
NESTED_RUN: Final = "it is a step of another graph run; retry that graph run instead"
_STATES: Final = {state.value: state for state in RunState}


async def pause_graph_run(
    conn: Connection,
    tenant_id: int,
    run_id: UUID,
    by: str,
    now: datetime,  # noqa: ARG001 — the database's clock is used
) -> None:
    """Start no more steps. Running steps continue; pausing a paused graph run changes nothing."""
    check_name(by, "by")
    async with transaction(conn):
        await _require_active(conn, tenant_id, run_id, "be paused")
        await graphs.pause_graph_run(conn, run_id)


async def resume_graph_run(
    conn: Connection,
    tenant_id: int,
    run_id: UUID,
    by: str,
    now: datetime,  # noqa: ARG001 — as for pause
) -> None:
    """Resume a paused graph run. Resuming one that is not paused changes nothing."""
    check_name(by, "by")
    async with transaction(conn):
        await _require_active(conn, tenant_id, run_id, "be resumed")
        await graphs.resume_graph_run(conn, run_id)


async def retry_failed_steps(
    conn: Connection,
    tenant_id: int,
    run_id: UUID,
    by: str,
    now: datetime,  # noqa: ARG001 — as for pause
) -> None:
    """Retry a graph run from its failed steps, with the results of the others. It keeps its
    definition, even if its job changed since.
    """
    check_name(by, "by")
    async with transaction(conn):
        found = await _lock_graph_run(conn, tenant_id, run_id)
        run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
        if found.path:
            raise Conflict("run", NESTED_RUN)
        if not found.has_ended or run.state not in RETRYABLE_STATES:
            raise IllegalMove("run", run.state.value, RETRY_EVENT)
        if await graphs.read_live_steps(conn, [run_id], stopping=True, limit=1):
            raise Conflict("run", STEPS_STOPPING)
        completions = await graphs.take_completions(conn, [run_id])
        maps = await count_members(conn, run_id, completions)
        await _reopen(
            conn, found, [completion for completion in completions if completion.step not in maps]
        )
        if not await live_runs.requeue_runs(conn, ids=[run_id]):
            raise IllegalMove("run", run.state.value, RETRY_EVENT)
        await requeue.record_actor(conn, [run_id], by=by)


async def _reopen(
    conn: Connection, found: RequestedGraphRun, completions: Sequence[StepCompletionRow]
) -> None:
    """Reset the failed steps, and those that depend on them, to waiting."""
    late = {
        completion.step: step_state_of_run(_STATES[completion.state])
        for completion in completions
        if completion.state is not None
        and 0 <= completion.step < len(found.board)
        and not completion.members
    }
    # No step is active any more: a live step was never created, or is a map that was cut short.
    board = record_endings(found.board, late).replace(StepState.LIVE, StepState.CANCELLED)
    reasons = msgspec.json.decode(found.told)
    if board:
        graph = await read_graph_of_run(conn, found.graph_id, found.path)
        again = find_steps_to_restart(graph, board)
        board = restart_step_states(graph, board)
        reasons = {step: why for step, why in reasons.items() if int(step) not in again}
    await graphs.reopen_graph_run(conn, found.run_id, board=board, told=encode_canonical(reasons))


async def _lock_graph_run(conn: Connection, tenant_id: int, run_id: UUID) -> RequestedGraphRun:
    """Lock a graph run. Raise `Conflict` if the run has no steps: it is not a graph run, or it is
    not expanded yet.
    """
    found = await graphs.lock_graph_run(conn, run_id, tenant_id=tenant_id)
    if found is not None:
        return found
    run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
    raise Conflict("run", f"it is {run.state.value} and has no steps")


async def _require_active(conn: Connection, tenant_id: int, run_id: UUID, event: str) -> None:
    await _lock_graph_run(conn, tenant_id, run_id)
    run = await requeue.find_run(conn, run_id, tenant_id=tenant_id)
    if run.state is not RunState.BLOCKED:
        raise IllegalMove("run", run.state.value, event)
