"""Schemas of graphs, graph runs and map members."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from rota.api.schemas.field_types import Cursor, Limit
from rota.api.schemas.runs import RunStatusFilter


class GraphView(Struct, kw_only=True, frozen=True):
    """The graph of a job, as defined."""

    job_id: str
    graph: dict[str, Any]


class MapView(Struct, kw_only=True, frozen=True):
    """Progress of a map. `total` is null while its source still counts; `alive` members wait or
    run.
    """

    total: int | None
    made: int
    alive: int
    succeeded: int
    failed: int
    cancelled: int
    progress: str


class StepView(Struct, kw_only=True, frozen=True):
    """One step. `status` is waiting, live, succeeded, failed, cancelled or skipped. `run_id` is the
    run of the step; for a sub-graph its graph run, for a map the run of its source, if any.
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
    """A graph run: its graph and the state of every step. `counts` is the number of steps per
    state; `critical_path` lists the steps that determined the duration.
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
        Annotated[str, Meta(min_length=1, max_length=64)], Meta(description="Name of the map step.")
    ]
    status: list[RunStatusFilter] = []
    limit: Limit = 50
    cursor: Cursor | None = None
