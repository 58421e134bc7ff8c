"""The state of the cluster as gauges of Prometheus, asked of the database (O5). Room: flow/observe.

Every process answers the same, because the database knows; so it matters little which is scraped.
What a page costs and how many series it has is bounded: no tenant, no job and no run is a label,
and of queues and schedulers the greatest 50 are named. What this process did is meter.py.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from rota.core.errors import StoreFailed, StoreUnavailable
from rota.core.states import BAD, FINAL, RunState
from rota.flow.observe.exposition import Family, Sample, Sort, gauge, gauges, render
from rota.flow.observe.meter import MOST_VALUES, OTHER, Meter
from rota.store import figures
from rota.store.driver import Connection
from rota.store.figures import Cluster, Connections, Owner, Queue, Recent, TableSize

DAY: Final = timedelta(days=1)
RECENT: Final = timedelta(minutes=5)
TABLES_MAX: Final = 12

__all__ = ["Meter", "gather", "without_database"]


async def gather(conn: Connection) -> str:
    """The page of the cluster. A database that is away makes a short one, not an error."""
    try:
        return render(await _families(conn))
    except (StoreUnavailable, StoreFailed):
        return without_database()


def without_database() -> str:
    """The page when not even a connection can be had."""
    return render(_about(is_up=False))


async def _families(conn: Connection) -> list[Family]:
    cluster = await figures.cluster(conn)
    if cluster is None:
        return _about(is_up=False)
    return [
        *_about(is_up=True),
        *_cluster(cluster),
        *_queues(await figures.queues(conn)),
        _shards(await figures.shard_owners(conn)),
        gauges(
            "rota_jobs",
            "Jobs by state, without deleted ones. Above 100,000 guessed from the planner's "
            "statistics, which may overlook a state that is rare.",
            "state",
            {state.value: number for state, number in (await figures.jobs(conn)).items()},
        ),
        _dead_letters(
            {row.state: row.number for row in await figures.bad(conn, since=cluster.now - DAY)}
        ),
        *_recent(await figures.recent(conn, since=cluster.now - RECENT)),
        *_connections(await figures.connections(conn)),
        *_table_sizes(await figures.table_sizes(conn)),
    ]


def _about(*, is_up: bool) -> list[Family]:
    build = Sample(1, (("version", build_version()),))
    return [
        Family(
            name="rota_build_info",
            sort=Sort.GAUGE,
            about="Always 1; the version is the label.",
            samples=(build,),
        ),
        gauge("rota_database_up", "1 if the database answered.", is_up),
    ]


def _cluster(row: Cluster) -> list[Family]:
    return [
        gauge("rota_runs_running", "Runs that a worker holds.", row.running),
        gauge("rota_workers", "Live workers.", row.workers),
        gauge("rota_workers_draining", "Live workers that take no more runs.", row.draining),
        gauge("rota_schedulers", "Live schedulers.", row.schedulers),
        gauge("rota_worker_slots", "Slots of all live workers.", row.slots),
        gauge("rota_worker_slots_busy", "Slots of live workers that hold a run.", row.busy),
        gauge("rota_shards_unowned", "Shards that no scheduler holds.", row.shards_unowned),
        gauge(
            "rota_fire_lag_seconds",
            "How long the most overdue tick or submission has waited for a scheduler.",
            row.fire_lag.total_seconds(),
        ),
    ]


def _queues(rows: Sequence[Queue]) -> list[Family]:
    waiting = {row.queue: float(row.waiting) for row in rows[:MOST_VALUES]}
    oldest = {row.queue: _seconds(row.oldest_wait) for row in rows[:MOST_VALUES]}
    rest = rows[MOST_VALUES:]
    if rest:
        # A queue may be called so, too; then it shares the series.
        waiting[OTHER] = waiting.get(OTHER, 0) + sum(row.waiting for row in rest)
        oldest[OTHER] = max(oldest.get(OTHER, 0), *(_seconds(row.oldest_wait) for row in rest))
    return [
        gauges(
            "rota_runs_waiting",
            "Runs that are ready and wait, by queue; of each queue at most 100,000 with limits "
            "and 100,000 without are counted.",
            "queue",
            waiting,
        ),
        gauges(
            "rota_run_oldest_wait_seconds",
            "How long the oldest run that is ready has waited, by queue.",
            "queue",
            oldest,
        ),
    ]


def _shards(rows: Sequence[Owner]) -> Family:
    owned = {row.scheduler: float(row.shards) for row in rows[:MOST_VALUES]}
    rest = rows[MOST_VALUES:]
    if rest:
        owned[OTHER] = owned.get(OTHER, 0) + sum(row.shards for row in rest)
    return gauges("rota_shards_owned", "Shards held, by scheduler.", "scheduler", owned)


def _dead_letters(found: dict[RunState, int]) -> Family:
    return gauges(
        "rota_dead_letters",
        "Runs due within 24 hours that ended as dead letters and were not replayed, by state.",
        "state",
        {state.value: found.get(state, 0) for state in sorted(BAD)},
    )


def _recent(rows: Sequence[Recent]) -> list[Family]:
    numbers = {row.state: row.number for row in rows if row.state is not None}
    found = [
        gauges(
            "rota_recent_runs",
            "Runs that ended within five minutes, by state; of the newest 10,000.",
            "state",
            {state.value: numbers.get(state.value, 0) for state in sorted(FINAL)},
        )
    ]
    for row in rows:
        if row.state is None:
            found += [
                _quantiles("wait", "lag, from when it could start on", row.lag_p50, row.lag_p99),
                _quantiles("duration", "of last attempts", row.duration_p50, row.duration_p99),
            ]
    return found


def _quantiles(what: str, about: str, p50: timedelta | None, p99: timedelta | None) -> Family:
    """No series while there is nothing to measure: 0 would look like a good figure."""
    measured = {"0.5": p50, "0.99": p99}
    return gauges(
        f"rota_recent_{what}_seconds",
        f"Seconds {about}, of the newest 10,000 runs that ended within five minutes.",
        "quantile",
        {name: _seconds(value) for name, value in measured.items() if value is not None},
    )


def _connections(rows: Sequence[Connections]) -> list[Family]:
    return [
        gauges(
            "rota_database_connections",
            "Connections to the database, by what they do.",
            "state",
            {row.state: row.number for row in rows},
        ),
        gauge(
            "rota_database_connections_max",
            "Connections that the database server allows.",
            max((row.most for row in rows), default=0),
        ),
    ]


def _table_sizes(rows: Sequence[TableSize]) -> list[Family]:
    """The largest tables by name, and the rest together."""
    named, rest = rows[:TABLES_MAX], rows[TABLES_MAX:]
    sizes = {row.relation: float(row.bytes) for row in named}
    numbers = {row.relation: float(row.estimated_rows) for row in named}
    if rest:
        sizes[OTHER] = sum(row.bytes for row in rest)
        numbers[OTHER] = sum(row.estimated_rows for row in rest)
    return [
        gauges(
            "rota_table_bytes",
            "Size of each of the largest tables with its indexes and partitions.",
            "table",
            sizes,
        ),
        gauges(
            "rota_table_rows",
            "Rows of the same tables, as the database's planner estimates them.",
            "table",
            numbers,
        ),
    ]


def _seconds(length: timedelta | None) -> float:
    return 0.0 if length is None else length.total_seconds()


@cache
def build_version() -> str:
    try:
        return version("rota")
    except PackageNotFoundError:
        return "unknown"
