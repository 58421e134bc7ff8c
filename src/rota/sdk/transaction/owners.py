"""Finds the driver's connection in the object that the caller passed.

Classes are recognised by name, so that no unused library is imported. SQLAlchemy begins a
transaction with the first statement that goes through it. If there was none yet, such a statement
is sent here; otherwise the job would be written outside the caller's transaction.
"""

from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.sdk.transaction.drivers import Asyncpg, AsyncPsycopg, Blocking, Driver, Psycopg

WANTED: Final = (
    "expected a connection of asyncpg or psycopg, or a Session or Connection of SQLAlchemy over "
    "one of them"
)
OTHERWISE: Final = "pass the AsyncSession or AsyncConnection itself, and use `await`"

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
    """The `package.Class` of the first known class; raises `InvalidInput` if none is known."""
    for class_ in type(conn).__mro__:
        name = f"{class_.__module__.partition('.')[0]}.{class_.__name__}"
        if name in ASYNC or name in SYNC:
            return name
    raise InvalidInput("conn", conn, WANTED)


def driver(conn: Any) -> Driver:
    """The driver of a sync connection, in the caller's transaction."""
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
    """The driver of an async connection, in the caller's transaction."""
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
    # SQLAlchemy's asyncpg has no transaction before the first statement, even inside `begin()`.
    has_begun = conn.in_transaction() and (name != "asyncpg.Connection" or raw.is_in_transaction())
    if not has_begun:
        await conn.exec_driver_sql("select 1")
    if name == "asyncpg.Connection":
        return Asyncpg(raw)
    if name == "psycopg.AsyncConnection":
        return AsyncPsycopg(raw)
    raise InvalidInput("conn", raw, WANTED)


def sort_of_raw(raw: object) -> str:
    """`sort_of` for the connection inside a SQLAlchemy object; "" if it is unknown."""
    try:
        return sort_of(raw)
    except InvalidInput:
        return ""
