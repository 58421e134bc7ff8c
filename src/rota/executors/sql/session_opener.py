"""Opens and closes the session of a connection."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Final

from rota.executors.sql.connections import Dialect, SqlConnection, mask_secrets
from rota.executors.sql.duckdb_session import DuckSession
from rota.executors.sql.faults import DatabaseFault, SqlFault
from rota.executors.sql.mysql_session import MysqlSession
from rota.executors.sql.postgres_session import PostgresSession
from rota.executors.sql.session import SqlSession
from rota.executors.sql.sqlite_session import SqliteSession

SESSIONS: Final[Mapping[Dialect, type[SqlSession]]] = {
    Dialect.POSTGRESQL: PostgresSession,
    Dialect.MYSQL: MysqlSession,
    Dialect.SQLITE: SqliteSession,
    Dialect.DUCKDB: DuckSession,
}


@contextlib.asynccontextmanager
async def open_session(connection: SqlConnection) -> AsyncIterator[SqlSession]:
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
        message = f"{connection.name}: {mask_secrets(connection, fault.message)}"
        raise SqlFault(type_=fault.type, message=message, final=fault.final) from None
