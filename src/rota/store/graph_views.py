"""Reads graphs and their runs as the API shows them: step states, steps, maps, pages of members.

Reads only. The runs of steps and the members of maps are found by their ids, which are derived, so
no statement reads all runs of a graph run with a million members.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.maps import MapIdentity
from rota.core.states import FINAL_STATES, LIVE_STATES, RunState
from rota.store import run_views
from rota.store.driver import Connection
from rota.store.graph_maps import MapRow
from rota.store.ordered_scan import SCAN_ROWS_MAX, ordered_scan
from rota.store.run_views import RunRow
from rota.store.statement import statement


class GraphDefinitionText(NamedTuple):
    definition: str


class GraphRun(NamedTuple):
    """`definition` is the whole graph, `path` leads to the sub-graph of this run."""

    run_id: UUID
    job_id: UUID
    definition: str
    path: list[int]
    board: str
    round: int
    rounds: str
    told: str
    started_at: datetime
    paused_at: datetime | None
    ended_at: datetime | None


class StepRun(NamedTuple):
    id: UUID
    step: int
    state: RunState
    attempt: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    reason: str | None


class MapPosition(NamedTuple):
    run_id: UUID
    step: int
    base: int


class ScannedMember(NamedTuple):
    id: UUID
    member: int
    fits: bool


class MemberPage(NamedTuple):
    """Members in order, and the index of the next page; None on the last page."""

    rows: list[RunRow]
    after: int | None


OF_JOB = statement("graph_views/job_graph", GraphDefinitionText)
OF_RUN = statement("graph_views/graph_run", GraphRun)
STEPS = statement("graph_views/steps", StepRun)
MAPS = statement("graph_views/maps", MapRow)
FIND_MAP = statement("graph_views/find_map", MapPosition)
MEMBERS = statement("graph_views/members", ScannedMember)
BAD_MEMBERS = statement("graph_views/failed_members", ScannedMember)


async def read_job_graph(conn: Connection, *, tenant_id: int, job_id: UUID) -> str | None:
    """Return the definition of a job's graph (JSON); None if it has none."""
    row = await OF_JOB.one(conn, tenant_id=tenant_id, job_id=job_id)
    return None if row is None else row.definition


async def read_graph_run(conn: Connection, *, tenant_id: int, run_id: UUID) -> GraphRun | None:
    return await OF_RUN.one(conn, tenant_id=tenant_id, run_id=run_id)


async def read_steps(
    conn: Connection, ids: Sequence[UUID], *, tenant_id: int
) -> dict[int, StepRun]:
    """Return the runs of steps by the number of the step."""
    rows = await STEPS.all(conn, ids=ids, tenant_id=tenant_id)
    return {row.step: row for row in rows}


async def read_maps(conn: Connection, *, tenant_id: int, run_id: UUID) -> dict[int, MapRow]:
    """Return the maps of a graph run by the number of the step."""
    rows = await MAPS.all(conn, tenant_id=tenant_id, run_id=run_id)
    return {row.step: row for row in rows}


async def find_map(conn: Connection, *, run_id: UUID, step: str) -> MapIdentity | None:
    """Return the map that a step refers to by name, in its own graph run."""
    row = await FIND_MAP.one(conn, run_id=run_id, step=step)
    return None if row is None else MapIdentity(*row)


async def list_members(
    conn: Connection,
    which: MapIdentity,
    *,
    tenant_id: int,
    states: frozenset[RunState] = frozenset(),
    after: int = -1,
    limit: int = 50,
) -> MemberPage:
    """Return members after an index in one of these states; a short page may have a next one."""
    found = await _walk(conn, which, tenant_id=tenant_id, states=states, after=after, most=limit)
    horizon = next((row.member for row in found if not row.fits), None)
    ids = {row.member: row.id for row in found if row.fits}
    indexes = sorted(index for index in ids if horizon is None or index <= horizon)
    following = horizon
    if len(indexes) > limit:
        indexes = indexes[:limit]
        following = indexes[-1]
    rows = await run_views.read_runs(conn, [ids[index] for index in indexes], tenant_id=tenant_id)
    wanted = states or frozenset(RunState)
    # A member may have changed since the scan and no longer match.
    return MemberPage([row for row in reversed(rows) if row.state in wanted], following)


async def _walk(
    conn: Connection,
    which: MapIdentity,
    *,
    tenant_id: int,
    states: frozenset[RunState],
    after: int,
    most: int,
) -> list[ScannedMember]:
    bounds = {
        "run_id": which.run_id,
        "tenant_id": tenant_id,
        "after_id": which.derive_id_before(after + 1),
        "last_id": which.last_id,
        "states": sorted(states) or None,
        "most": most + 1,
    }
    async with ordered_scan(conn):
        if states and states <= FINAL_STATES - {RunState.SUCCEEDED}:
            return await BAD_MEMBERS.all(conn, **bounds)
        wanted = states or frozenset(RunState)
        return await MEMBERS.all(
            conn,
            **bounds,
            look=SCAN_ROWS_MAX,
            ended=bool(wanted & FINAL_STATES),
            alive=bool(wanted & LIVE_STATES),
        )
