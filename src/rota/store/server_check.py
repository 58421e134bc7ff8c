"""Checks whether a PostgreSQL server may hold Rota's data.

A process checks once, at startup. A server that can lose acknowledged writes is refused, because
every guarantee of Rota depends on that acknowledgement (F50).
"""

from datetime import datetime
from typing import Final, NamedTuple

from rota.core.errors import StoreRefused, StoreUnavailable
from rota.store.driver import Connection
from rota.store.statement import statement

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
