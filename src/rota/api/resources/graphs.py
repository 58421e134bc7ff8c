"""Operations for graphs and graph runs.

A graph is a job and a graph run is a run, so most operations are those of jobs and runs.
"""

from typing import Any

from rota.api import identifiers, views
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, read_number, write_cursor
from rota.api.resources.endpoint_steps import read_job_row, write_audit_entry
from rota.api.resources.runs import read_run_row
from rota.api.schemas.field_types import format_optional_time
from rota.api.schemas.graphs import GraphView, MapView, MembersQuery, RunGraphView, StepView
from rota.api.schemas.runs import RunStateView, RunView
from rota.core import states as core_states
from rota.core.access import Permission
from rota.core.aliases import RUN_STATUSES, resolve_statuses
from rota.core.graphs import count_step_states, to_plain_graph
from rota.core.maps import describe_progress
from rota.engine.graphs import control, graph_views
from rota.engine.graphs.graph_views import GraphRunView, GraphStepView
from rota.store import hints
from rota.store.graph_maps import MapRow


@operation(
    "GET", "/v1/jobs/{job_id}/graph", tag="graphs", permission=Permission.READ, answer=GraphView
)
async def get_graph(call: Call) -> Reply:
    """Get the graph of a job."""
    row = await read_job_row(call)
    graph = await graph_views.read_job_graph(call.conn, tenant_id=call.tenant_id, job_id=row.id)
    return Reply(GraphView(job_id=identifiers.format_job_id(row.id), graph=graph))


@operation(
    "GET", "/v1/runs/{run_id}/graph", tag="graphs", permission=Permission.READ, answer=RunGraphView
)
async def get_run_graph(call: Call) -> Reply:
    """Get a graph run with the state, run, times and map progress of every step."""
    row = await read_run_row(call)
    shown = await graph_views.read_run_graph(call.conn, row, tenant_id=call.tenant_id, now=call.now)
    return Reply(build_run_graph_view(shown))


@operation(
    "GET",
    "/v1/runs/{run_id}/members",
    tag="graphs",
    permission=Permission.READ,
    query=MembersQuery,
    answer=ListPage[RunView],
    problems=("malformed_request",),
)
async def list_members(call: Call) -> Reply:
    """List the members of a map in order.

    A page may be shorter than its limit and still have a next one.
    """
    row = await read_run_row(call)
    query: MembersQuery = call.query
    status = resolve_statuses(query.status, RUN_STATUSES)
    filters: list[Any] = ["members", str(row.id), query.step, status]
    place = read_cursor(query.cursor, filters)
    found = await graph_views.read_members(
        call.conn,
        row.id,
        query.step,
        tenant_id=call.tenant_id,
        states=frozenset(map(core_states.RunState, status)),
        after=-1 if place is None else read_number(place),
        limit=query.limit,
    )
    following = None if found.after is None else write_cursor(filters, [str(found.after)])
    data = [views.build_run_view(member) for member in found.rows]
    return Reply(ListPage[RunView](data=data, next_cursor=following))


@operation(
    "POST",
    "/v1/runs/{run_id}/retryFailed",
    tag="graphs",
    permission=Permission.OPERATE,
    answer=RunStateView,
    problems=("illegal_move",),
)
async def retry_run_graph(call: Call) -> Reply:
    """Retry the failed steps of a finished graph run.

    Steps that succeeded do not run again.
    """
    row = await read_run_row(call)
    await control.retry_failed_steps(
        call.conn, tenant_id=call.tenant_id, run_id=row.id, by=call.actor, now=call.now
    )
    return await reply_run_state(call, "run.retry_failed")


@operation(
    "POST",
    "/v1/runs/{run_id}/pause",
    tag="graphs",
    permission=Permission.OPERATE,
    answer=RunStateView,
    problems=("illegal_move",),
)
async def pause_run(call: Call) -> Reply:
    """Pause a graph run.

    No more steps start; running ones continue.
    """
    row = await read_run_row(call)
    await control.pause_graph_run(
        call.conn, tenant_id=call.tenant_id, run_id=row.id, by=call.actor, now=call.now
    )
    return await reply_run_state(call, "run.pause")


@operation(
    "POST",
    "/v1/runs/{run_id}/resume",
    tag="graphs",
    permission=Permission.OPERATE,
    answer=RunStateView,
    problems=("illegal_move",),
)
async def resume_run(call: Call) -> Reply:
    """Resume a paused graph run."""
    row = await read_run_row(call)
    await control.resume_graph_run(
        call.conn, tenant_id=call.tenant_id, run_id=row.id, by=call.actor, now=call.now
    )
    return await reply_run_state(call, "run.resume")


async def reply_run_state(call: Call, action: str) -> Reply:
    """Audit the action and return the current state of the run."""
    row = await read_run_row(call)
    await write_audit_entry(call, action, "run", identifiers.format_run_id(row.id))
    call.hints |= {hints.STEP_COMPLETIONS_CHANNEL, hints.RUNS_CHANNEL}
    return Reply(RunStateView(run_id=identifiers.format_run_id(row.id), status=row.state.value))


def build_run_graph_view(shown: GraphRunView) -> RunGraphView:
    seen = shown.row
    names = [step.name for step in shown.graph.steps]
    return RunGraphView(
        run_id=identifiers.format_run_id(shown.run.id),
        job_id=identifiers.format_job_id(shown.run.job_id),
        status=shown.run.state.value,
        round=0 if seen is None else seen.round,
        start_time=format_optional_time(shown.run.started_at if seen is None else seen.started_at),
        paused_at=None if seen is None else format_optional_time(seen.paused_at),
        end_time=format_optional_time(shown.run.finished_at),
        counts=count_step_states(shown.board),
        critical_path=[names[index] for index in shown.critical],
        steps=[build_step_view(step, names, set(shown.critical)) for step in shown.steps],
        graph=to_plain_graph(shown.graph),
    )


def build_step_view(shown: GraphStepView, names: list[str], critical: set[int]) -> StepView:
    step, run = shown.step, shown.run
    started, ended = shown.times
    return StepView(
        name=step.name,
        index=step.index,
        kind=step.kind,
        needs=[names[index] for index in step.needs],
        status=shown.state,
        is_graph=step.graph is not None,
        is_critical=step.index in critical,
        run_id=None if run is None else identifiers.format_run_id(run.id),
        run_status=None if run is None else run.state.value,
        attempt_number=None if run is None else run.attempt,
        start_time=format_optional_time(started),
        end_time=format_optional_time(ended),
        reason=shown.why,
        map=None if shown.map is None else build_map_view(shown.map),
    )


def build_map_view(map_: MapRow) -> MapView:
    return MapView(
        total=map_.total,
        made=map_.made,
        alive=map_.tally.live,
        succeeded=map_.succeeded,
        failed=map_.failed,
        cancelled=map_.cancelled,
        progress=describe_progress(map_.tally),
    )
