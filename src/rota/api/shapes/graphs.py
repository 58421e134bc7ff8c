"""Graphs, their runs and the members of maps as JSON. Room: api/shapes."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Cursor, Limit
from rota.api.shapes.runs import InStates


class GraphView(Struct, kw_only=True, frozen=True):
    """What a job's graph consists of, as it was written."""

    job_id: str
    graph: dict[str, Any]


class MapView(Struct, kw_only=True, frozen=True):
    """How far a map is. `total` is null while its source still counts; `alive` wait or run."""

    total: int | None
    made: int
    alive: int
    succeeded: int
    failed: int
    cancelled: int
    progress: str


class StepView(Struct, kw_only=True, frozen=True):
    """One step. `status` is waiting, live, succeeded, failed, cancelled or skipped; `run_id` is its
    run, of a sub-graph the graph run to look at next, and of a map its source if it has one.
    """

    name: str
    index: int
    kind: str
    needs: list[str]
    status: str
    is_graph: bool
    is_critical: bool
    run_id: str | None
    run_status: str | None
    attempt_number: int | None
    start_time: str | None
    end_time: str | None
    reason: str | None
    map: MapView | None


class RunGraphView(Struct, kw_only=True, frozen=True):
    """A graph run: its graph, and what became of every step. `counts` is how many are in which
    state, `critical_path` the steps that decided how long it took.
    """

    run_id: str
    job_id: str
    status: str
    round: int
    start_time: str | None
    paused_at: str | None
    end_time: str | None
    counts: dict[str, int]
    critical_path: list[str]
    steps: list[StepView]
    graph: dict[str, Any]


class MembersQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    step: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64)], Meta(description="The name of the map.")
    ]
    status: list[InStates] = []
    limit: Limit = 50
    cursor: Cursor | None = None
