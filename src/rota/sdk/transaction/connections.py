"""Finds the driver's connection in the object that the caller passed.

Classes are recognised by name, so that no unused library is imported. SQLAlchemy begins a
transaction with the first statement that goes through it. Before the first one, such a statement
is sent here; otherwise the job would be written outside the caller's transaction.
"""

from typing import Any, Final

from rota.core.errors import InvalidInput
from rota.sdk.transaction.drivers import (
    AsyncpgDriver,
    AsyncPsycopgDriver,
    BlockingDriver,
    CallerDriver,
    PsycopgDriver,
)

CONNECTION_EXPECTED: Final = (
    "expected a connection of asyncpg or psycopg, or a Session or Connection of SQLAlchemy over "
    "one of them"
)
ASYNC_OBJECT_EXPECTED: Final = "pass the AsyncSession or AsyncConnection itself, and use `await`"

ASYNC_CONNECTION_CLASSES: Final = frozenset(
    {
        "asyncpg.Connection",
        "asyncpg.PoolConnectionProxy",
        "psycopg.AsyncConnection",
        "sqlalchemy.AsyncSession",
        "sqlalchemy.AsyncConnection",
        "sqlalchemy.async_scoped_session",
    }
)
SYNC_CONNECTION_CLASSES: Final = frozenset(
    {
        "rota.BlockingConnection",
        "psycopg.Connection",
        "sqlalchemy.Session",
        "sqlalchemy.Connection",
        "sqlalchemy.scoped_session",
    }
)


def find_connection_class(conn: object) -> str:
    """The `package.Class` of the first known class; raises `InvalidInput` if none is known."""
    for class_ in type(conn).__mro__:
        name = f"{class_.__module__.partition('.')[0]}.{class_.__name__}"
        if name in ASYNC_CONNECTION_CLASSES or name in SYNC_CONNECTION_CLASSES:
            return name
    raise InvalidInput("conn", conn, CONNECTION_EXPECTED)


def open_driver(conn: Any) -> CallerDriver:
    """The driver of a sync connection, in the caller's transaction."""
    sort = find_connection_class(conn)
    if sort == "rota.BlockingConnection":
        return BlockingDriver(conn)
    if sort == "psycopg.Connection":
        return PsycopgDriver(conn)
    if sort == "sqlalchemy.scoped_session":
        conn, sort = conn(), "sqlalchemy.Session"
    if sort == "sqlalchemy.Session":
        conn = conn.connection()
    raw = conn.connection.driver_connection
    if find_raw_connection_class(raw) != "psycopg.Connection":
        wanted = (
            ASYNC_OBJECT_EXPECTED
            if find_raw_connection_class(raw) in ASYNC_CONNECTION_CLASSES
            else CONNECTION_EXPECTED
        )
        raise InvalidInput("conn", raw, wanted)
    if not conn.in_transaction():
        conn.exec_driver_sql("select 1")
    return PsycopgDriver(raw)


async def open_async_driver(conn: Any) -> CallerDriver:
    """The driver of an async connection, in the caller's transaction."""
    sort = find_connection_class(conn)
    if sort.startswith("asyncpg."):
        return AsyncpgDriver(conn)
    if sort == "psycopg.AsyncConnection":
        return AsyncPsycopgDriver(conn)
    if sort == "sqlalchemy.async_scoped_session":
        conn, sort = conn(), "sqlalchemy.AsyncSession"
    if sort == "sqlalchemy.AsyncSession":
        conn = await conn.connection()
    raw = (await conn.get_raw_connection()).driver_connection
    name = find_raw_connection_class(raw)
    # SQLAlchemy's asyncpg has no transaction before the first statement, even inside `begin()`.
    has_begun = conn.in_transaction() and (name != "asyncpg.Connection" or raw.is_in_transaction())
    if not has_begun:
        await conn.exec_driver_sql("select 1")
    if name == "asyncpg.Connection":
        return AsyncpgDriver(raw)
    if name == "psycopg.AsyncConnection":
        return AsyncPsycopgDriver(raw)
    raise InvalidInput("conn", raw, CONNECTION_EXPECTED)


def find_raw_connection_class(raw: object) -> str:
    """Find the class of the connection inside a SQLAlchemy object; "" if it is unknown."""
    try:
        return find_connection_class(raw)
    except InvalidInput:
        return ""
