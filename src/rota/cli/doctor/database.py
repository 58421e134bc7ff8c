"""Checks the database: reachable, supported, migrated, clock, connections, processes."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from rota.cli import times
from rota.cli.doctor.findings import (
    START_SCHEDULER,
    START_WORKER,
    DoctorFinding,
    bad,
    format_count,
    ok,
    warning,
)
from rota.cli.doctor.roles import check_roles
from rota.config.database import DatabaseSettings
from rota.core.clock import CLOCK_OFFSET_LIMIT, CLOCK_OFFSET_WARNING
from rota.core.errors import RotaError, SchemaMismatch, StoreRefused
from rota.core.time.durations import to_words
from rota.store import metrics_queries
from rota.store.driver import Connection
from rota.store.embedded.endpoint import read_endpoint
from rota.store.embedded.home import EmbeddedHome
from rota.store.metrics_queries import ClusterMetrics, TableSize
from rota.store.pool import DatabaseAccess, check_server, open_connection, read_database_time
from rota.store.schema_migration import is_schema_current

USED_CONNECTIONS_WARNING: Final = 0.8
MIGRATE_REMEDY: Final = "run `rota migrate`"
TICK_LAG_MAX: Final = timedelta(seconds=30)
LARGEST_TABLES: Final = 5


async def check_database(settings: DatabaseSettings) -> AsyncIterator[DoctorFinding]:
    """Run the checks that read the database directly."""
    url = find_url(settings)
    if isinstance(url, DoctorFinding):
        yield url
        return
    try:
        access = DatabaseAccess(
            url=url, name="rota doctor", connect_timeout=settings.connect_timeout
        )
        async with open_connection(access) as conn:
            async for finding in check_connection(conn, is_embedded=settings.url is None):
                yield finding
    except StoreRefused as error:
        yield bad("database", error.reason, error.remedy)
    except RotaError as error:
        remedy = "start the server, or correct ROTA_DATABASE_URL or database.url"
        yield bad("database", str(error), remedy)


def find_url(settings: DatabaseSettings) -> str | DoctorFinding:
    """Return the URL of the database. A stopped embedded server stays stopped."""
    if settings.url is not None:
        return settings.url
    home = EmbeddedHome(path=settings.data.resolve())
    if not home.data.is_dir():
        detail = f"no database in {settings.data}, and no server is configured"
        return warning("database", detail, "create one with `rota up`, or set ROTA_DATABASE_URL")
    endpoint = read_endpoint(home)
    if endpoint is None or not endpoint.is_open():
        detail = f"the embedded PostgreSQL in {settings.data} is not running"
        return warning("database", detail, "start it with `rota up`")
    try:
        return endpoint.url(home.password.read_text(encoding="utf-8").strip())
    except OSError as error:
        detail = f"cannot read {home.password}: {error.strerror}"
        return bad("database", detail, "run `rota doctor` as the user that runs Rota")


async def check_connection(conn: Connection, *, is_embedded: bool) -> AsyncIterator[DoctorFinding]:
    server = await check_server(conn)
    yield ok("database", f"PostgreSQL {server.shown_version} is reachable and durable")
    try:
        is_current = await is_schema_current(conn)
    except SchemaMismatch as error:
        yield bad("schema", error.reason, error.remedy)
        return
    if not is_current:
        yield bad("schema", "migrations are missing", MIGRATE_REMEDY)
        return
    yield ok("schema", "up to date")
    async for finding in check_roles(conn, is_embedded=is_embedded):
        yield finding
    yield check_clock(await read_database_time(conn), times.now())
    yield await check_connections(conn)
    yield describe_sizes(await metrics_queries.read_table_sizes(conn))
    cluster = await metrics_queries.read_cluster(conn)
    if cluster is not None:
        for finding in check_processes(cluster):
            yield finding


def check_clock(database_now: datetime, local_now: datetime) -> DoctorFinding:
    apart = abs(database_now - local_now)
    detail = f"this machine and the database differ by {to_words(round_to_ms(apart))}"
    remedy = "synchronize both clocks with NTP"
    if apart > CLOCK_OFFSET_LIMIT:
        return bad("clock", detail, remedy)
    return warning("clock", detail, remedy) if apart > CLOCK_OFFSET_WARNING else ok("clock", detail)


def round_to_ms(length: timedelta) -> timedelta:
    return timedelta(milliseconds=round(length.total_seconds() * 1000))


async def check_connections(conn: Connection) -> DoctorFinding:
    rows = await metrics_queries.count_connections(conn)
    used = sum(row.number for row in rows)
    maximum = max((row.most for row in rows), default=0)
    detail = f"{used} of {maximum} connections in use"
    if maximum and used > USED_CONNECTIONS_WARNING * maximum:
        remedy = "raise max_connections, lower api.connections, or run fewer processes"
        return warning("connections", detail, remedy)
    return ok("connections", detail)


def describe_sizes(rows: Sequence[TableSize]) -> DoctorFinding:
    """Report the total size of the tables, and the largest ones."""
    total = sum(row.bytes for row in rows)
    largest = ", ".join(
        f"{row.relation} {format_bytes(row.bytes)}" for row in rows[:LARGEST_TABLES]
    )
    return ok("tables", f"{format_bytes(total)} in total; largest: {largest}")


def format_bytes(number: int) -> str:
    """Format a size with the largest decimal unit that it reaches."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} bytes"


def check_processes(cluster: ClusterMetrics) -> list[DoctorFinding]:
    """Check schedulers, shards, workers and ticks of the whole installation."""
    found = []
    if cluster.schedulers == 0:
        found.append(bad("schedulers", "none running; no job starts on schedule", START_SCHEDULER))
    else:
        found.append(ok("schedulers", f"{format_count(cluster.schedulers, 'scheduler')} running"))
        if cluster.shards_unowned:
            detail = f"{format_count(cluster.shards_unowned, 'shard')} without a scheduler"
            remedy = "wait a few seconds; if it persists, check the schedulers' logs"
            found.append(warning("shards", detail, remedy))
    if cluster.workers == 0:
        found.append(bad("workers", "none running; no run starts", START_WORKER))
    else:
        workers = format_count(cluster.workers, "worker")
        detail = f"{workers} running, {cluster.busy} of {cluster.slots} slots busy"
        found.append(ok("workers", detail))
    if cluster.fire_lag > TICK_LAG_MAX:
        detail = f"overdue by up to {to_words(round_to_ms(cluster.fire_lag))}"
        remedy = "start more schedulers, or check the logs of the running ones"
        found.append(bad("ticks", detail, remedy))
    else:
        found.append(ok("ticks", "none overdue"))
    return found
