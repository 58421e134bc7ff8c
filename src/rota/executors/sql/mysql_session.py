"""Implements `SqlSession` for MySQL and MariaDB, through PyMySQL in a thread.

Rows are read as they arrive, never all at once. `KILL QUERY` on a second connection stops a
statement. Statements cannot read the worker's files: `load data local` stays off.
"""

import contextlib
import functools
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Self

from rota.executors.sql.connections import Dialect, SqlConnection
from rota.executors.sql.faults import DatabaseFault, build_missing_extra
from rota.executors.sql.session import (
    CONNECT_TIMEOUT_S,
    ResultColumn,
    Row,
    StatementResult,
    ThreadedSession,
)
from rota.executors.sql.size_limits import build_size_fault, read_piece
from rota.executors.sql.values import to_driver, to_naive_utc

DEFAULT_PORT: Final = 3306
# Server: too many connections, shutdown, lock wait, deadlock, killed, interrupted, record changed.
# Client: no server, server gone, connection lost.
TRANSIENT_CODES: Final = frozenset(
    {1020, 1040, 1053, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1317, 1927, 2002, 2003, 2006, 2013}
)
NO_ROW_LIMIT: Final = 2**64 - 1
BINARY_CHARSET: Final = 63

# Type numbers of the protocol; text and blobs share numbers and differ by character set.
DUCKDB_TYPES: Final[Mapping[int, str]] = MappingProxyType(
    {
        1: "INTEGER",
        2: "INTEGER",
        3: "BIGINT",
        4: "DOUBLE",
        5: "DOUBLE",
        7: "TIMESTAMP",
        8: "HUGEINT",
        9: "INTEGER",
        10: "DATE",
        11: "INTERVAL",
        12: "TIMESTAMP",
        13: "INTEGER",
        15: "VARCHAR",
        245: "VARCHAR",
    }
)


class MysqlSession(ThreadedSession):
    dialect = Dialect.MYSQL

    def __init__(self, connection: SqlConnection) -> None:
        super().__init__()
        self._connection = connection
        self._conn: Any = None
        self._cursor: Any = None

    @classmethod
    async def open(cls, connection: SqlConnection) -> Self:
        try:
            import pymysql  # noqa: F401, PLC0415 - an extra
        except ImportError:
            raise build_missing_extra("sql", "a connection to MySQL") from None
        session = cls(connection)
        return await session.connect_or_close()

    def connect(self) -> None:
        self._conn = self._open_connection()

    def _open_connection(self) -> Any:
        import pymysql  # noqa: PLC0415
        from pymysql.constants import CLIENT  # noqa: PLC0415

        connection, options = self._connection, self._connection.options
        tls: dict[str, Any] = {
            name: options[name] for name in ("ssl_ca", "ssl_cert", "ssl_key") if name in options
        }
        return build_bounded_connection_class()(
            host=connection.host or "localhost",
            port=connection.port or DEFAULT_PORT,
            unix_socket=options.get("unix_socket"),
            user=connection.user,
            password=connection.password or "",
            database=connection.path.strip("/") or None,
            charset="utf8mb4",
            connect_timeout=int(CONNECT_TIMEOUT_S),
            autocommit=False,
            local_infile=False,
            client_flag=CLIENT.FOUND_ROWS,
            cursorclass=pymysql.cursors.SSCursor,
            init_command="set time_zone = '+00:00'",
            **tls,
        )

    async def begin(self, *, read_only: bool = False) -> None:
        await self.call_in_thread(
            self._execute, f"start transaction{' read only' if read_only else ''}"
        )

    def _execute(self, text: str) -> None:
        with self._conn.cursor() as cursor:
            cursor.execute(text)

    async def run(
        self, text: str, values: Sequence[object] = (), *, max_rows: int | None = None
    ) -> StatementResult:
        cursor = await self.call_in_thread(self._run, text, values, max_rows)
        if cursor.description is None:
            return StatementResult(affected=cursor.rowcount)

        async def fetch(size: int) -> list[Row]:
            return await self.call_in_thread(read_piece, cursor.fetchmany, size)

        fields = cursor._result.fields  # noqa: SLF001 - the description has no character set
        columns = tuple(
            ResultColumn(name=field.name, type=find_duckdb_type(field)) for field in fields
        )
        return StatementResult(columns=columns, fetch=fetch)

    def _run(self, text: str, values: Sequence[object], max_rows: int | None) -> Any:
        if self._cursor is not None:
            self._cursor.close()
        cursor = self._cursor = self._conn.cursor()
        # The server must not send rows that are not read: an unread row blocks the connection.
        limit = NO_ROW_LIMIT if max_rows is None else max_rows + 1
        cursor.execute(f"set session sql_select_limit = {limit}")
        cursor.execute(text, convert_values(values) or None)
        return cursor

    async def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        await self.call_in_thread(self._run_many, text, rows)

    def _run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        import pymysql  # noqa: PLC0415

        # This cursor joins the rows into few statements, which makes it fast.
        with self._conn.cursor(pymysql.cursors.Cursor) as cursor:
            cursor.executemany(text, [convert_values(row) for row in rows])

    async def commit(self) -> None:
        await self.call_in_thread(self._end, self._conn.commit)

    async def rollback(self) -> None:
        await self.call_in_thread(self._end, self._conn.rollback)

    def _end(self, end: Callable[[], None]) -> None:
        # Closing reads the rest of the last result, which was limited when the statement was sent.
        if self._cursor is not None:
            self._cursor.close()
        end()

    def interrupt(self) -> None:
        if self._conn is None:
            return
        with contextlib.closing(self._open_connection()) as other, other.cursor() as cursor:
            cursor.execute(f"kill query {self._conn.thread_id()}")

    def abandon(self) -> None:
        # The server is unreachable, and the thread waits for it.
        with contextlib.suppress(OSError, AttributeError):
            self._conn._sock.shutdown(socket.SHUT_RDWR)  # noqa: SLF001

    def disconnect(self) -> None:
        if self._conn is not None:
            # A regular close, of the connection or the result, would read the unread rows first.
            result = self._conn._result  # noqa: SLF001
            if result is not None:
                result.unbuffered_active = False
            self._conn._force_close()  # noqa: SLF001

    @contextlib.contextmanager
    def translate_errors(self) -> Iterator[None]:
        import pymysql  # noqa: PLC0415

        try:
            yield
        except pymysql.err.MySQLError as error:
            code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
            message = str(error.args[1]) if len(error.args) > 1 else str(error)
            lost = isinstance(error, pymysql.err.InterfaceError)
            final = code not in TRANSIENT_CODES and not lost
            raise DatabaseFault(type_=f"mysql {code}", message=message, final=final) from None
        except OSError as error:
            raise DatabaseFault(type_="connection", message=str(error), final=False) from None
        except (TypeError, ValueError) as error:
            # PyMySQL formats parameters itself and fails like this if their number is wrong.
            message = f"the parameters do not match the statement: {error}"
            raise DatabaseFault(type_="wrong parameter", message=message, final=True) from None


@functools.cache
def build_bounded_connection_class() -> Any:
    """Return PyMySQL's connection class with a limit on the size of one row.

    A packet of full length means that the row has 16 MiB or more; it is refused unread.
    """
    from pymysql import connections  # noqa: PLC0415

    base: Any = connections.Connection

    class BoundedConnection(base):  # type: ignore[misc] # an untyped optional dependency
        def _read_bytes(self, num_bytes: int) -> Any:
            if num_bytes >= connections.MAX_PACKET_LEN:
                self._force_close()
                raise build_size_fault("a row")
            return super()._read_bytes(num_bytes)

    return BoundedConnection


def find_duckdb_type(field: Any) -> str | None:
    if field.type_code in {249, 250, 251, 252, 253, 254}:
        return "BLOB" if field.charsetnr == BINARY_CHARSET else "VARCHAR"
    return DUCKDB_TYPES.get(field.type_code)


def convert_values(values: Sequence[object]) -> list[Any]:
    return [to_driver(value, instant=to_naive_utc, exact=True) for value in values]
