"""Stores graphs for the engine: definitions, step states, step completions, the runs of steps.

One row of rota.graph_runs is one lock: a caller that advances, pauses or reopens a graph run holds
it. The statements that end runs also insert step completions (live_runs/*.sql, graphs/finish.sql);
the holder of the lock consumes them here (docs/adr/0018-step-completions.md). The engine decides
what follows.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import StoreUnavailable
from rota.core.outcome import Guarantee
from rota.core.states import RunState
from rota.store.driver import Connection
from rota.store.live_runs import RunMove
from rota.store.statement import statement

# A value of a completion's `step` that is not a step: the advancer must look at the graph run. The
# statements that end a graph run insert -1.
LOOK_AGAIN_STEP: Final = -2
# Smaller than any id.
SMALLEST_ID: Final = UUID(int=0)


class InternedGraph(NamedTuple):
    id: int
    digest: str


class StoredGraph(NamedTuple):
    id: int
    definition: str


class LockedGraphRun(NamedTuple):
    """A graph run that is locked for the caller until the transaction ends. `state` and later
    fields come from its run; None if that is in history.
    """

    run_id: UUID
    tenant_id: int
    graph_id: int | None
    path: list[int]
    board: str
    round: int
    rounds: str
    told: str
    has_ended: bool
    state: str | None
    policy_id: int | None


class RequestedGraphRun(NamedTuple):
    """A graph run that the caller wants to change; locked too."""

    run_id: UUID
    tenant_id: int
    job_id: UUID
    graph_id: int | None
    path: list[int]
    board: str
    round: int
    rounds: str
    told: str
    paused_at: datetime | None
    has_ended: bool


class StepCompletionRow(NamedTuple):
    """`ended` runs of a step reached `state`; `members` of them are members of a map."""

    graph_run_id: UUID
    step: int
    state: str | None
    ended: int
    members: int
    run_id: UUID | None


class NewStep(NamedTuple):
    """The run of a step. Fields that are None are inherited from its graph run."""

    id: UUID
    graph_run_id: UUID
    step: int
    member: int | None
    queue_id: int | None
    kind_id: int
    policy_id: int
    priority: int | None
    guarantee: Guarantee
    payload: str | None
    # Measured from its creation.
    deadline: timedelta | None = None

    @property
    def template(self) -> tuple[object, ...]:
        """The run template: all fields except its id, its graph run and its payload."""
        return (*self[2:9], self.deadline)


class NewNestedRun(NamedTuple):
    """The graph run of a step that is itself a graph."""

    id: UUID
    graph_run_id: UUID
    step: int
    queue_id: int | None
    priority: int | None
    payload: str | None


class StepStatesUpdate(NamedTuple):
    """The new step states of a graph run; `rounds` and `told` stay unchanged if None."""

    run_id: UUID
    board: str
    rounds: str | None
    told: str | None
    has_ended: bool


class GraphEnding(NamedTuple):
    id: UUID
    state: RunState
    result: str | None
    reason: str | None


class EndedGraphRun(NamedTuple):
    """A graph run that is in history now, and its parent graph run."""

    id: UUID
    state: RunState
    graph_run_id: UUID | None
    is_gated: bool


class StepResult(NamedTuple):
    id: UUID
    state: RunState
    result: str | None
    reason: str | None


class GraphInput(NamedTuple):
    id: UUID
    scheduled_at: datetime
    attempt: int
    payload: str | None


class OpenStep(NamedTuple):
    graph_run_id: UUID
    step: int


class GraphRunId(NamedTuple):
    id: UUID


class InsertedCount(NamedTuple):
    """A count; the rows themselves would cost more to send back than they are worth."""

    number: int


class ReopenedRound(NamedTuple):
    round: int


INTERN = statement("graphs/intern", InternedGraph)
DEFINITIONS = statement("graphs/definitions", StoredGraph)
EXPAND = statement("graphs/expand", RunMove)
LOCK = statement("graphs/lock", LockedGraphRun)
FIND = statement("graphs/lock_one", RequestedGraphRun)
TAKE_COMPLETIONS = statement("graphs/take_completions", StepCompletionRow)
FIND_COMPLETED = statement("graphs/find_completed", GraphRunId)
DROP_ORPHANS = statement("graphs/drop_orphans", GraphRunId)
INSERT_STEPS = statement("graphs/insert_steps", InsertedCount)
INSERT_NESTED = statement("graphs/insert_nested", GraphRunId)
STORE_STEP_STATES = statement("graphs/store_step_states", InsertedCount)
FINISH = statement("graphs/finish", EndedGraphRun)
RESULTS = statement("graphs/results", StepResult)
INPUTS = statement("graphs/inputs", GraphInput)
LIVE_STEPS = statement("graphs/live_steps", RunMove)
OPEN_STEPS = statement("graphs/open_steps", OpenStep)
PAUSE = statement("graphs/pause", GraphRunId)
RESUME = statement("graphs/resume", GraphRunId)
REOPEN = statement("graphs/reopen", ReopenedRound)


async def intern_definitions(
    conn: Connection, tenant_id: int, definitions: Iterable[str]
) -> dict[str, int]:
    """Return the ids of a tenant's definitions in canonical JSON: equal ones are equal texts."""
    wanted = {_digest(definition): definition for definition in definitions}
    missing = set(wanted)
    ids: dict[str, int] = {}
    # A missing row was inserted by another process after this snapshot: the second pass finds it.
    for _ in range(3):
        if not missing:
            return {wanted[digest]: id_ for digest, id_ in ids.items()}
        digests = sorted(missing)
        rows = await INTERN.all(
            conn,
            tenant_id=tenant_id,
            digests=digests,
            definitions=[wanted[digest] for digest in digests],
        )
        ids |= {row.digest: row.id for row in rows}
        missing -= ids.keys()
    if missing:
        raise StoreUnavailable(reason="a graph could neither be found nor inserted")
    return {wanted[digest]: id_ for digest, id_ in ids.items()}


async def read_definitions(conn: Connection, ids: Iterable[int]) -> dict[int, str]:
    return {row.id: row.definition for row in await DEFINITIONS.all(conn, ids=sorted(set(ids)))}


async def expand_graphs(
    conn: Connection, *, session_id: UUID, runs: Sequence[tuple[UUID, int]]
) -> list[RunMove]:
    """Make claimed graph runs, given with their attempts, wait for their steps."""
    return await EXPAND.all(
        conn,
        session_id=session_id,
        ids=[run_id for run_id, _ in runs],
        attempts=[attempt for _, attempt in runs],
    )


async def lock_graph_runs(conn: Connection, ids: Sequence[UUID]) -> list[LockedGraphRun]:
    """Lock the graph runs that no other process advances and that are not paused."""
    return await LOCK.all(conn, ids=ids)


async def lock_graph_run(
    conn: Connection, run_id: UUID, *, tenant_id: int
) -> RequestedGraphRun | None:
    """Lock one graph run of the tenant; waits until no other process advances it."""
    return await FIND.one(conn, run_id=run_id, tenant_id=tenant_id)


async def take_completions(conn: Connection, ids: Sequence[UUID]) -> list[StepCompletionRow]:
    """Consume the step completions of graph runs that the caller has locked."""
    return await TAKE_COMPLETIONS.all(conn, ids=ids)


async def find_completed(conn: Connection, *, after: UUID, limit: int) -> list[UUID]:
    """Return graph runs with step completions, in the order of their ids."""
    return [row.id for row in await FIND_COMPLETED.all(conn, after=after, most=limit)]


async def drop_orphans(conn: Connection, ids: Sequence[UUID]) -> int:
    """Delete the step completions of graph runs that no longer exist."""
    return len(await DROP_ORPHANS.all(conn, ids=ids))


async def insert_steps(conn: Connection, steps: Sequence[NewStep]) -> int:
    """Insert the runs of steps, except for graph runs that have ended; return how many."""
    # Steps of a thousand graph runs of the same graph share few run templates.
    moulds: dict[tuple[object, ...], int] = {}
    for step in steps:
        moulds.setdefault(step.template, len(moulds) + 1)
    of_step, members, queues, kinds, policies, priorities, guarantees, deadlines = zip(
        *moulds, strict=True
    )
    inserted = await INSERT_STEPS.one(
        conn,
        ids=[step.id for step in steps],
        graph_run_ids=[step.graph_run_id for step in steps],
        moulds=[moulds[step.template] for step in steps],
        payloads=omit_nulls([step.payload for step in steps]),
        steps=of_step,
        members=members,
        queue_ids=queues,
        kind_ids=kinds,
        policy_ids=policies,
        priorities=priorities,
        guarantees=guarantees,
        deadlines=deadlines,
    )
    return 0 if inserted is None else inserted.number


async def insert_nested_runs(conn: Connection, nested: Sequence[NewNestedRun]) -> list[UUID]:
    """Insert the graph runs of nested graphs, with the completions that start them."""
    rows = await INSERT_NESTED.all(
        conn,
        ids=[run.id for run in nested],
        graph_run_ids=[run.graph_run_id for run in nested],
        steps=[run.step for run in nested],
        queue_ids=[run.queue_id for run in nested],
        priorities=[run.priority for run in nested],
        payloads=[run.payload for run in nested],
    )
    return [row.id for row in rows]


async def store_step_states(conn: Connection, step_states: Sequence[StepStatesUpdate]) -> None:
    await STORE_STEP_STATES.one(
        conn,
        run_ids=[states.run_id for states in step_states],
        boards=[states.board for states in step_states],
        rounds=omit_nulls([states.rounds for states in step_states]),
        told=omit_nulls([states.told for states in step_states]),
        has_ended=[states.has_ended for states in step_states],
    )


async def finish_graph_runs(
    conn: Connection, endings: Sequence[GraphEnding]
) -> list[EndedGraphRun]:
    """Move graph runs to history; one missing from the result was ended by another process."""
    return await FINISH.all(
        conn,
        ids=[ending.id for ending in endings],
        states=[ending.state for ending in endings],
        results=omit_nulls([ending.result for ending in endings]),
        reasons=omit_nulls([ending.reason for ending in endings]),
    )


async def read_results(conn: Connection, tenants: Mapping[UUID, int]) -> dict[UUID, StepResult]:
    """Return the results of these runs; `tenants` maps each run to its tenant."""
    rows = await RESULTS.all(conn, ids=list(tenants), tenant_ids=list(tenants.values()))
    return {row.id: row for row in rows}


async def read_inputs(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, GraphInput]:
    return {row.id: row for row in await INPUTS.all(conn, ids=ids)}


async def read_live_steps(
    conn: Connection, ids: Sequence[UUID], *, stopping: bool, limit: int
) -> list[RunMove]:
    """Return unfinished runs of the steps of graph runs, optionally with those asked to stop."""
    return await LIVE_STEPS.all(conn, ids=ids, stopping=stopping, most=limit)


async def read_open_steps(conn: Connection, ids: Sequence[UUID]) -> set[tuple[UUID, int]]:
    """Return the steps of graph runs that have an unfinished run, as (graph run, step)."""
    return {(row.graph_run_id, row.step) for row in await OPEN_STEPS.all(conn, ids=ids)}


async def pause_graph_run(conn: Connection, run_id: UUID) -> bool:
    return await PAUSE.one(conn, run_id=run_id) is not None


async def resume_graph_run(conn: Connection, run_id: UUID) -> bool:
    return await RESUME.one(conn, run_id=run_id) is not None


async def reopen_graph_run(conn: Connection, run_id: UUID, *, board: str, told: str) -> bool:
    return await REOPEN.one(conn, run_id=run_id, board=board, told=told) is not None


def omit_nulls(column: list[str | None]) -> list[str | None]:
    """Return a column for unnest; without any value it is empty, and unnest fills in nulls."""
    return column if any(value is not None for value in column) else []


def _digest(definition: str) -> str:
    return blake2b(definition.encode(), digest_size=16, person=b"rota graph").hexdigest()
