"""Builds the state of the cluster as Prometheus gauges, read from the database (O5).

Every API process returns the same values, because they come from the database; so scrape any one.
The cost of a page and its number of series are bounded: no tenant, job or run is a label, and only
the largest 50 queues and schedulers are named. A page is read once at a time and kept for five
seconds, however often it is scraped. meter.py has the metrics of this process.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.core.errors import StoreFailed, StoreUnavailable
from rota.core.states import DEAD_LETTER_STATES, FINAL_STATES, RunState
from rota.engine.observability.exposition import (
    LABEL_VALUES_MAX,
    OTHER_LABEL,
    MetricFamily,
    build_gauge,
    build_gauges,
)
from rota.store import metrics_queries
from rota.store.driver import Connection, ConnectionSource
from rota.store.metrics_queries import (
    ClusterMetrics,
    ConnectionCount,
    OpenIncidentCount,
    QueueBacklog,
    QueueDemand,
    RecentRuns,
    RelayLag,
    ShardOwner,
    TableSize,
)

DEAD_LETTER_WINDOW: Final = timedelta(days=1)
RECENT_WINDOW: Final = timedelta(minutes=5)
TABLES_MAX: Final = 12
DATABASE_UP: Final = "rota_database_up"

# How long a page is used again.
PAGE_LIFETIME_S: Final = 5.0
SEVERITIES: Final = ("info", "warning", "page")


@dataclass(slots=True, kw_only=True)
class ClusterPage:
    """The metrics of the cluster, read once at a time and kept for `PAGE_LIFETIME_S`."""

    source: ConnectionSource
    monotonic: Callable[[], float]
    _families: list[MetricFamily] = field(default_factory=list)
    _read_at: float = float("-inf")
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read_families(self) -> list[MetricFamily]:
        """Return the metrics, or those of an outage if the database does not answer."""
        async with self._reading:
            if self.monotonic() - self._read_at >= PAGE_LIFETIME_S:
                try:
                    async with self.source.acquire() as conn:
                        self._families = await read_cluster_families(conn)
                except (StoreUnavailable, StoreFailed):
                    return build_outage_families()
                self._read_at = self.monotonic()
            return self._families


def build_outage_families() -> list[MetricFamily]:
    """Return the metrics for when the database does not answer."""
    return [build_database_up(is_up=False)]


def build_database_up(*, is_up: bool) -> MetricFamily:
    return build_gauge(DATABASE_UP, "1 if the database answered.", is_up)


async def read_cluster_families(conn: Connection) -> list[MetricFamily]:
    """Read the metrics of the cluster."""
    cluster = await metrics_queries.read_cluster(conn)
    if cluster is None:
        return build_outage_families()
    return [
        build_database_up(is_up=True),
        *_cluster(cluster),
        *_queues(await metrics_queries.read_queues(conn)),
        _demands(await metrics_queries.read_demands(conn)),
        build_gauges(
            "rota_queue_workers",
            "Live workers that serve a queue and are not draining, by queue.",
            "queue",
            {
                row.queue: row.workers
                for row in await metrics_queries.read_queue_workers(conn, limit=LABEL_VALUES_MAX)
            },
        ),
        _relays(await metrics_queries.read_relay_lags(conn)),
        _incidents(await metrics_queries.count_open_incidents(conn)),
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
        _recent(await metrics_queries.read_recent(conn, since=cluster.now - RECENT_WINDOW)),
        *_connections(await metrics_queries.count_connections(conn)),
        *_table_sizes(await metrics_queries.read_table_sizes(conn)),
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


def _demands(rows: Sequence[QueueDemand]) -> MetricFamily:
    demands = {row.queue: float(row.total) for row in rows[:LABEL_VALUES_MAX]}
    rest = rows[LABEL_VALUES_MAX:]
    if rest:
        demands[OTHER_LABEL] = demands.get(OTHER_LABEL, 0) + sum(row.total for row in rest)
    return build_gauges(
        "rota_queue_demand",
        "Slots that a queue could use: ready and running runs, and those due within 60 seconds.",
        "queue",
        demands,
    )


def _relays(rows: Sequence[RelayLag]) -> MetricFamily:
    return build_gauges(
        "rota_relay_lag_seconds",
        "How far the event relay and each sink are behind, by name.",
        "relay",
        {row.name: max(0.0, row.lag.total_seconds()) for row in rows[:LABEL_VALUES_MAX]},
    )


def _incidents(rows: Sequence[OpenIncidentCount]) -> MetricFamily:
    numbers = {row.severity: row.number for row in rows}
    return build_gauges(
        "rota_incidents_open",
        "Incidents that are not resolved, by severity.",
        "severity",
        {severity: numbers.get(severity, 0) for severity in SEVERITIES},
    )


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


def _recent(rows: Sequence[RecentRuns]) -> MetricFamily:
    numbers = {row.state: row.number for row in rows}
    return build_gauges(
        "rota_recent_runs",
        "Runs that ended within the last five minutes, by state; newest 10,000 only.",
        "state",
        {state.value: numbers.get(state.value, 0) for state in sorted(FINAL_STATES)},
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
    dead = {row.relation: float(row.dead_rows) for row in named}
    if rest:
        dead[OTHER_LABEL] = sum(row.dead_rows for row in rest)
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
        build_gauges(
            "rota_table_dead_tuples",
            "Dead rows of the same tables, which vacuum has not removed yet.",
            "table",
            dead,
        ),
    ]


def _seconds(length: timedelta | None) -> float:
    return 0.0 if length is None else length.total_seconds()
