"""Opens connections: session settings, time-outs, keepalives. Room: store.

Every connection has a limit on each thing that could hang: connecting, a statement, a lock, an
idle transaction, a peer that fell silent. The hot pool also tells the planner what we know better:
its statements touch few rows of tables that may be large, so hashing or scanning a table is wrong.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

import asyncpg

from rota.core.errors import StoreUnavailable
from rota.store.driver import Connection, Pool
from rota.store.translate import translated


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach the database, and how long anything may take."""

    url: str
    name: str = "rota"
    connect: timedelta = timedelta(seconds=10)
    statement: timedelta = timedelta(seconds=5)
    lock: timedelta = timedelta(seconds=2)
    idle_in_transaction: timedelta = timedelta(seconds=5)


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


@asynccontextmanager
async def open_pool(
    access: Access, *, size: int, hot: bool = False, tidy: bool = False
) -> AsyncIterator[Pool]:
    """A pool of up to `size` connections, closed when the block is left.

    `tidy` promises that nobody leaves anything behind on a connection beyond its transaction:
    the round trip that resets it after every use is spared.
    """
    more = {"reset": _leave_as_it_is} if tidy else {}
    with translated():
        pool = await asyncpg.create_pool(
            min_size=0, max_size=size, init=watch_peer, **_arguments(access, hot=hot), **more
        )
    try:
        yield Translating(pool)
    finally:
        pool.terminate()


async def _leave_as_it_is(_conn: Any) -> None: ...


class Translating:
    """A pool whose own troubles are errors of ours, too: a connection that cannot be had."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        with translated():
            conn = await self._pool.acquire()
        try:
            yield conn
        finally:
            # Giving back asks the server to reset the connection, which may fail like anything.
            with translated():
                await self._pool.release(conn)

    async def close(self) -> None:
        await self._pool.close()

    def terminate(self) -> None:
        self._pool.terminate()

    async def expire_connections(self) -> None:
        await self._pool.expire_connections()


@asynccontextmanager
async def open_connection(access: Access, *, hot: bool = False) -> AsyncIterator[Connection]:
    """One connection of its own, closed when the block is left."""
    with translated():
        conn = await asyncpg.connect(**_arguments(access, hot=hot))
    await watch_peer(conn)
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
        "timeout": access.connect.total_seconds(),
        # The server's limit speaks first, with a better message; this is for a server that is
        # silent.
        "command_timeout": access.statement.total_seconds() + 5,
        "server_settings": settings | (HOT if hot else {}),
        # All of Rota's statements stay prepared: there are fewer than a hundred.
        "statement_cache_size": 200,
        "max_cached_statement_lifetime": 0,
    }


def _milliseconds(time: timedelta) -> str:
    return str(round(time.total_seconds() * 1000))


async def watch_peer(conn: Any) -> None:
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
        self._conn: Connection | None = None

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """The connection, as a pool gives it. What broke or was cut short is not used again."""
        conn = await self._open()
        try:
            yield conn
        except (StoreUnavailable, asyncio.CancelledError):
            self.close()
            raise

    @property
    def is_open(self) -> bool:
        return self._conn is not None and not self._conn.is_closed()

    async def _open(self) -> Connection:
        if self._conn is None or self._conn.is_closed():
            with translated():
                conn = await asyncpg.connect(**_arguments(self._access, hot=self._hot))
            await watch_peer(conn)
            self._conn = cast("Connection", conn)
        return self._conn

    def close(self) -> None:
        if self._conn is not None:
            self._conn.terminate()
            self._conn = None
