"""Opens and closes the session of a connection."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Final

from rota.executors.sql.connections import Connection, Dialect, hidden
from rota.executors.sql.duck import DuckSession
from rota.executors.sql.faults import DatabaseFault, Fault
from rota.executors.sql.mysql import MysqlSession
from rota.executors.sql.postgres import PostgresSession
from rota.executors.sql.session import Session
from rota.executors.sql.sqlite import SqliteSession

SESSIONS: Final[Mapping[Dialect, type[Session]]] = {
    Dialect.POSTGRESQL: PostgresSession,
    Dialect.MYSQL: MysqlSession,
    Dialect.SQLITE: SqliteSession,
    Dialect.DUCKDB: DuckSession,
}


@contextlib.asynccontextmanager
async def session_of(connection: Connection) -> AsyncIterator[Session]:
    """Open a session for a block. Errors contain the connection's name and no secret."""
    if connection.dialect is None:
        raise LookupError(connection.name)
    try:
        session = await SESSIONS[connection.dialect].open(connection)
        try:
            yield session
        finally:
            await session.close()
    except DatabaseFault as fault:
        message = f"{connection.name}: {hidden(connection, fault.message)}"
        raise Fault(type_=fault.type, message=message, final=fault.final) from None
