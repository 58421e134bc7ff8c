"""Graph runs as people look at them: every step, its run, its times, the maps. Room: flow/graphs.

Reads only, in a few statements whatever the size: the board says what state a step is in, the ids
of their runs are derived, and maps have counters. A run that has not unfolded yet shows its job's
graph with everything waiting.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from rota.contract.graph import read_stored_graph
from rota.core.errors import NotFound
from rota.core.graphs import Graph, Step, StepState, Times, critical_path, first_board
from rota.core.graphs.board import FINAL, WORDS
from rota.core.ids import step_run_id
from rota.core.states import RunState
from rota.store import graph_maps, graph_views
from rota.store.driver import Connection
from rota.store.graph_maps import Map
from rota.store.graph_views import GraphRun, Members, StepRun
from rota.store.run_views import RunRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """`state` is a word of the board; `why` is the reason of a skip or a failure."""

    step: Step
    state: str
    run: StepRun | None
    map: Map | None
    why: str | None

    @property
    def times(self) -> tuple[datetime | None, datetime | None]:
        if self.map is not None:
            return self.map.started_at, self.map.ended_at
        if self.run is not None:
            return self.run.started_at, self.run.finished_at
        return None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """`seen` is None while the run has not unfolded."""

    run: RunRow
    graph: Graph
    board: str
    seen: GraphRun | None
    steps: tuple[ShownStep, ...]
    critical: tuple[int, ...] = field(default=())


async def job_graph(conn: Connection, *, tenant_id: int, job_id: UUID) -> dict[str, Any]:
    """The graph of a job, as JSON has it; `NotFound` if it has none."""
    text = await graph_views.of_job(conn, tenant_id=tenant_id, job_id=job_id)
    if text is None:
        raise NotFound("graph", f"job {job_id}")
    found: dict[str, Any] = json.loads(text)
    return found


async def run_graph(conn: Connection, run: RunRow, *, tenant_id: int, now: datetime) -> ShownRun:
    """A graph run with all its steps; `NotFound` if the run is of no graph."""
    seen = await graph_views.of_run(conn, tenant_id=tenant_id, run_id=run.id)
    if seen is None:
        return await _waiting(conn, run, tenant_id=tenant_id)
    graph = inner(read_stored_graph(json.loads(seen.definition)), seen.path)
    board = seen.board or first_board(graph)
    maps = await graph_views.maps(conn, tenant_id=tenant_id, run_id=run.id)
    ids = _step_ids(seen, graph, board, maps)
    runs = await graph_views.steps(conn, ids, tenant_id=tenant_id)
    told: Mapping[str, Any] = json.loads(seen.told)
    steps = tuple(
        ShownStep(
            step=step,
            state=WORDS[board[step.index]],
            run=runs.get(step.index),
            map=maps.get(step.index),
            why=_why(step, board, told, runs, maps),
        )
        for step in graph.steps
    )
    critical = critical_path(graph, _times(steps, board, seen.ended_at or now))
    return ShownRun(run=run, graph=graph, board=board, seen=seen, steps=steps, critical=critical)


async def members(  # noqa: PLR0913 — a page of a list with a filter
    conn: Connection,
    run_id: UUID,
    step: str,
    *,
    tenant_id: int,
    states: frozenset[RunState],
    after: int,
    limit: int,
) -> Members:
    """A page of the members of a map; `NotFound` if the graph run has no such map, or not yet."""
    seen = await graph_views.of_run(conn, tenant_id=tenant_id, run_id=run_id)
    if seen is None:
        raise NotFound("graph", f"run {run_id}")
    graph = inner(read_stored_graph(json.loads(seen.definition)), seen.path)
    place = graph.places.get(step)
    if place is None or graph.steps[place].map is None:
        raise NotFound("map", step)
    found = (await graph_views.maps(conn, tenant_id=tenant_id, run_id=run_id)).get(place)
    if found is None:
        return Members([], None)
    return await graph_views.members(
        conn, found.which, tenant_id=tenant_id, states=states, after=after, limit=limit
    )


async def _waiting(conn: Connection, run: RunRow, *, tenant_id: int) -> ShownRun:
    text = await graph_views.of_job(conn, tenant_id=tenant_id, job_id=run.job_id)
    if text is None or run.kind != "graph":
        raise NotFound("graph", f"run {run.id}")
    graph = read_stored_graph(json.loads(text))
    steps = tuple(
        ShownStep(step=step, state=WORDS[StepState.WAITING], run=None, map=None, why=None)
        for step in graph.steps
    )
    return ShownRun(run=run, graph=graph, board=first_board(graph), seen=None, steps=steps)


def inner(graph: Graph, path: list[int]) -> Graph:
    """The sub-graph that a path of step numbers leads to."""
    for place in path:
        found = graph.steps[place].graph
        if found is None:
            raise NotFound("graph", f"step {place}")
        graph = found
    return graph


def _step_ids(seen: GraphRun, graph: Graph, board: str, maps: Mapping[int, Map]) -> list[UUID]:
    """The ids of the last runs of the steps that have one; of a map, its source's."""
    rounds: Mapping[str, int] = json.loads(seen.rounds)
    started = [step for step in graph.steps if board[step.index] not in "wk"]
    return [
        step_run_id(
            seen.run_id,
            step.index,
            round_=(
                maps[step.index].base if step.index in maps else rounds.get(str(step.index), 0)
            ),
        )
        for step in started
    ]


def _why(
    step: Step,
    board: str,
    told: Mapping[str, Any],
    runs: Mapping[int, StepRun],
    maps: Mapping[int, Map],
) -> str | None:
    said = told.get(str(step.index))
    if said is not None:
        return str(said)
    if board[step.index] in {StepState.SUCCEEDED, StepState.WAITING}:
        return None
    held = maps.get(step.index) or runs.get(step.index)
    reason = None if held is None else graph_maps.told(held.reason)
    if reason is None:
        return None
    if "message" in reason:
        kind = reason.get("type")
        plain = kind is None or step.index in maps
        return str(reason["message"]) if plain else f"{kind}: {reason['message']}"
    return str(reason.get("code")) if "code" in reason else None


def _times(steps: tuple[ShownStep, ...], board: str, now: datetime) -> dict[int, Times]:
    found: dict[int, Times] = {}
    for shown in steps:
        started, ended = shown.times
        if started is not None:
            over = board[shown.step.index] in FINAL
            found[shown.step.index] = Times(started, ended if over and ended else now)
    return found
