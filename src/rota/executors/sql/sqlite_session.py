"""Implements `SqlSession` for SQLite, through the standard library.

A statement must not access another file: attaching (and `vacuum into`, which attaches) and loading
code are refused, and so is every pragma that is not known to be harmless. The file must exist, so
that a misspelt setting does not create a database. A value has at most `VALUE_MAX_BYTES`.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Self
from urllib.parse import quote

from rota.executors.sql.connections import Dialect, SqlConnection
from rota.executors.sql.faults import DatabaseFault
from rota.executors.sql.session import ResultColumn, Row, StatementResult, ThreadedSession
from rota.executors.sql.size_limits import VALUE_MAX_BYTES, build_size_fault, read_piece
from rota.executors.sql.values import to_driver

BUSY_TIMEOUT_S: Final = 2.0
TOO_LARGE: Final = "SQLITE_TOOBIG"
# Pragmas that only read; those of the second set may also be set.
READABLE_PRAGMAS: Final = frozenset(
    {
        *("application_id", "collation_list", "compile_options", "data_version", "encoding"),
        *("foreign_key_check", "foreign_key_list", "foreign_keys", "freelist_count"),
        *("function_list", "index_info", "index_list", "index_xinfo", "integrity_check"),
        *("journal_mode", "module_list", "page_count", "page_size", "pragma_list", "quick_check"),
        *("schema_version", "table_info", "table_list", "table_xinfo", "user_version"),
    }
)
SETTABLE_PRAGMAS: Final = frozenset(
    {"application_id", "defer_foreign_keys", "foreign_keys", "optimize", "user_version"}
)
# Pragmas whose value is the name to describe, or the number of errors to report.
ARGUMENT_PRAGMAS: Final = frozenset(
    {
        *("foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo"),
        *("integrity_check", "quick_check", "table_info", "table_list", "table_xinfo"),
    }
)
TRANSIENT_ERRORS: Final = (
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_IOERR",
    "SQLITE_FULL",
    "SQLITE_INTERRUPT",
)


class SqliteSession(ThreadedSession):
    dialect = Dialect.SQLITE

    def __init__(self, *, path: str, read_only: bool) -> None:
        super().__init__()
        self._path = path
        self._mode = "ro" if read_only else "rw"
        self._conn: sqlite3.Connection | None = None
        # True while the session itself runs a pragma.
        self._is_own_pragma = False

    @classmethod
    async def open(cls, connection: SqlConnection) -> Self:
        return await cls(path=connection.path, read_only=connection.read_only).connect_or_close()

    def connect(self) -> None:
        try:
            self._conn = sqlite3.connect(
                f"file:{quote(self._path)}?mode={self._mode}",
                uri=True,
                timeout=BUSY_TIMEOUT_S,
                isolation_level=None,
                check_same_thread=False,
            )
            self._conn.execute("pragma schema_version").fetchone()
        except sqlite3.Error as error:
            if "unable to open" not in str(error):
                raise
            message = "the database file does not exist or cannot be opened"
            raise DatabaseFault(type_="no database", message=message, final=True) from None
        self._conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES)
        self._conn.set_authorizer(self._authorize)

    def _authorize(self, action: int, *arguments: Any) -> int:
        if self._is_own_pragma and action == sqlite3.SQLITE_PRAGMA:
            return sqlite3.SQLITE_OK
        return authorize(action, *arguments)

    @property
    def conn(self) -> sqlite3.Connection:
        if self._conn is None:
            raise DatabaseFault(type_="connection", message="the connection is closed", final=False)
        return self._conn

    async def begin(self, *, read_only: bool = False) -> None:
        await self.call_in_thread(self._begin, read_only=read_only)

    def _begin(self, *, read_only: bool) -> None:
        self._is_own_pragma = True
        try:
            self.conn.execute(f"pragma query_only = {'on' if read_only else 'off'}")
        finally:
            self._is_own_pragma = False
        # Take the write lock at once: a reader that becomes a writer fails instead of waiting.
        writes = not read_only and self._mode == "rw"
        self.conn.execute("begin immediate" if writes else "begin")

    async def run(
        self,
        text: str,
        values: Sequence[object] = (),
        *,
        max_rows: int | None = None,  # noqa: ARG002 - rows are fetched on demand
    ) -> StatementResult:
        cursor = await self.call_in_thread(self._run, text, values)
        if cursor.description is None:
            return StatementResult(affected=None if cursor.rowcount < 0 else cursor.rowcount)
        columns = tuple(ResultColumn(name=field[0]) for field in cursor.description)

        async def fetch(size: int) -> list[Row]:
            return await self.call_in_thread(read_piece, cursor.fetchmany, size)

        return StatementResult(columns=columns, fetch=fetch)

    def _run(self, text: str, values: Sequence[object]) -> sqlite3.Cursor:
        return self.conn.execute(text, convert_values(values))

    async def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        await self.call_in_thread(self._run_many, text, rows)

    def _run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        self.conn.executemany(text, (convert_values(row) for row in rows))

    async def commit(self) -> None:
        await self.call_in_thread(self.conn.commit)

    async def rollback(self) -> None:
        await self.call_in_thread(self.conn.rollback)

    def interrupt(self) -> None:
        self.conn.interrupt()

    def disconnect(self) -> None:
        if self._conn is not None:
            self._conn.close()

    @contextlib.contextmanager
    def translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "") or type(error).__name__
            if name == TOO_LARGE:
                raise build_size_fault() from None
            raise DatabaseFault(
                type_=name, message=str(error), final=not name.startswith(TRANSIENT_ERRORS)
            ) from None
        except (OverflowError, UnicodeEncodeError) as error:
            raise DatabaseFault(type_="wrong parameter", message=str(error), final=True) from None


def authorize(action: int, name: str | None, value: str | None, *_: Any) -> int:
    """Return SQLite's code for whether a statement of a job may do this."""
    is_denied = action in {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
    if action == sqlite3.SQLITE_PRAGMA:
        is_denied = not is_harmless_pragma((name or "").lower(), value)
    return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK


def is_harmless_pragma(name: str, value: str | None) -> bool:
    if value is None:
        return name in READABLE_PRAGMAS | SETTABLE_PRAGMAS
    return name in SETTABLE_PRAGMAS | ARGUMENT_PRAGMAS


def convert_values(values: Sequence[object]) -> list[Any]:
    return [to_driver(value, instant=datetime.isoformat, exact=False) for value in values]
