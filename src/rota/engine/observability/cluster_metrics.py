"""Renders the state of the cluster as Prometheus gauges, read from the database (O5).

Every process returns the same values, because they come from the database; so any one may be
scraped. The cost of a page and its number of series are bounded: no tenant, job or run is a label,
and only the largest 50 queues and schedulers are named. meter.py has the counters of this process.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from rota.core.errors import StoreFailed, StoreUnavailable
from rota.core.states import DEAD_LETTER_STATES, FINAL_STATES, RunState
from rota.engine.observability.exposition import (
    MetricFamily,
    MetricType,
    Sample,
    build_gauge,
    build_gauges,
    render_families,
)
from rota.engine.observability.meter import LABEL_VALUES_MAX, OTHER_LABEL, Meter
from rota.store import metrics_queries
from rota.store.driver import Connection
from rota.store.metrics_queries import (
    ClusterMetrics,
    ConnectionCount,
    QueueBacklog,
    RecentRuns,
    ShardOwner,
    TableSize,
)

DEAD_LETTER_WINDOW: Final = timedelta(days=1)
RECENT_WINDOW: Final = timedelta(minutes=5)
TABLES_MAX: Final = 12

__all__ = ["Meter", "render_cluster", "render_without_database"]


async def render_cluster(conn: Connection) -> str:
    """Return the page of the cluster, or a short page if the database is down."""
    try:
        return render_families(await _families(conn))
    except (StoreUnavailable, StoreFailed):
        return render_without_database()


def render_without_database() -> str:
    """Return the page for when no connection is available."""
    return render_families(_about(is_up=False))


async def _families(conn: Connection) -> list[MetricFamily]:
    cluster = await metrics_queries.read_cluster(conn)
    if cluster is None:
        return _about(is_up=False)
    return [
        *_about(is_up=True),
        *_cluster(cluster),
        *_queues(await metrics_queries.read_queues(conn)),
        _shards(await metrics_queries.read_shard_owners(conn)),
        build_gauges(
            "rota_jobs",
            "Jobs by state, without deleted ones. Above 100,000, estimated from the planner's "
            "statistics, which may miss a rare state.",
            "state",
            {
                state.value: number
                for state, number in (await metrics_queries.count_jobs(conn)).items()
            },
        ),
        _dead_letters(
            {
                row.state: row.number
                for row in await metrics_queries.count_dead_letters(
                    conn, since=cluster.now - DEAD_LETTER_WINDOW
                )
            }
        ),
        *_recent(await metrics_queries.read_recent(conn, since=cluster.now - RECENT_WINDOW)),
        *_connections(await metrics_queries.count_connections(conn)),
        *_table_sizes(await metrics_queries.read_table_sizes(conn)),
    ]


def _about(*, is_up: bool) -> list[MetricFamily]:
    build = Sample(1, (("version", read_version()),))
    return [
        MetricFamily(
            name="rota_build_info",
            metric_type=MetricType.GAUGE,
            help_text="Always 1; the version is the label.",
            samples=(build,),
        ),
        build_gauge("rota_database_up", "1 if the database responded.", is_up),
    ]


def _cluster(row: ClusterMetrics) -> list[MetricFamily]:
    return [
        build_gauge("rota_runs_running", "Runs that a worker holds.", row.running),
        build_gauge("rota_workers", "Live workers.", row.workers),
        build_gauge("rota_workers_draining", "Live workers that are draining.", row.draining),
        build_gauge("rota_schedulers", "Live schedulers.", row.schedulers),
        build_gauge("rota_worker_slots", "Slots of all live workers.", row.slots),
        build_gauge("rota_worker_slots_busy", "Slots of live workers that hold a run.", row.busy),
        build_gauge("rota_shards_unowned", "Shards that no scheduler holds.", row.shards_unowned),
        build_gauge(
            "rota_fire_lag_seconds",
            "Delay of the most overdue tick or submission.",
            row.fire_lag.total_seconds(),
        ),
    ]


def _queues(rows: Sequence[QueueBacklog]) -> list[MetricFamily]:
    waiting = {row.queue: float(row.waiting) for row in rows[:LABEL_VALUES_MAX]}
    oldest = {row.queue: _seconds(row.oldest_wait) for row in rows[:LABEL_VALUES_MAX]}
    rest = rows[LABEL_VALUES_MAX:]
    if rest:
        # A queue may have this name too; then it shares the series.
        waiting[OTHER_LABEL] = waiting.get(OTHER_LABEL, 0) + sum(row.waiting for row in rest)
        oldest[OTHER_LABEL] = max(
            oldest.get(OTHER_LABEL, 0), *(_seconds(row.oldest_wait) for row in rest)
        )
    return [
        build_gauges(
            "rota_runs_waiting",
            "Waiting runs that are ready, by queue; counts at most 100,000 with limits "
            "and 100,000 without per queue.",
            "queue",
            waiting,
        ),
        build_gauges(
            "rota_run_oldest_wait_seconds",
            "Wait of the oldest ready run, by queue.",
            "queue",
            oldest,
        ),
    ]


def _shards(rows: Sequence[ShardOwner]) -> MetricFamily:
    owned = {row.scheduler: float(row.shards) for row in rows[:LABEL_VALUES_MAX]}
    rest = rows[LABEL_VALUES_MAX:]
    if rest:
        owned[OTHER_LABEL] = owned.get(OTHER_LABEL, 0) + sum(row.shards for row in rest)
    return build_gauges("rota_shards_owned", "Shards held, by scheduler.", "scheduler", owned)


def _dead_letters(found: dict[RunState, int]) -> MetricFamily:
    return build_gauges(
        "rota_dead_letters",
        "Runs due within the last 24 hours that are dead letters and were not requeued, by state.",
        "state",
        {state.value: found.get(state, 0) for state in sorted(DEAD_LETTER_STATES)},
    )


def _recent(rows: Sequence[RecentRuns]) -> list[MetricFamily]:
    numbers = {row.state: row.number for row in rows if row.state is not None}
    found = [
        build_gauges(
            "rota_recent_runs",
            "Runs that ended within the last five minutes, by state; newest 10,000 only.",
            "state",
            {state.value: numbers.get(state.value, 0) for state in sorted(FINAL_STATES)},
        )
    ]
    for row in rows:
        if row.state is None:
            found += [
                _quantiles("wait", "of lag, from when a run could start", row.lag_p50, row.lag_p99),
                _quantiles("duration", "of last attempts", row.duration_p50, row.duration_p99),
            ]
    return found


def _quantiles(what: str, about: str, p50: timedelta | None, p99: timedelta | None) -> MetricFamily:
    """Return no series while there is nothing to measure: 0 would look like a good value."""
    measured = {"0.5": p50, "0.99": p99}
    return build_gauges(
        f"rota_recent_{what}_seconds",
        f"Seconds {about}; newest 10,000 runs that ended within the last five minutes.",
        "quantile",
        {name: _seconds(value) for name, value in measured.items() if value is not None},
    )


def _connections(rows: Sequence[ConnectionCount]) -> list[MetricFamily]:
    return [
        build_gauges(
            "rota_database_connections",
            "Connections to the database, by state.",
            "state",
            {row.state: row.number for row in rows},
        ),
        build_gauge(
            "rota_database_connections_max",
            "Connections that the database server allows.",
            max((row.most for row in rows), default=0),
        ),
    ]


def _table_sizes(rows: Sequence[TableSize]) -> list[MetricFamily]:
    """Return the largest tables by name, and the others summed up."""
    named, rest = rows[:TABLES_MAX], rows[TABLES_MAX:]
    sizes = {row.relation: float(row.bytes) for row in named}
    numbers = {row.relation: float(row.estimated_rows) for row in named}
    if rest:
        sizes[OTHER_LABEL] = sum(row.bytes for row in rest)
        numbers[OTHER_LABEL] = sum(row.estimated_rows for row in rest)
    return [
        build_gauges(
            "rota_table_bytes",
            "Size of each of the largest tables with its indexes and partitions.",
            "table",
            sizes,
        ),
        build_gauges(
            "rota_table_rows",
            "Estimated rows of the same tables.",
            "table",
            numbers,
        ),
    ]


def _seconds(length: timedelta | None) -> float:
    return 0.0 if length is None else length.total_seconds()


@cache
def read_version() -> str:
    try:
        return version("rota")
    except PackageNotFoundError:
        return "unknown"
