"""What `rota bench` asks beyond what Rota asks: databases of its own, and what was measured.

Room: store. Nobody else uses it. The statements that make and drop databases are composed, since
DDL takes no parameters; their only variable part is a name that Python made.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from rota.core.errors import StoreFailed, StoreRefused
from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.translate import translated


class Busy(NamedTuple):
    is_busy: bool


class Span(NamedTuple):
    """The runs of a kind that succeeded, by the database's clock; no times without any."""

    finished: int
    first_due: datetime | None
    first_start: datetime | None
    last_finish: datetime | None


class Lags(NamedTuple):
    lags: list[int] | None


class Tenant(NamedTuple):
    id: int


class Ticks(NamedTuple):
    ticks: int


class Restarts(NamedTuple):
    """`last_start` in microseconds since 1970; None without any run."""

    runs: int
    ticks: int
    attempts: int
    last_start: int | None


class Shares(NamedTuple):
    holders: int
    fewest: int


class Written(NamedTuple):
    """Rows of submissions, jobs and what belongs to them, and bytes of the write-ahead log."""

    written_rows: int
    wal_bytes: int


class Running(NamedTuple):
    running: int


IS_BUSY = statement("benchmark/is_busy", Busy)
SPAN = statement("benchmark/span", Span)
LAGS = statement("benchmark/lags", Lags)
ACCOUNTED = statement("benchmark/accounted", Ticks)
RESTARTS = statement("benchmark/restarts", Restarts)
SHARE_OUT = statement("benchmark/share_out", Shares)
WRITTEN = statement("benchmark/written", Written)
COUNT_RUNNING = statement("benchmark/count_running", Running)
MAKE_TENANT = statement("benchmark/make_tenant", Tenant)

SETTLED: Final = ("live_runs", "scheduled_runs", "cursors", "jobs")


def with_database(url: str, name: str) -> str:
    """The same server, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


async def create_database(conn: Connection, name: str, *, template: str = "template1") -> None:
    with translated(conn):
        await conn.execute(f"create database {name} template {template}")


async def drop_database(conn: Connection, name: str) -> None:
    """Drop a database and close the connections to it.

    A login that is no superuser may not terminate an autovacuum worker, so PostgreSQL refuses to
    drop by force while one works in the database. Without force it stops that worker itself.
    """
    try:
        with translated(conn):
            await conn.execute(f"drop database if exists {name} with (force)")
    except StoreRefused:
        with translated(conn):
            await conn.execute(f"drop database if exists {name}")


async def settle(conn: Connection) -> None:
    """Bring the tables into the state of a server that has been up for a while."""
    with translated(conn):
        for table in SETTLED:
            await conn.execute(f"vacuum (analyze) rota.{table}")
    try:
        with translated(conn):
            await conn.execute("checkpoint")
    except StoreFailed:
        # A role without the right to it: the server has its checkpoints when it likes.
        return


async def make_tenant(conn: Connection, name: str) -> None:
    await MAKE_TENANT.one(conn, name=name)


async def written(conn: Connection) -> Written:
    """How much was written so far; the difference of two answers is what lay between them."""
    row = await WRITTEN.one(conn)
    return row or Written(0, 0)


async def is_busy(conn: Connection, *, before: datetime) -> bool:
    row = await IS_BUSY.one(conn, before=before)
    return row is not None and row.is_busy


async def span(conn: Connection, *, kind_id: int) -> Span:
    row = await SPAN.one(conn, kind_id=kind_id)
    return row or Span(0, None, None, None)


async def lags(
    conn: Connection, *, kind_id: int, since: datetime, until: datetime
) -> Sequence[int]:
    """Microseconds from due to started, of the runs whose tick lies in [since, until)."""
    row = await LAGS.one(conn, kind_id=kind_id, since=since, until=until)
    return (row.lags if row else None) or ()


async def accounted(conn: Connection, *, kind_id: int, since: datetime, until: datetime) -> int:
    """The ticks in [since, until) that are on record: run, or passed over for a reason."""
    row = await ACCOUNTED.one(conn, kind_id=kind_id, since=since, until=until)
    return row.ticks if row else 0


async def restarts(conn: Connection, *, kind_id: int, since: datetime, until: datetime) -> Restarts:
    """What became of the runs of a kind that were due in [since, until)."""
    row = await RESTARTS.one(conn, kind_id=kind_id, since=since, until=until)
    return row or Restarts(0, 0, 0, None)


async def shares(conn: Connection) -> Shares:
    """How the shards are dealt among the schedulers."""
    return await SHARE_OUT.one(conn) or Shares(0, 0)


async def running(conn: Connection, *, kind_id: int) -> int:
    row = await COUNT_RUNNING.one(conn, kind_id=kind_id)
    return row.running if row else 0
