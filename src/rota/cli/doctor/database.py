"""The database: reachable, fit, migrated, its clock, its connections. Room: cli/doctor."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from rota.cli import times
from rota.cli.doctor.findings import (
    START_SCHEDULER,
    START_WORKER,
    Finding,
    bad,
    ok,
    several,
    warning,
)
from rota.cli.doctor.roles import check_roles
from rota.config.database import Database
from rota.core.clock import CLOCK_OFFSET_LIMIT, CLOCK_OFFSET_WARNING
from rota.core.errors import RotaError, SchemaMismatch, StoreRefused
from rota.core.time.durations import words
from rota.store import figures
from rota.store.driver import Connection
from rota.store.embedded.endpoint import published
from rota.store.embedded.home import Home
from rota.store.figures import Cluster, TableSize
from rota.store.fitness import check_server, database_time
from rota.store.migrate import schema_is_current
from rota.store.pool import Access, open_connection

MOST_USED: Final = 0.8
MIGRATE: Final = "run `rota migrate`"
LATE: Final = timedelta(seconds=30)
LARGEST_TABLES: Final = 5


async def check_database(settings: Database) -> AsyncIterator[Finding]:
    """Everything that the database itself can tell."""
    url = url_of(settings)
    if isinstance(url, Finding):
        yield url
        return
    try:
        access = Access(url=url, name="rota doctor", connect=settings.connect_timeout)
        async with open_connection(access) as conn:
            async for finding in examine(conn, is_embedded=settings.url is None):
                yield finding
    except StoreRefused as error:
        yield bad("database", error.reason, error.remedy)
    except RotaError as error:
        remedy = "start the server, or correct ROTA_DATABASE_URL or database.url"
        yield bad("database", str(error), remedy)


def url_of(settings: Database) -> str | Finding:
    """Where the database is; an embedded one that does not run is not started."""
    if settings.url is not None:
        return settings.url
    home = Home(path=settings.data.resolve())
    if not home.data.is_dir():
        detail = f"there is none in {settings.data}, and no server is named"
        return warning("database", detail, "`rota up` makes one, ROTA_DATABASE_URL names one")
    endpoint = published(home)
    if endpoint is None or not endpoint.is_open():
        detail = f"the embedded PostgreSQL in {settings.data} does not run"
        return warning("database", detail, "`rota up` starts it")
    try:
        return endpoint.url(home.password.read_text(encoding="utf-8").strip())
    except OSError as error:
        detail = f"{home.password} cannot be read: {error.strerror}"
        return bad("database", detail, "ask as the user who runs Rota")


async def examine(conn: Connection, *, is_embedded: bool) -> AsyncIterator[Finding]:
    server = await check_server(conn)
    yield ok("database", f"PostgreSQL {server.shown_version} answers, and keeps what it confirms")
    try:
        is_current = await schema_is_current(conn)
    except SchemaMismatch as error:
        yield bad("schema", error.reason, error.remedy)
        return
    if not is_current:
        yield bad("schema", "migrations are missing", MIGRATE)
        return
    yield ok("schema", "up to date")
    async for finding in check_roles(conn, is_embedded=is_embedded):
        yield finding
    yield clock(await database_time(conn), times.now())
    yield await connections(conn)
    yield describe_sizes(await figures.table_sizes(conn))
    cluster = await figures.cluster(conn)
    if cluster is not None:
        for finding in processes(cluster):
            yield finding


def clock(theirs: datetime, ours: datetime) -> Finding:
    apart = abs(theirs - ours)
    said = f"this machine's and the database's are {words(round_to_ms(apart))} apart"
    remedy = "let NTP set both clocks"
    if apart > CLOCK_OFFSET_LIMIT:
        return bad("clock", said, remedy)
    return warning("clock", said, remedy) if apart > CLOCK_OFFSET_WARNING else ok("clock", said)


def round_to_ms(length: timedelta) -> timedelta:
    return timedelta(milliseconds=round(length.total_seconds() * 1000))


async def connections(conn: Connection) -> Finding:
    rows = await figures.connections(conn)
    used = sum(row.number for row in rows)
    most = max((row.most for row in rows), default=0)
    said = f"{used} of {most} connections are used"
    if most and used > MOST_USED * most:
        remedy = "raise max_connections, lower api.connections, or run fewer processes"
        return warning("connections", said, remedy)
    return ok("connections", said)


def describe_sizes(rows: Sequence[TableSize]) -> Finding:
    """Say how large the tables are, and which are the largest."""
    total = sum(row.bytes for row in rows)
    largest = ", ".join(f"{row.relation} {show_bytes(row.bytes)}" for row in rows[:LARGEST_TABLES])
    return ok("tables", f"{show_bytes(total)} in all: {largest}")


def show_bytes(number: int) -> str:
    """Write a size with the largest decimal unit of which there is at least one."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} bytes"


def processes(cluster: Cluster) -> list[Finding]:
    """Of the whole installation, whoever's key asks."""
    found = []
    if cluster.schedulers == 0:
        found.append(bad("schedulers", "none is alive: no job fires", START_SCHEDULER))
    else:
        found.append(ok("schedulers", f"{several(cluster.schedulers, 'scheduler')} alive"))
        if cluster.shards_unowned:
            said = f"{several(cluster.shards_unowned, 'shard')} without a scheduler"
            remedy = "wait a few seconds; if it stays, look at the schedulers' logs"
            found.append(warning("shards", said, remedy))
    if cluster.workers == 0:
        found.append(bad("workers", "none is alive: no run starts", START_WORKER))
    else:
        said = f"{several(cluster.workers, 'worker')} alive, {cluster.busy} of {cluster.slots} busy"
        found.append(ok("workers", said))
    if cluster.fire_lag > LATE:
        said = f"ticks wait that are {words(round_to_ms(cluster.fire_lag))} late"
        remedy = "start schedulers, or look at the logs of those that are alive"
        found.append(bad("ticks", said, remedy))
    else:
        found.append(ok("ticks", "none waits that should have been fired"))
    return found
