"""Opens database connections with session settings, timeouts and keepalives.

Every operation that could hang has a limit: connecting, a statement, a lock, an idle transaction, a
silent peer. The hot pool also overrides the planner: its statements touch few rows of tables that
may be large, so a hash join or a sequential scan is always the wrong plan.

With several hosts, each has its own connect limit, and Rota uses only a host that accepts writes.
PostgreSQL reports that while connecting, so no extra query is needed. After a host has failed,
pools and dedicated connections close their connections to it on the next use.

Checks whether a PostgreSQL server may hold Rota's data.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, cast

import asyncpg

from rota.core.errors import RotaError, StoreRefused, StoreUnavailable
from rota.store.connection_usage import CONNECTION_REGISTRY, ConnectionTotals
from rota.store.driver import Connection, Pool
from rota.store.error_translation import translate_errors
from rota.store.host_connection import HostConnection
from rota.store.hosts import Host, HostList, parse_hosts
from rota.store.statement import statement

# Connect limit per host when there are several. Services that reach no host pause for at most 2 s,
# so they find a new primary within 4 s, whatever the other hosts do.
HOST_CONNECT_TIMEOUT: Final = timedelta(seconds=2)
# How long a silent server may exceed the limits that it enforces itself.
SILENCE_MARGIN: Final = timedelta(seconds=5)
# Releasing a connection may wait for a statement to be cancelled and for the reset.
RELEASE_TIMEOUT: Final = timedelta(seconds=3)


class ReadOnlyState(NamedTuple):
    is_read_only: bool


IS_READ_ONLY = statement("server/is_read_only", ReadOnlyState)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseAccess:
    """The database URL and the timeouts of its connections.

    All connections of one Access share what they learn about its hosts.
    """

    url: str
    name: str = "rota"
    connect_timeout: timedelta = timedelta(seconds=10)
    statement_timeout: timedelta = timedelta(seconds=5)
    lock_timeout: timedelta = timedelta(seconds=2)
    idle_in_transaction_timeout: timedelta = timedelta(seconds=5)
    hosts: HostList = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", HostList(parse_hosts(self.url)))

    @property
    def command_timeout(self) -> timedelta:
        """How long to wait for a response. The server's own statement timeout ends a slow statement
        first, with a better message; this limit is for a silent server.
        """
        return self.statement_timeout + SILENCE_MARGIN

    @property
    def host_connect_timeout(self) -> timedelta:
        """How long to wait for one host to connect."""
        if len(self.hosts) == 1:
            return self.connect_timeout
        return min(HOST_CONNECT_TIMEOUT, self.connect_timeout / len(self.hosts))

    @property
    def longest_wait(self) -> timedelta:
        """The longest a caller waits for a connection and its first response when every host is
        silent. The watchdog's limit must be longer.
        """
        return self.connect_timeout + SILENCE_MARGIN + self.command_timeout


# A foreign snapshot or a fresh table must not change the plan of a hot statement (docs/adr/0009).
# Generic plans: when the planner sees the actual arrays, it reads all of a small table instead of
# looking up a thousand rows, and joins the result with the array by comparing every pair.
HOT_PLANNER_SETTINGS: Final = {
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_seqscan": "off",
    "plan_cache_mode": "force_generic_plan",
}

# Seconds until the first probe, seconds between probes, and how many may fail: a silent connection
# loss is noticed in about 5 s. The system's defaults would take hours (F55).
_KEEPALIVE: Final = ((3, "TCP_KEEPIDLE"), (1, "TCP_KEEPINTVL"), (2, "TCP_KEEPCNT"))
_UNACKNOWLEDGED: Final = timedelta(seconds=5)


async def connect(access: DatabaseAccess, *, hot: bool = False) -> HostConnection:
    """Open a connection to a host that accepts writes; the host that answered last is tried first.

    If no host accepts writes, the error names each host and its problem.
    """
    failures: dict[Host, RotaError] = {}
    for host in access.hosts:
        try:
            return await _connect_to(host, access, hot=hot)
        except (StoreUnavailable, StoreRefused) as error:
            failures[host] = error
    raise _combine_failures(failures)


async def _connect_to(host: Host, access: DatabaseAccess, *, hot: bool) -> HostConnection:
    limit = access.host_connect_timeout.total_seconds()
    try:
        async with asyncio.timeout(limit):
            conn = await _open_to(host, access, hot=hot)
    except TimeoutError as error:
        access.hosts.demote(host)
        raise StoreUnavailable(reason=f"no answer within {limit:.3g} s") from error
    except asyncio.CancelledError:
        # The caller's time ran out before the next host; next time, that host comes first.
        access.hosts.demote(host)
        raise
    enable_keepalive(conn)
    access.hosts.prefer(host)
    return conn


async def _open_to(host: Host, access: DatabaseAccess, *, hot: bool) -> HostConnection:
    failures = access.hosts.failure_count(host)
    # With TLS, the certificate must carry this host name.
    address = {} if host.name is None else {"host": host.name, "port": host.port}
    with translate_errors():
        conn: HostConnection = await asyncpg.connect(**address, **_arguments(access, hot=hot))
    conn.set_host(host, access.hosts, failures=failures)
    try:
        reason = await _read_only_reason(conn, ask=len(access.hosts) > 1)
    except BaseException:
        conn.terminate()
        raise
    if reason is not None:
        conn.terminate()
        raise StoreUnavailable(reason=reason, is_down=True)
    return conn


async def _read_only_reason(conn: HostConnection, *, ask: bool) -> str | None:
    """Return why a server accepts no writes; None if it accepts them.

    PostgreSQL reports it while connecting. A pooler may not pass that on; then, if there is another
    host to try, Rota queries the server.
    """
    reported = conn.get_settings()
    standby = getattr(reported, "in_hot_standby", None)
    read_only = getattr(reported, "default_transaction_read_only", None)
    if standby == "on":
        return "the server is a standby and accepts no writes"
    if read_only == "on":
        return "the server is read-only: default_transaction_read_only is on"
    if not ask or None not in {standby, read_only}:
        return None
    answer = await IS_READ_ONLY.one(cast("Connection", conn))
    return "the server is a standby or read-only" if answer and answer.is_read_only else None


def _combine_failures(failures: Mapping[Host, RotaError]) -> RotaError:
    """Return one error for all hosts; retryable if the error of any host is."""
    if len(failures) == 1:
        return next(iter(failures.values()))
    refusals = [error for error in failures.values() if isinstance(error, StoreRefused)]
    reason = "; ".join(
        f"{host}: {cast('StoreUnavailable | StoreRefused', error).reason}"
        for host, error in failures.items()
    )
    if len(refusals) == len(failures):
        return StoreRefused(reason=reason, remedy=refusals[0].remedy)
    is_down = all(isinstance(e, StoreUnavailable) and e.is_down for e in failures.values())
    return StoreUnavailable(reason=reason, is_down=is_down)


@asynccontextmanager
async def open_pool(
    access: DatabaseAccess, *, size: int, hot: bool = False, skip_reset: bool = False
) -> AsyncIterator[Pool]:
    """Open a pool of up to `size` connections and close it at the end of the block.

    `tidy` promises that callers leave no session state behind after their transactions. It saves
    the round trip that resets a connection after every use.
    """

    async def connect_one(*_: object, **__: object) -> HostConnection:
        return await connect(access, hot=hot)

    options = {"reset": _skip_reset} if skip_reset else {}
    with translate_errors():
        pool = await asyncpg.create_pool(
            min_size=0,
            max_size=size,
            connect=connect_one,
            connection_class=HostConnection,
            **options,
        )
    translating = TranslatingPool(pool, wait=access.connect_timeout + SILENCE_MARGIN)
    CONNECTION_REGISTRY.add(translating)
    try:
        yield translating
    finally:
        CONNECTION_REGISTRY.remove(translating)
        pool.terminate()


async def _skip_reset(_conn: Any) -> None: ...


class TranslatingPool:
    """A pool that raises Rota's own errors, also when it has no connection to give.

    No caller waits longer than `wait` for a connection: behind other callers that wait for a silent
    server, the waits would add up.
    """

    def __init__(self, pool: Any, *, wait: timedelta) -> None:
        self._pool = pool
        self._wait = wait.total_seconds()

    def count_connections(self) -> ConnectionTotals:
        idle = self._pool.get_idle_size()
        return ConnectionTotals(self._pool.get_size() - idle, idle, self._pool.get_max_size())

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        conn = await self._take()
        try:
            yield conn
        finally:
            # Releasing asks the server to reset the connection. If that fails, asyncpg closes the
            # connection; the work that was done with it stays valid.
            with suppress(RotaError), translate_errors(conn):
                await self._pool.release(conn, timeout=RELEASE_TIMEOUT.total_seconds())

    async def _take(self) -> Connection:
        """Wait for a connection whose host has not failed since the connection was opened."""
        try:
            async with asyncio.timeout(self._wait):
                while (conn := await self._pool.acquire()).is_expired():
                    conn.terminate()
        except TimeoutError as error:
            reason = f"no connection in the pool became free within {self._wait:.3g} s"
            raise StoreUnavailable(reason=reason) from error
        except asyncpg.InterfaceError as error:
            if not self._pool.is_closing():
                raise
            raise StoreUnavailable(reason="the connection pool is closed") from error
        return cast("Connection", conn)

    async def close(self) -> None:
        await self._pool.close()

    def terminate(self) -> None:
        self._pool.terminate()


@asynccontextmanager
async def open_connection(
    access: DatabaseAccess, *, hot: bool = False
) -> AsyncIterator[Connection]:
    """Open one connection outside any pool and close it at the end of the block."""
    conn = await connect(access, hot=hot)
    try:
        yield cast("Connection", conn)
    finally:
        conn.terminate()


def _arguments(access: DatabaseAccess, *, hot: bool) -> dict[str, Any]:
    settings = {
        "application_name": access.name,
        "statement_timeout": _milliseconds(access.statement_timeout),
        "lock_timeout": _milliseconds(access.lock_timeout),
        "idle_in_transaction_session_timeout": _milliseconds(access.idle_in_transaction_timeout),
        "default_transaction_isolation": "read committed",
        "jit": "off",
        "timezone": "UTC",
    }
    return {
        "dsn": access.url,
        "connection_class": HostConnection,
        "timeout": None,
        # 0 means no limit.
        "command_timeout": access.command_timeout.total_seconds()
        if access.statement_timeout
        else None,
        # Rota always needs a writable server and checks that itself, whatever the URL says.
        "target_session_attrs": "any",
        "server_settings": settings | (HOT_PLANNER_SETTINGS if hot else {}),
        # Keep all statements prepared: there are fewer than a hundred per connection.
        "statement_cache_size": 200,
        "max_cached_statement_lifetime": 0,
    }


def _milliseconds(time: timedelta) -> str:
    return str(round(time.total_seconds() * 1000))


def enable_keepalive(conn: Any) -> None:
    """Make the kernel detect a silent peer. Does nothing for a unix socket."""
    transport = getattr(conn, "_transport", None)
    sock = transport.get_extra_info("socket") if transport is not None else None
    if sock is None or sock.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for value, option in _KEEPALIVE:
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        limit = round(_UNACKNOWLEDGED.total_seconds() * 1000)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, limit)


class DedicatedConnection:
    """One connection reserved for one service, reopened after it breaks.

    A pool asks the server to reset a connection after every use, which costs a round trip; the hot
    path avoids that. Two services must not share it.
    """

    def __init__(self, access: DatabaseAccess, *, hot: bool = False) -> None:
        self._access = access
        self._hot = hot
        self._conn: HostConnection | None = None
        self._is_busy = False
        CONNECTION_REGISTRY.add(self)

    def count_connections(self) -> ConnectionTotals:
        is_open, is_busy = self.is_open, self._is_busy
        return ConnectionTotals(is_open and is_busy, is_open and not is_busy, 1)

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """Yield the connection, like a pool. A broken or interrupted connection is closed."""
        conn = await self._open()
        self._is_busy = True
        try:
            yield cast("Connection", conn)
        except StoreUnavailable:
            self.close()
            raise
        except asyncio.CancelledError:
            # Possibly cancelled because the server took too long.
            self._access.hosts.demote(conn.host)
            self.close()
            raise
        finally:
            self._is_busy = False

    @property
    def is_open(self) -> bool:
        conn = self._conn
        return conn is not None and not conn.is_closed() and not conn.is_expired()

    async def _open(self) -> HostConnection:
        if self._conn is not None and self._conn.is_expired():
            self.close()
        if self._conn is None or self._conn.is_closed():
            self._conn = await connect(self._access, hot=self._hot)
        return self._conn

    def close(self) -> None:
        if self._conn is not None:
            self._conn.terminate()
            self._conn = None


OLDEST_POSTGRES_MAJOR: Final = 15


class ServerInfo(NamedTuple):
    """The version and settings that a server reports."""

    version: int
    shown_version: str
    encoding: str
    in_recovery: bool
    fsync: str
    full_page_writes: str
    synchronous_commit: str
    moved_clock: str | None


class DatabaseTime(NamedTuple):
    now: datetime


DESCRIBE_SERVER = statement("server/describe", ServerInfo)
READ_CLOCK = statement("server/clock", DatabaseTime)


async def check_server(conn: Connection) -> ServerInfo:
    """Return the server's description, or raise `StoreRefused` with the reason and the remedy.

    A standby raises `StoreUnavailable`: it may be promoted.
    """
    server = await DESCRIBE_SERVER.one(conn)
    if server is None:
        raise StoreRefused(
            reason="the server did not describe itself", remedy="use PostgreSQL 15 or newer"
        )
    refuse_unfit_server(server)
    return server


async def read_database_time(conn: Connection) -> datetime:
    """Return the time of the database's clock, which decides everything."""
    row = await READ_CLOCK.one(conn)
    if row is None:
        raise StoreRefused(reason="the server did not report its time", remedy="run `rota migrate`")
    return row.now


def refuse_unfit_server(server: ServerInfo) -> None:
    if server.version // 10_000 < OLDEST_POSTGRES_MAJOR:
        raise StoreRefused(
            reason=f"the server runs PostgreSQL {server.shown_version}",
            remedy=f"use PostgreSQL {OLDEST_POSTGRES_MAJOR} or newer",
        )
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        if getattr(server, setting) == "off":
            raise StoreRefused(
                reason=f"{setting} is off, so the server may lose acknowledged writes",
                remedy=f"set {setting} = on in postgresql.conf and reload the server",
            )
    if server.in_recovery:
        # During a failover the new primary is a standby for a moment; waiting is right.
        raise StoreUnavailable(reason="the server is a standby and accepts no writes")
    if server.encoding != "UTF8":
        raise StoreRefused(
            reason=f"the database's encoding is {server.encoding}",
            remedy="create the database with encoding UTF8",
        )
    if server.moved_clock:
        raise StoreRefused(
            reason="the setting rota.now overrides its clock, which is allowed in tests only",
            remedy="reset rota.now for this role and database",
        )
