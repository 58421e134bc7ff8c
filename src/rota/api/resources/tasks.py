"""Operations for tasks: the kinds of work that workers serve, and their figures."""

from typing import Final

from msgspec import UNSET

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.statistics import to_seconds
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.tasks import (
    TaskBucket,
    TaskFailure,
    TaskItem,
    TaskJob,
    TaskQuery,
    TasksQuery,
    TaskView,
    TaskWorker,
    Window,
)
from rota.api.views import load_json, split_reason
from rota.core.access import Permission
from rota.core.errors import NotFound
from rota.engine.observability import task_statistics
from rota.engine.observability.task_statistics import (
    TaskDetail,
    TaskStatistics,
    TaskSummary,
    TaskWindow,
)
from rota.store.run_views import RunRow

WINDOWS: Final[dict[Window, TaskWindow]] = {
    "1h": TaskWindow.HOUR,
    "24h": TaskWindow.DAY,
    "7d": TaskWindow.WEEK,
    "30d": TaskWindow.MONTH,
}


@operation(
    "GET",
    "/v1/tasks",
    tag="tasks",
    permission=Permission.READ,
    query=TasksQuery,
    answer=ListPage[TaskItem],
    problems=("malformed_request",),
)
async def list_tasks(call: Call) -> Reply:
    """List tasks by kind, with their load and the figures of the last hour.

    A task is a kind of work that workers serve for your tenant, or that your jobs and runs name. A
    task with `workers` 0 has no live worker: its runs wait. Graphs are jobs, not tasks.
    """
    query: TasksQuery = call.query
    served = None if query.served is UNSET else query.served
    filters = [query.q, served]
    place = read_cursor(query.cursor, filters)
    found = await task_statistics.list_tasks(
        call.conn, tenant_id=call.tenant_id, tenant=call.principal.tenant
    )
    fitting = [task for task in found if matches_filters(task, q=query.q, served=served)]
    after = [task for task in fitting if place is None or task.row.name > place[0]]
    # The cursor uses Python's order of names.
    after.sort(key=lambda task: task.row.name)
    shown = after[: query.limit]
    following = write_cursor(filters, [shown[-1].row.name]) if len(after) > len(shown) else None
    return Reply(ListPage(data=[build_task_item(task) for task in shown], next_cursor=following))


def matches_filters(task: TaskSummary, *, q: str | None, served: bool | None) -> bool:
    """Tell whether a task matches the filters."""
    if served is not None and served != (task.workers > 0):
        return False
    text = f"{task.row.name}\n{task.row.description or ''}".casefold()
    return q is None or q.casefold() in text


def build_task_item(task: TaskSummary) -> TaskItem:
    return TaskItem(
        kind=task.row.name,
        description=task.row.description,
        workers=task.workers,
        runs_per_minute=round(task.runs_per_minute, 4),
        failure_rate=task.failure_rate,
        running=task.load.running,
        waiting=task.load.waiting,
        scheduled=task.load.scheduled,
        last_run_at=format_optional_time(task.last_run_at),
        is_estimate=task.is_estimate,
        is_partial=task.load.is_partial,
    )


@operation(
    "GET",
    "/v1/tasks/{kind}",
    tag="tasks",
    permission=Permission.READ,
    query=TaskQuery,
    answer=TaskView,
)
async def get_task(call: Call) -> Reply:
    """Get a task with its description, workers and figures."""
    kind, window = call.params["kind"], call.query.window
    found = await task_statistics.read_task(
        call.conn,
        tenant_id=call.tenant_id,
        tenant=call.principal.tenant,
        kind=kind,
        window=WINDOWS[window],
    )
    if found is None:
        raise NotFound("task", kind)
    return Reply(build_task_view(found, window))


def build_task_view(task: TaskDetail, window: Window) -> TaskView:
    row, total, load = task.row, task.series.total, task.load
    return TaskView(
        kind=row.name,
        description=row.description,
        payload_schema=load_json(row.payload_schema),
        default_policy=load_json(row.default_policy),
        supports_exactly_once=row.exactly_once,
        workers=[
            TaskWorker(
                worker_id=identifiers.format_id("wrk", worker.id),
                name=worker.name,
                is_draining=worker.draining,
                queues=worker.queues,
            )
            for worker in task.workers
        ],
        running=load.running,
        waiting=load.waiting,
        scheduled=load.scheduled,
        is_partial=load.is_partial,
        window=window,
        since=format_time(total.start),
        now=format_time(task.now),
        runs={state.value: number for state, number in total.ended.items()},
        ended=total.number,
        failed=total.failed,
        failure_rate=total.failure_rate,
        runs_per_minute=round(task.runs_per_minute, 4),
        duration_p50_s=to_seconds(total.duration_p50),
        duration_p99_s=to_seconds(total.duration_p99),
        wait_p50_s=to_seconds(total.wait_p50),
        wait_p99_s=to_seconds(total.wait_p99),
        is_estimate=task.series.is_estimate,
        last_run_at=None
        if task.last_run is None
        else format_optional_time(task.last_run.finished_at),
        last_failure=None if task.last_failure is None else build_failure_view(task.last_failure),
        jobs=[
            TaskJob(
                job_id=identifiers.format_job_id(job.id),
                name=job.name,
                status=job.state.value,
                next_run_at=format_optional_time(job.next_fire_at),
            )
            for job in task.jobs
        ],
        has_more_jobs=task.has_more_jobs,
        width_s=task.series.width.total_seconds(),
        series=[build_task_bucket(bucket) for bucket in task.series.buckets],
    )


def build_failure_view(run: RunRow) -> TaskFailure:
    reason, _ = split_reason(run.reason)
    details = reason if isinstance(reason, dict) else {}
    return TaskFailure(
        run_id=identifiers.format_run_id(run.id),
        ended_at=format_time(run.finished_at or run.scheduled_at),
        error_type=details.get("type") or details.get("code"),
        message=details.get("message"),
    )


def build_task_bucket(bucket: TaskStatistics) -> TaskBucket:
    return TaskBucket(
        start=format_time(bucket.start),
        ended=bucket.number,
        failed=bucket.failed,
        duration_p50_s=to_seconds(bucket.duration_p50),
        duration_p99_s=to_seconds(bucket.duration_p99),
        wait_p50_s=to_seconds(bucket.wait_p50),
        wait_p99_s=to_seconds(bucket.wait_p99),
    )
