"""Implements `DashboardSession` for MySQL and MariaDB, through PyMySQL in a thread.

Rows are read as they arrive, never all at once. `KILL QUERY` on a second connection stops a
statement. Statements cannot read the worker's files: `load data local` stays off.
"""

import contextlib
import functools
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Self

from rota.executors.sql.bounds import read_piece, value_too_large
from rota.executors.sql.connections import Connection, Dialect
from rota.executors.sql.faults import DatabaseFault, missing
from rota.executors.sql.session import CONNECTING, Answer, Column, Row, Threaded
from rota.executors.sql.values import given, in_utc

PORT: Final = 3306
# Server: too many connections, shutdown, lock wait, deadlock, killed, interrupted, record changed.
# Client: no server, server gone, connection lost.
PASSING: Final = frozenset(
    {1020, 1040, 1053, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1317, 1927, 2002, 2003, 2006, 2013}
)
EVERY_ROW: Final = 2**64 - 1
BINARY: Final = 63

# Type numbers of the protocol; text and blobs share numbers and differ by character set.
TYPES: Final[Mapping[int, str]] = MappingProxyType(
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


class MysqlSession(Threaded):
    dialect = Dialect.MYSQL

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._conn: Any = None
        self._cursor: Any = None

    @classmethod
    async def open(cls, connection: Connection) -> Self:
        try:
            import pymysql  # noqa: F401, PLC0415 - an extra
        except ImportError:
            raise missing("sql", "a connection to MySQL") from None
        session = cls(connection)
        return await session.connected()

    def connect(self) -> None:
        self._conn = self._open_connection()

    def _open_connection(self) -> Any:
        import pymysql  # noqa: PLC0415
        from pymysql.constants import CLIENT  # noqa: PLC0415

        connection, options = self._connection, self._connection.options
        tls: dict[str, Any] = {
            name: options[name] for name in ("ssl_ca", "ssl_cert", "ssl_key") if name in options
        }
        return bounded_connection()(
            host=connection.host or "localhost",
            port=connection.port or PORT,
            unix_socket=options.get("unix_socket"),
            user=connection.user,
            password=connection.password or "",
            database=connection.path.strip("/") or None,
            charset="utf8mb4",
            connect_timeout=int(CONNECTING),
            autocommit=False,
            local_infile=False,
            client_flag=CLIENT.FOUND_ROWS,
            cursorclass=pymysql.cursors.SSCursor,
            init_command="set time_zone = '+00:00'",
            **tls,
        )

    async def begin(self, *, read_only: bool = False) -> None:
        await self.call(self._execute, f"start transaction{' read only' if read_only else ''}")

    def _execute(self, text: str) -> None:
        with self._conn.cursor() as cursor:
            cursor.execute(text)

    async def run(
        self, text: str, values: Sequence[object] = (), *, most: int | None = None
    ) -> Answer:
        cursor = await self.call(self._run, text, values, most)
        if cursor.description is None:
            return Answer(affected=cursor.rowcount)

        async def fetch(size: int) -> list[Row]:
            return await self.call(read_piece, cursor.fetchmany, size)

        fields = cursor._result.fields  # noqa: SLF001 - the description has no character set
        columns = tuple(Column(name=field.name, type=type_of(field)) for field in fields)
        return Answer(columns=columns, fetch=fetch)

    def _run(self, text: str, values: Sequence[object], most: int | None) -> Any:
        if self._cursor is not None:
            self._cursor.close()
        cursor = self._cursor = self._conn.cursor()
        # The server must not send rows that are not read: an unread row blocks the connection.
        limit = EVERY_ROW if most is None else most + 1
        cursor.execute(f"set session sql_select_limit = {limit}")
        cursor.execute(text, fitting(values) or None)
        return cursor

    async def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        await self.call(self._run_many, text, rows)

    def _run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        import pymysql  # noqa: PLC0415

        # This cursor joins the rows into few statements, which makes it fast.
        with self._conn.cursor(pymysql.cursors.Cursor) as cursor:
            cursor.executemany(text, [fitting(row) for row in rows])

    async def commit(self) -> None:
        await self.call(self._end, self._conn.commit)

    async def rollback(self) -> None:
        await self.call(self._end, self._conn.rollback)

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

    def let_go(self) -> None:
        if self._conn is not None:
            # A regular close, of the connection or the result, would read the unread rows first.
            result = self._conn._result  # noqa: SLF001
            if result is not None:
                result.unbuffered_active = False
            self._conn._force_close()  # noqa: SLF001

    @contextlib.contextmanager
    def translating(self) -> Iterator[None]:
        import pymysql  # noqa: PLC0415

        try:
            yield
        except pymysql.err.MySQLError as error:
            code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
            message = str(error.args[1]) if len(error.args) > 1 else str(error)
            lost = isinstance(error, pymysql.err.InterfaceError)
            final = code not in PASSING and not lost
            raise DatabaseFault(type_=f"mysql {code}", message=message, final=final) from None
        except OSError as error:
            raise DatabaseFault(type_="connection", message=str(error), final=False) from None
        except (TypeError, ValueError) as error:
            # PyMySQL formats parameters itself and fails like this if their number is wrong.
            message = f"the parameters do not match the statement: {error}"
            raise DatabaseFault(type_="wrong parameter", message=message, final=True) from None


@functools.cache
def bounded_connection() -> Any:
    """Return PyMySQL's connection class with a limit on the size of one row.

    A packet of full length means that the row has 16 MiB or more; it is refused unread.
    """
    from pymysql import connections  # noqa: PLC0415

    base: Any = connections.Connection

    class BoundedConnection(base):  # type: ignore[misc] # an untyped optional dependency
        def _read_bytes(self, num_bytes: int) -> Any:
            if num_bytes >= connections.MAX_PACKET_LEN:
                self._force_close()
                raise value_too_large("a row")
            return super()._read_bytes(num_bytes)

    return BoundedConnection


def type_of(field: Any) -> str | None:
    if field.type_code in {249, 250, 251, 252, 253, 254}:
        return "BLOB" if field.charsetnr == BINARY else "VARCHAR"
    return TYPES.get(field.type_code)


def fitting(values: Sequence[object]) -> list[Any]:
    return [given(value, instant=in_utc, exact=True) for value in values]
