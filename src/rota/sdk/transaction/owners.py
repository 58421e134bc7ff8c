"""Finds the driver's connection inside whatever was handed in. Room: sdk/transaction.

By the names of classes, so that nothing is imported that the caller does not use. SQLAlchemy begins
its transactions late, with the first statement that goes through it: such a statement is sent if
there was none yet, or the job would be written outside, and lost or kept against the caller's wish.
"""

from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.sdk.transaction.drivers import Asyncpg, AsyncPsycopg, Blocking, Driver, Psycopg

WANTED: Final = (
    "a connection of asyncpg or psycopg, or a Session or Connection of SQLAlchemy over one of them"
)
OTHERWISE: Final = "the AsyncSession or AsyncConnection itself, and `await`"

ASYNC: Final = frozenset(
    {
        "asyncpg.Connection",
        "asyncpg.PoolConnectionProxy",
        "psycopg.AsyncConnection",
        "sqlalchemy.AsyncSession",
        "sqlalchemy.AsyncConnection",
        "sqlalchemy.async_scoped_session",
    }
)
SYNC: Final = frozenset(
    {
        "rota.BlockingConnection",
        "psycopg.Connection",
        "sqlalchemy.Session",
        "sqlalchemy.Connection",
        "sqlalchemy.scoped_session",
    }
)


def sort_of(conn: object) -> str:
    """`package.Class` of the first class that is known; `InvalidInput` if there is none."""
    for each in type(conn).__mro__:
        name = f"{each.__module__.partition('.')[0]}.{each.__name__}"
        if name in ASYNC or name in SYNC:
            return name
    raise InvalidInput("conn", conn, WANTED)


def driver(conn: Any) -> Driver:
    """The driver of a sync connection, in its owner's transaction."""
    sort = sort_of(conn)
    if sort == "rota.BlockingConnection":
        return Blocking(conn)
    if sort == "psycopg.Connection":
        return Psycopg(conn)
    if sort == "sqlalchemy.scoped_session":
        conn, sort = conn(), "sqlalchemy.Session"
    if sort == "sqlalchemy.Session":
        conn = conn.connection()
    raw = conn.connection.driver_connection
    if sort_of_raw(raw) != "psycopg.Connection":
        wanted = OTHERWISE if sort_of_raw(raw) in ASYNC else WANTED
        raise InvalidInput("conn", raw, wanted)
    if not conn.in_transaction():
        conn.exec_driver_sql("select 1")
    return Psycopg(raw)


async def async_driver(conn: Any) -> Driver:
    """The same for an async one."""
    sort = sort_of(conn)
    if sort.startswith("asyncpg."):
        return Asyncpg(conn)
    if sort == "psycopg.AsyncConnection":
        return AsyncPsycopg(conn)
    if sort == "sqlalchemy.async_scoped_session":
        conn, sort = conn(), "sqlalchemy.AsyncSession"
    if sort == "sqlalchemy.AsyncSession":
        conn = await conn.connection()
    raw = (await conn.get_raw_connection()).driver_connection
    name = sort_of_raw(raw)
    # Its asyncpg is not in a transaction before the first statement, even inside `begin()`.
    begun = conn.in_transaction() and (name != "asyncpg.Connection" or raw.is_in_transaction())
    if not begun:
        await conn.exec_driver_sql("select 1")
    if name == "asyncpg.Connection":
        return Asyncpg(raw)
    if name == "psycopg.AsyncConnection":
        return AsyncPsycopg(raw)
    raise InvalidInput("conn", raw, WANTED)


def sort_of_raw(raw: object) -> str:
    """The same as `sort_of` for what SQLAlchemy has inside, where anything may be."""
    try:
        return sort_of(raw)
    except InvalidInput:
        return ""
