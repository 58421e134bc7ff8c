"""Reads the metrics of one tenant, for keys without the platform role (O5).

Every series counts runs, jobs and queues of the tenant alone. Processes, shards, the database and
the counters of this process belong to the installation (cluster_metrics.py, meter.py) and are not
included.
"""

from datetime import timedelta
from typing import Final

from rota.core.states import FINAL_STATES, JobState
from rota.engine.observability import statistics
from rota.engine.observability.exposition import (
    LABEL_VALUES_MAX,
    OTHER_LABEL,
    MetricFamily,
    build_gauge,
    build_gauges,
)
from rota.engine.observability.statistics import Overview
from rota.store import metrics_queries
from rota.store.driver import Connection
from rota.store.metrics_queries import QueueDepth
from rota.store.pool import read_database_time

RECENT_WINDOW: Final = timedelta(minutes=5)


async def read_tenant(conn: Connection, *, tenant_id: int) -> list[MetricFamily]:
    """Read the metrics of a tenant, from a connection in its row-level security scope."""
    now = await read_database_time(conn)
    found = await statistics.read_overview(conn, tenant_id=tenant_id, since=now - RECENT_WINDOW)
    running = await metrics_queries.count_running(conn, tenant_id=tenant_id)
    jobs = await metrics_queries.count_tenant_jobs(conn, tenant_id=tenant_id)
    return [
        build_gauge("rota_database_up", "1 if the database answered.", 1),
        build_gauge("rota_runs_running", "Runs of the tenant that a worker holds.", running),
        *_queues(found),
        build_gauges(
            "rota_jobs",
            "Jobs of the tenant by state, without deleted ones.",
            "state",
            {
                state.value: jobs.get(state, 0)
                for state in JobState
                if state is not JobState.DELETED
            },
        ),
        *_recent(found),
    ]


def _queues(found: Overview) -> list[MetricFamily]:
    named, rest = found.queues[:LABEL_VALUES_MAX], found.queues[LABEL_VALUES_MAX:]
    waiting = {depth.queue: float(depth.ready) for depth in named}
    oldest = {depth.queue: _waited(depth, found) for depth in named}
    if rest:
        waiting[OTHER_LABEL] = waiting.get(OTHER_LABEL, 0) + sum(depth.ready for depth in rest)
        oldest[OTHER_LABEL] = max(
            oldest.get(OTHER_LABEL, 0.0), *(_waited(depth, found) for depth in rest)
        )
    about = "Waiting runs of the tenant that are ready, by queue."
    since = "Wait of the tenant's oldest ready run, by queue."
    return [
        build_gauges("rota_runs_waiting", about, "queue", waiting),
        build_gauges("rota_run_oldest_wait_seconds", since, "queue", oldest),
        build_gauge("rota_late_ticks", "Ticks of the tenant that are overdue.", found.late_ticks),
    ]


def _recent(found: Overview) -> list[MetricFamily]:
    times = found.times
    ended = {state.value: float(found.ended.get(state, 0)) for state in sorted(FINAL_STATES)}
    about = "Runs of the tenant that ended within the last five minutes, by state."
    return [
        build_gauges("rota_recent_runs", about, "state", ended),
        _quantiles("wait", "from due to started", times.lag_p50, times.lag_p99),
        _quantiles("duration", "of last attempts", times.duration_p50, times.duration_p99),
    ]


def _quantiles(what: str, about: str, p50: timedelta | None, p99: timedelta | None) -> MetricFamily:
    """Return no series while there is nothing to measure."""
    measured = {"0.5": p50, "0.99": p99}
    return build_gauges(
        f"rota_recent_{what}_seconds",
        f"Seconds {about}; the tenant's newest runs of the last five minutes.",
        "quantile",
        {name: value.total_seconds() for name, value in measured.items() if value is not None},
    )


def _waited(depth: QueueDepth, found: Overview) -> float:
    return 0.0 if depth.oldest_at is None else (found.now - depth.oldest_at).total_seconds()
