"""Reads graph runs for display: every step with its run and times, and the maps.

A few statements are enough for any size: the step states are one string, the ids of the steps' runs
are derived, and maps have counters. A run that is not expanded yet shows its job's graph with all
steps waiting.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from rota.contract.graph import read_stored_graph
from rota.core.errors import NotFound
from rota.core.graphs import (
    GraphStep,
    StepGraph,
    StepState,
    StepTimes,
    find_critical_path,
    initial_step_states,
)
from rota.core.graphs.step_states import FINAL_STEP_STATES, STEP_STATE_WORDS
from rota.core.ids import derive_step_run_id
from rota.core.states import RunState
from rota.store import graph_maps, graph_views
from rota.store.driver import Connection
from rota.store.graph_maps import MapRow
from rota.store.graph_views import GraphRun, MemberPage, StepRun
from rota.store.run_views import RunRow


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStepView:
    """A step with its run. `state` is the name of its step state, `why` the reason of a skip or
    failure.
    """

    step: GraphStep
    state: str
    run: StepRun | None
    map: MapRow | None
    why: str | None

    @property
    def times(self) -> tuple[datetime | None, datetime | None]:
        if self.map is not None:
            return self.map.started_at, self.map.ended_at
        if self.run is not None:
            return self.run.started_at, self.run.finished_at
        return None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRunView:
    """A graph run with its steps. `row` is None until the run is expanded."""

    run: RunRow
    graph: StepGraph
    board: str
    row: GraphRun | None
    steps: tuple[GraphStepView, ...]
    critical: tuple[int, ...] = field(default=())


async def read_job_graph(conn: Connection, *, tenant_id: int, job_id: UUID) -> dict[str, Any]:
    """Return the graph of a job as JSON. Raise `NotFound` if it has none."""
    text = await graph_views.read_job_graph(conn, tenant_id=tenant_id, job_id=job_id)
    if text is None:
        raise NotFound("graph", f"job {job_id}")
    found: dict[str, Any] = json.loads(text)
    return found


async def read_run_graph(
    conn: Connection, run: RunRow, *, tenant_id: int, now: datetime
) -> GraphRunView:
    """Return a graph run with all its steps. Raise `NotFound` if it is not a graph run."""
    seen = await graph_views.read_graph_run(conn, tenant_id=tenant_id, run_id=run.id)
    if seen is None:
        return await _show_waiting(conn, run, tenant_id=tenant_id)
    graph = find_nested_graph(read_stored_graph(json.loads(seen.definition)), seen.path)
    board = seen.board or initial_step_states(graph)
    maps = await graph_views.read_maps(conn, tenant_id=tenant_id, run_id=run.id)
    ids = _step_ids(seen, graph, board, maps)
    runs = await graph_views.read_steps(conn, ids, tenant_id=tenant_id)
    reasons: Mapping[str, Any] = json.loads(seen.told)
    steps = tuple(
        GraphStepView(
            step=step,
            state=STEP_STATE_WORDS[board[step.index]],
            run=runs.get(step.index),
            map=maps.get(step.index),
            why=_reason_of(step, board, reasons, runs, maps),
        )
        for step in graph.steps
    )
    critical = find_critical_path(graph, _times_of(steps, board, seen.ended_at or now))
    return GraphRunView(run=run, graph=graph, board=board, row=seen, steps=steps, critical=critical)


async def read_members(  # noqa: PLR0913 — a page of a list with a filter
    conn: Connection,
    run_id: UUID,
    step: str,
    *,
    tenant_id: int,
    states: frozenset[RunState],
    after: int,
    limit: int,
) -> MemberPage:
    """Return a page of the members of a map. Raise `NotFound` if the graph run has no such map."""
    seen = await graph_views.read_graph_run(conn, tenant_id=tenant_id, run_id=run_id)
    if seen is None:
        raise NotFound("graph", f"run {run_id}")
    graph = find_nested_graph(read_stored_graph(json.loads(seen.definition)), seen.path)
    place = graph.step_indexes.get(step)
    if place is None or graph.steps[place].map is None:
        raise NotFound("map", step)
    found = (await graph_views.read_maps(conn, tenant_id=tenant_id, run_id=run_id)).get(place)
    if found is None:
        return MemberPage([], None)
    return await graph_views.list_members(
        conn, found.map_id, tenant_id=tenant_id, states=states, after=after, limit=limit
    )


async def _show_waiting(conn: Connection, run: RunRow, *, tenant_id: int) -> GraphRunView:
    text = await graph_views.read_job_graph(conn, tenant_id=tenant_id, job_id=run.job_id)
    if text is None or run.kind != "graph":
        raise NotFound("graph", f"run {run.id}")
    graph = read_stored_graph(json.loads(text))
    steps = tuple(
        GraphStepView(
            step=step, state=STEP_STATE_WORDS[StepState.WAITING], run=None, map=None, why=None
        )
        for step in graph.steps
    )
    return GraphRunView(
        run=run, graph=graph, board=initial_step_states(graph), row=None, steps=steps
    )


def find_nested_graph(graph: StepGraph, path: list[int]) -> StepGraph:
    """Return the nested graph at a path of step numbers."""
    for place in path:
        found = graph.steps[place].graph
        if found is None:
            raise NotFound("graph", f"step {place}")
        graph = found
    return graph


def _step_ids(
    seen: GraphRun, graph: StepGraph, board: str, maps: Mapping[int, MapRow]
) -> list[UUID]:
    """Return the ids of the latest runs of started steps; for a map, of its source."""
    rounds: Mapping[str, int] = json.loads(seen.rounds)
    started = [step for step in graph.steps if board[step.index] not in "wk"]
    return [
        derive_step_run_id(
            seen.run_id,
            step.index,
            round_=(
                maps[step.index].base if step.index in maps else rounds.get(str(step.index), 0)
            ),
        )
        for step in started
    ]


def _reason_of(
    step: GraphStep,
    board: str,
    reasons: Mapping[str, Any],
    runs: Mapping[int, StepRun],
    maps: Mapping[int, MapRow],
) -> str | None:
    stored = reasons.get(str(step.index))
    if stored is not None:
        return str(stored)
    if board[step.index] in {StepState.SUCCEEDED, StepState.WAITING}:
        return None
    row = maps.get(step.index) or runs.get(step.index)
    reason = None if row is None else graph_maps.parse_reason(row.reason)
    if reason is None:
        return None
    if "message" in reason:
        kind = reason.get("type")
        plain = kind is None or step.index in maps
        return str(reason["message"]) if plain else f"{kind}: {reason['message']}"
    return str(reason.get("code")) if "code" in reason else None


def _times_of(steps: tuple[GraphStepView, ...], board: str, now: datetime) -> dict[int, StepTimes]:
    found: dict[int, StepTimes] = {}
    for shown in steps:
        started, ended = shown.times
        if started is not None:
            over = board[shown.step.index] in FINAL_STEP_STATES
            found[shown.step.index] = StepTimes(started, ended if over and ended else now)
    return found
