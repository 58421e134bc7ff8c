"""Opens connections: session settings, time-outs, keepalives. Room: store.

Every connection has a limit on each thing that could hang: connecting, a statement, a lock, an
idle transaction, a peer that fell silent. The hot pool also tells the planner what we know better:
its statements touch few rows of tables that may be large, so hashing or scanning a table is wrong.

Of several hosts each has a limit of its own, and only one that takes writes is used. Whether it
does is known without asking: PostgreSQL reports it while connecting. What was opened to a host that
has failed since is closed when somebody wants to use it, in pools and lines alike.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, NamedTuple, cast

import asyncpg

from rota.core.errors import RotaError, StoreRefused, StoreUnavailable
from rota.store.driver import Connection, Pool
from rota.store.host_connection import HostConnection
from rota.store.hosts import Host, HostList, parse_hosts
from rota.store.statement import statement
from rota.store.translate import translated

# Of several hosts, none is waited for longer. Duties that found none pause for 2 s at most, so a
# new primary is found within 4 s, whatever the other hosts do.
HOST_CONNECT_LIMIT: Final = timedelta(seconds=2)
# What a silent server may take beyond the limits that it was given itself.
SILENCE_MARGIN: Final = timedelta(seconds=5)
# Giving a connection back may wait for a statement to be cancelled and for the reset.
RELEASE_LIMIT: Final = timedelta(seconds=3)


class ReadOnly(NamedTuple):
    is_read_only: bool


IS_READ_ONLY = statement("server/is_read_only", ReadOnly)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach the database, and how long anything may take.

    Connections of one Access share what they learn about its hosts.
    """

    url: str
    name: str = "rota"
    connect: timedelta = timedelta(seconds=10)
    statement: timedelta = timedelta(seconds=5)
    lock: timedelta = timedelta(seconds=2)
    idle_in_transaction: timedelta = timedelta(seconds=5)
    hosts: HostList = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", HostList(parse_hosts(self.url)))

    @property
    def command(self) -> timedelta:
        """How long to wait for an answer. The server's own limit speaks first, with a better
        message; this is for a server that is silent.
        """
        return self.statement + SILENCE_MARGIN

    @property
    def connect_each(self) -> timedelta:
        """How long to wait for one host."""
        if len(self.hosts) == 1:
            return self.connect
        return min(HOST_CONNECT_LIMIT, self.connect / len(self.hosts))

    @property
    def longest_wait(self) -> timedelta:
        """The longest that a caller waits for a connection and its first answer, if all is silent:
        the watchdog must be more patient than that.
        """
        return self.connect + SILENCE_MARGIN + self.command


# A foreign snapshot or a fresh table must not turn the plan of a hot statement (docs/adr/0009).
# Generic plans: with the arrays of the moment in view, the planner reads all of a small table
# instead of looking a thousand rows up, and joins what it read with the array by comparing all.
HOT: Final = {
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_seqscan": "off",
    "plan_cache_mode": "force_generic_plan",
}

# Seconds until the first probe, between probes, and how many may fail: a silent cut is noticed
# in about 5 s, where the system's defaults would wait for hours (F55).
_KEEPALIVE: Final = ((3, "TCP_KEEPIDLE"), (1, "TCP_KEEPINTVL"), (2, "TCP_KEEPCNT"))
_UNACKNOWLEDGED: Final = timedelta(seconds=5)


async def connect(access: Access, *, hot: bool = False) -> HostConnection:
    """Open a connection to a host that takes writes, trying the one that answered last first.

    If there is none, the error names each host and what was wrong with it.
    """
    failures: dict[Host, RotaError] = {}
    for host in access.hosts:
        try:
            return await _connect_to(host, access, hot=hot)
        except (StoreUnavailable, StoreRefused) as error:
            failures[host] = error
    raise _none_of(failures)


async def _connect_to(host: Host, access: Access, *, hot: bool) -> HostConnection:
    limit = access.connect_each.total_seconds()
    try:
        async with asyncio.timeout(limit):
            conn = await _open_to(host, access, hot=hot)
    except TimeoutError as error:
        access.hosts.demote(host)
        raise StoreUnavailable(reason=f"no answer within {limit:.3g} s") from error
    except asyncio.CancelledError:
        # Whoever was cut short here had no time for the next host; that one comes first then.
        access.hosts.demote(host)
        raise
    watch_peer(conn)
    access.hosts.prefer(host)
    return conn


async def _open_to(host: Host, access: Access, *, hot: bool) -> HostConnection:
    failures = access.hosts.failures(host)
    # For TLS, the host is also the name that its certificate must have.
    place = {} if host.name is None else {"host": host.name, "port": host.port}
    with translated():
        conn: HostConnection = await asyncpg.connect(**place, **_arguments(access, hot=hot))
    conn.opened_to(host, access.hosts, failures=failures)
    try:
        reason = await _why_read_only(conn, ask=len(access.hosts) > 1)
    except BaseException:
        conn.terminate()
        raise
    if reason is not None:
        conn.terminate()
        raise StoreUnavailable(reason=reason, is_down=True)
    return conn


async def _why_read_only(conn: HostConnection, *, ask: bool) -> str | None:
    """Return why a server takes no writes; None if it does.

    PostgreSQL reports it while connecting. A pooler may not pass that on; then it is asked, if
    there is another host to try.
    """
    reported = conn.get_settings()
    standby = getattr(reported, "in_hot_standby", None)
    read_only = getattr(reported, "default_transaction_read_only", None)
    if standby == "on":
        return "it is a standby and takes no writes"
    if read_only == "on":
        return "it is read-only: default_transaction_read_only is on"
    if not ask or None not in {standby, read_only}:
        return None
    answer = await IS_READ_ONLY.one(cast("Connection", conn))
    return "it is a standby or read-only" if answer and answer.is_read_only else None


def _none_of(failures: Mapping[Host, RotaError]) -> RotaError:
    """One error for all hosts. Waiting helps if it helps with any of them."""
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
    access: Access, *, size: int, hot: bool = False, tidy: bool = False
) -> AsyncIterator[Pool]:
    """A pool of up to `size` connections, closed when the block is left.

    `tidy` promises that nobody leaves anything behind on a connection beyond its transaction:
    the round trip that resets it after every use is spared.
    """

    async def connect_one(*_: object, **__: object) -> HostConnection:
        return await connect(access, hot=hot)

    more = {"reset": _leave_as_it_is} if tidy else {}
    with translated():
        pool = await asyncpg.create_pool(
            min_size=0,
            max_size=size,
            connect=connect_one,
            connection_class=HostConnection,
            **more,
        )
    try:
        yield Translating(pool, wait=access.connect + SILENCE_MARGIN)
    finally:
        pool.terminate()


async def _leave_as_it_is(_conn: Any) -> None: ...


class Translating:
    """A pool whose own troubles are errors of ours, too: a connection that cannot be had.

    Nobody waits for a connection longer than `wait`: behind others who wait for a silent server,
    that would add up.
    """

    def __init__(self, pool: Any, *, wait: timedelta) -> None:
        self._pool = pool
        self._wait = wait.total_seconds()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        conn = await self._take()
        try:
            yield conn
        finally:
            # Giving back asks the server to reset the connection. If that fails, asyncpg closes
            # it, and what was done with it is as good as it was.
            with suppress(RotaError), translated(conn):
                await self._pool.release(conn, timeout=RELEASE_LIMIT.total_seconds())

    async def _take(self) -> Connection:
        """Wait for a connection whose host has not failed since it was opened."""
        try:
            async with asyncio.timeout(self._wait):
                while (conn := await self._pool.acquire()).is_expired():
                    conn.terminate()
        except TimeoutError as error:
            reason = f"no connection of the pool was free within {self._wait:.3g} s"
            raise StoreUnavailable(reason=reason) from error
        except asyncpg.InterfaceError as error:
            if not self._pool.is_closing():
                raise
            raise StoreUnavailable(reason="the pool of connections is closed") from error
        return cast("Connection", conn)

    async def close(self) -> None:
        await self._pool.close()

    def terminate(self) -> None:
        self._pool.terminate()


@asynccontextmanager
async def open_connection(access: Access, *, hot: bool = False) -> AsyncIterator[Connection]:
    """One connection of its own, closed when the block is left."""
    conn = await connect(access, hot=hot)
    try:
        yield cast("Connection", conn)
    finally:
        conn.terminate()


def _arguments(access: Access, *, hot: bool) -> dict[str, Any]:
    settings = {
        "application_name": access.name,
        "statement_timeout": _milliseconds(access.statement),
        "lock_timeout": _milliseconds(access.lock),
        "idle_in_transaction_session_timeout": _milliseconds(access.idle_in_transaction),
        "default_transaction_isolation": "read committed",
        "jit": "off",
        "timezone": "UTC",
    }
    return {
        "dsn": access.url,
        "connection_class": HostConnection,
        "timeout": None,
        # A limit of nought is none.
        "command_timeout": access.command.total_seconds() if access.statement else None,
        # We look ourselves, whatever the URL says: Rota always needs a server that takes writes.
        "target_session_attrs": "any",
        "server_settings": settings | (HOT if hot else {}),
        # All of Rota's statements stay prepared: there are fewer than a hundred.
        "statement_cache_size": 200,
        "max_cached_statement_lifetime": 0,
    }


def _milliseconds(time: timedelta) -> str:
    return str(round(time.total_seconds() * 1000))


def watch_peer(conn: Any) -> None:
    """Ask the kernel to notice a peer that fell silent. A unix socket has no such peer."""
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


class Line:
    """One connection that a duty keeps for itself, opened again when it broke.

    A pool asks the server to reset the connection after every use, which is a round trip; on the
    hot path there is no time for that. One duty, one line: it is not for two at once.
    """

    def __init__(self, access: Access, *, hot: bool = False) -> None:
        self._access = access
        self._hot = hot
        self._conn: HostConnection | None = None

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """The connection, as a pool gives it. What broke or was cut short is not used again."""
        conn = await self._open()
        try:
            yield cast("Connection", conn)
        except StoreUnavailable:
            self.close()
            raise
        except asyncio.CancelledError:
            # Perhaps by somebody who waited long enough.
            self._access.hosts.demote(conn.host)
            self.close()
            raise

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
