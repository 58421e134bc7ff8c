"""Whether a PostgreSQL server may hold Rota's data at all. Room: store.

Asked once, when a process starts. A server that can lose what it acknowledged is refused, because
every promise of Rota stands on that acknowledgement (F50).
"""

from datetime import datetime
from typing import Final, NamedTuple

from rota.core.errors import StoreRefused, StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import statement

OLDEST: Final = 15


class Server(NamedTuple):
    """What a server says of itself."""

    version: int
    shown_version: str
    encoding: str
    in_recovery: bool
    fsync: str
    full_page_writes: str
    synchronous_commit: str
    moved_clock: str | None


class Time(NamedTuple):
    now: datetime


SERVER = statement("server/describe", Server)
CLOCK = statement("server/clock", Time)


async def check_server(conn: Connection) -> Server:
    """Return what the server is, or raise `StoreRefused` with the reason and the remedy.

    A standby is `StoreUnavailable`: it may be promoted.
    """
    server = await SERVER.one(conn)
    if server is None:
        raise StoreRefused(
            reason="it does not describe itself", remedy="use PostgreSQL 15 or newer"
        )
    judge(server)
    return server


async def database_time(conn: Connection) -> datetime:
    """The time by the database's clock, which is the one that decides."""
    row = await CLOCK.one(conn)
    if row is None:
        raise StoreRefused(reason="it does not tell the time", remedy="run `rota migrate`")
    return row.now


def judge(server: Server) -> None:
    if server.version // 10_000 < OLDEST:
        raise StoreRefused(
            reason=f"it is PostgreSQL {server.shown_version}",
            remedy=f"use PostgreSQL {OLDEST} or newer",
        )
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        if getattr(server, setting) == "off":
            raise StoreRefused(
                reason=f"{setting} is off, so it may lose what it has acknowledged",
                remedy=f"set {setting} = on in postgresql.conf and reload the server",
            )
    if server.in_recovery:
        # During a failover the new primary is one for a moment; waiting is right.
        raise StoreUnavailable(reason="it is a standby and takes no writes")
    if server.encoding != "UTF8":
        raise StoreRefused(
            reason=f"its database is encoded in {server.encoding}",
            remedy="create the database with encoding UTF8",
        )
    if server.moved_clock:
        raise StoreRefused(
            reason="the setting rota.now moves its clock, which only tests may do",
            remedy="reset rota.now for this role and database",
        )
