"""Computes statistics of a tenant's runs by task.

A task is a kind that workers serve, or that the tenant's own jobs and runs use. The kind `graph` is
excluded: the steps of a graph are runs of tasks, the graph itself is a job.

No index begins with the kind, so the runs of all kinds in a window are read. A window with more
than `EXACT_RUNS_MAX` runs is sampled: of every `stride` seconds, a part is counted that is as long
as `SAMPLED_RUNS_MAX` allows, and multiplied. This finds rare tasks better than reading one second
in many. Sampled results are marked as estimates.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from rota.core.duration_bins import compute_quantile
from rota.core.graphs.graph import GRAPH_KIND
from rota.core.ids import EPOCH
from rota.core.states import DEAD_LETTER_STATES, FINAL_STATES, RunState
from rota.engine.observability.statistics import (
    SECOND,
    build_slices,
    choose_stride,
    compute_failure_rate,
)
from rota.store import cluster_views, job_views, metrics_queries, run_views, tasks
from rota.store.cluster_views import WorkerRow
from rota.store.driver import Connection
from rota.store.job_views import JobFilter, JobRow
from rota.store.metrics_queries import TimeSlice
from rota.store.pool import read_database_time
from rota.store.run_views import RunListFilter, RunRow
from rota.store.tasks import EndedCount, LiveCount, TaskEnding, TaskRow

# Runs of all kinds that one window reads: about 150 ms.
EXACT_RUNS_MAX: Final = 100_000
# Runs read of a larger window; finding the slices costs as much again.
SAMPLED_RUNS_MAX: Final = 50_000
SHOWN_JOBS_MAX: Final = 50
RATE_WINDOW: Final = timedelta(hours=1)
# Ticks that never became a run, so the task has not executed anything for them.
NEVER_RAN: Final = frozenset({RunState.SKIPPED, RunState.MISSED, RunState.COALESCED})


class TaskWindow(Enum):
    """The time range of a task's statistics: the width of a bucket, and the number of buckets."""

    HOUR = (timedelta(minutes=1), 60)
    DAY = (timedelta(hours=1), 24)
    WEEK = (timedelta(hours=1), 168)
    MONTH = (timedelta(days=1), 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLoad:
    """The waiting, running and scheduled runs now. `is_partial`: the counts are minimums."""

    waiting: int = 0
    running: int = 0
    scheduled: int = 0
    is_partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSummary:
    """A task in a list. The rates cover the last hour."""

    row: TaskRow
    workers: int
    load: TaskLoad
    runs_per_minute: float
    failure_rate: float | None
    last_run_at: datetime | None
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatistics:
    """Runs that ended in a time range. Percentiles are accurate to a twentieth; None if
    unmeasured.
    """

    start: datetime
    ended: Mapping[RunState, int]
    duration_p50: timedelta | None
    duration_p99: timedelta | None
    wait_p50: timedelta | None
    wait_p99: timedelta | None

    @property
    def number(self) -> int:
        return sum(self.ended.values())

    @property
    def failed(self) -> int:
        return sum(self.ended.get(state, 0) for state in DEAD_LETTER_STATES)

    @property
    def failure_rate(self) -> float | None:
        return compute_failure_rate(self.ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSeries:
    width: timedelta
    total: TaskStatistics
    buckets: tuple[TaskStatistics, ...]
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetail:
    """A task, its live workers, its statistics, and the newest jobs of its kind."""

    row: TaskRow
    now: datetime
    workers: tuple[WorkerRow, ...]
    load: TaskLoad
    series: TaskSeries
    last_run: RunRow | None
    last_failure: RunRow | None
    jobs: tuple[JobRow, ...]
    has_more_jobs: bool

    @property
    def runs_per_minute(self) -> float:
        minutes = (self.now - self.series.total.start) / timedelta(minutes=1)
        return self.series.total.number / minutes if minutes > 0 else 0.0


async def list_tasks(conn: Connection, *, tenant_id: int, tenant: str) -> list[TaskSummary]:
    """Return the tasks of a tenant by name."""
    now = await read_database_time(conn)
    workers = await cluster_views.list_workers(conn, tenant=tenant, with_dead=True)
    serving = Counter(kind for worker in workers if worker.is_alive for kind in worker.kinds)
    live = await tasks.count_live(conn, tenant_id=tenant_id)
    ended = await tasks.count_ended(conn, tenant_id=tenant_id, since=now - RATE_WINDOW)
    jobs = await tasks.count_jobs(conn, tenant_id=tenant_id)
    used = {count.kind_id for count in live} | {count.kind_id for count in ended}
    rows = await tasks.read_tasks(
        conn,
        tenant_id=tenant_id,
        ids=used | {count.kind_id for count in jobs},
        names={kind for worker in workers for kind in worker.kinds},
    )
    loads, endings = _loads(live), {count.kind_id: count for count in ended}
    return [
        _summarize(
            row,
            workers=serving[row.name],
            load=loads(row.id),
            ended=endings.get(row.id),
            now=now,
        )
        for row in rows
        if row.name != GRAPH_KIND
    ]


def _summarize(
    row: TaskRow, *, workers: int, load: TaskLoad, ended: EndedCount | None, now: datetime
) -> TaskSummary:
    if ended is None:
        return TaskSummary(
            row=row,
            workers=workers,
            load=load,
            runs_per_minute=0.0,
            failure_rate=None,
            last_run_at=None,
            is_estimate=False,
        )
    is_estimate = ended.near_runs >= tasks.ENDED_COUNT_MAX
    over = RATE_WINDOW
    if is_estimate and ended.first_at is not None:
        # The newest runs do not reach back an hour, so the rate covers a shorter time.
        over = max(now - ended.first_at, SECOND)
    tried = ended.failed + ended.succeeded
    return TaskSummary(
        row=row,
        workers=workers,
        load=load,
        runs_per_minute=ended.ended / (over / timedelta(minutes=1)),
        failure_rate=ended.failed / tried if tried else None,
        last_run_at=ended.last_finished_at,
        is_estimate=is_estimate,
    )


def _loads(live: Sequence[LiveCount]) -> Callable[[int], TaskLoad]:
    """Return a function that finds the load of a kind."""
    limit = tasks.LIVE_COUNT_MAX
    waiting = sum(count.waiting for count in live)
    scheduled = sum(count.scheduled for count in live)
    is_partial = waiting >= limit or scheduled >= limit
    by_kind = {count.kind_id: count for count in live}

    def find(kind_id: int) -> TaskLoad:
        found = by_kind.get(kind_id, LiveCount(kind_id, 0, 0, 0))
        return TaskLoad(
            waiting=found.waiting,
            running=found.running,
            scheduled=found.scheduled,
            is_partial=is_partial,
        )

    return find


async def read_task(
    conn: Connection, *, tenant_id: int, tenant: str, kind: str, window: TaskWindow
) -> TaskDetail | None:
    """Return a task with its statistics; None if the tenant has no such task."""
    known = await tasks.read_tasks(conn, tenant_id=tenant_id, ids=(), names=[kind])
    row = next((task for task in known if task.name == kind), None)
    if row is None or kind == GRAPH_KIND:
        return None
    now = await read_database_time(conn)
    workers = await cluster_views.list_workers(conn, tenant=tenant, with_dead=True)
    serving = [worker for worker in workers if kind in worker.kinds]
    load = _loads(await tasks.count_live(conn, tenant_id=tenant_id))(row.id)
    jobs = await job_views.list_jobs(
        conn,
        tenant_id=tenant_id,
        filter=JobFilter(kind=kind, is_one_time=False),
        limit=SHOWN_JOBS_MAX,
    )
    last_run = await _find_newest(
        conn, tenant_id, RunListFilter(kind=kind, states=FINAL_STATES - NEVER_RAN)
    )
    own = await tasks.read_tasks(conn, tenant_id=tenant_id, ids=(), names=())
    is_used = load.waiting or load.running or load.scheduled or jobs.rows or last_run
    if not serving and not is_used and row not in own:
        return None
    return TaskDetail(
        row=row,
        now=now,
        workers=tuple(worker for worker in serving if worker.is_alive),
        load=load,
        series=await _measure(conn, tenant_id, row.id, window=window, now=now),
        last_run=last_run,
        last_failure=await _find_newest(
            conn, tenant_id, RunListFilter(kind=kind, states=DEAD_LETTER_STATES)
        ),
        jobs=tuple(jobs.rows),
        has_more_jobs=jobs.after is not None,
    )


async def _find_newest(conn: Connection, tenant_id: int, chosen: RunListFilter) -> RunRow | None:
    found = await run_views.list_runs(conn, tenant_id=tenant_id, filter=chosen, limit=1)
    return found.rows[0] if found.rows else None


async def _measure(
    conn: Connection, tenant_id: int, kind_id: int, *, window: TaskWindow, now: datetime
) -> TaskSeries:
    width, number = window.value
    last = now - (now - EPOCH) % width
    starts = [last - width * back for back in range(number - 1, -1, -1)]
    # Includes a run that ends in this very microsecond.
    end = now + timedelta(microseconds=1)
    due, late, factor = await _choose_slices(conn, tenant_id, starts[0], end)
    rows = await tasks.count_slices(
        conn,
        tenant_id=tenant_id,
        kind_id=kind_id,
        starts=starts,
        until=end,
        slices=(due, late),
    )
    counted = [row for row in rows if row.state not in NEVER_RAN]
    by_bucket: dict[int, list[TaskEnding]] = {}
    for row in counted:
        by_bucket.setdefault(row.bucket, []).append(row)
    return TaskSeries(
        width=width,
        total=_figures(starts[0], counted, factor),
        buckets=tuple(
            _figures(begins, by_bucket.get(place, []), factor)
            for place, begins in enumerate(starts)
        ),
        is_estimate=factor > 1,
    )


async def _choose_slices(
    conn: Connection, tenant_id: int, start: datetime, end: datetime
) -> tuple[list[TimeSlice], list[TimeSlice], float]:
    """Return the ranges to read, by times in ids and by late endings, and the multiplier."""
    first = start - metrics_queries.LATE_AFTER - metrics_queries.CLOCK_MARGIN
    last = end + metrics_queries.CLOCK_MARGIN
    some = await metrics_queries.count_rows_to_read(
        conn, tenant_id=tenant_id, start=start, end=end, limit=EXACT_RUNS_MAX + 1
    )
    if some <= EXACT_RUNS_MAX:
        return [TimeSlice(first, last)], [TimeSlice(start, end)], 1.0
    stride = choose_stride(end - start)
    sampled = await tasks.count_sampled(
        conn, tenant_id=tenant_id, due=build_slices(first, last, stride=stride)
    )
    width = sample_width(stride, sampled * stride)
    return (
        build_slices(first, last, stride=stride, width=width),
        build_slices(start, end, stride=stride, width=width),
        SECOND * stride / width,
    )


def sample_width(stride: int, runs: int) -> timedelta:
    """Return how much of every `stride` seconds may be read for a window with this many runs."""
    share = min(1.0, SAMPLED_RUNS_MAX / max(runs, 1))
    return max(SECOND, SECOND * stride * share)


def _figures(start: datetime, rows: Sequence[TaskEnding], factor: float) -> TaskStatistics:
    ended: Counter[RunState] = Counter()
    waits: Counter[int] = Counter()
    durations: Counter[int] = Counter()
    for row in rows:
        ended[row.state] += row.number
        _add(waits, row.wait_bins, row.wait_counts)
        _add(durations, row.duration_bins, row.duration_counts)
    return TaskStatistics(
        start=start,
        ended={state: round(number * factor) for state, number in ended.items()},
        duration_p50=compute_quantile(durations, 0.5),
        duration_p99=compute_quantile(durations, 0.99),
        wait_p50=compute_quantile(waits, 0.5),
        wait_p99=compute_quantile(waits, 0.99),
    )


def _add(counts: Counter[int], places: list[int] | None, numbers: list[int] | None) -> None:
    # A bin occurs once per slice and per bin of the other measure.
    for place, number in zip(places or (), numbers or (), strict=True):
        counts[place] += number
