"""Implements `SqlSession` for DuckDB, in a thread.

A statement cannot access files: external access is off, and the configuration is locked. Only an
ETL job gives DuckDB access to a folder of its own (etl/workbench.py).

An instant with a zone is fetched as a number and converted here, because DuckDB would need pytz.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

from rota.executors.sql.connections import Dialect, SqlConnection
from rota.executors.sql.faults import DatabaseFault, SqlFault, build_missing_extra
from rota.executors.sql.session import ResultColumn, Row, StatementResult, ThreadedSession
from rota.executors.sql.size_limits import read_piece

MEMORY: Final = ":memory:"
NO_EXTERNAL_ACCESS: Final = {"enable_external_access": False}
# A time without a zone becomes an instant in UTC, not in the worker's zone.
IN_UTC: Final = "global timezone = 'UTC'"
ZONED_TYPE: Final = "TIMESTAMP WITH TIME ZONE"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
TRANSIENT_ERRORS: Final = (
    "IOException",
    "TransactionException",
    "InterruptException",
    "ConnectionException",
)


class DuckSession(ThreadedSession):
    dialect = Dialect.DUCKDB

    def __init__(self, *, path: str, config: Mapping[str, object]) -> None:
        super().__init__()
        self._path = path
        self._config: dict[str, Any] = dict(config)
        self._conn: Any = None
        # A database in memory belongs to Rota, not to a connection.
        self._fault = SqlFault if path == MEMORY else DatabaseFault

    @classmethod
    async def open(cls, connection: SqlConnection) -> Self:
        if not await asyncio.to_thread(Path(connection.path).is_file):
            message = "the database file does not exist"
            raise DatabaseFault(type_="no database", message=message, final=True)
        session = await cls.open_path(connection.path, NO_EXTERNAL_ACCESS)
        try:
            await session.lock_configuration()
        except BaseException:
            await session.close()
            raise
        return session

    async def lock_configuration(self) -> None:
        """Lock the configuration, once for all sessions of a file in this process.

        Without the lock a query could switch logging to a file and end the process, because DuckDB
        2.0 does not catch its own error there.
        """
        try:
            for setting in (IN_UTC, "lock_configuration = true"):
                await self.run(f"set {setting}")
        except SqlFault as fault:
            if "has been locked" not in fault.message:
                raise

    @classmethod
    async def open_path(cls, path: str, config: Mapping[str, object]) -> Self:
        try:
            import duckdb  # noqa: F401, PLC0415 - an extra
        except ImportError:
            raise build_missing_extra("sql", "DuckDB") from None
        session = cls(path=path, config=config)
        return await session.connect_or_close()

    @classmethod
    async def open_confined(
        cls, config: Mapping[str, object], *, folder: Path, disk: str, files: Sequence[Path] = ()
    ) -> Self:
        """Open a database in memory that may access only one folder and read some files.

        `disk` limits how much it may spill into the folder. It is set by a statement because DuckDB
        2.0 ignores the limit in the configuration.
        """
        session = await cls.open_path(MEMORY, config)
        allowed = ", ".join(quote_text(str(path)) for path in files)
        # Once external access is off, it cannot be turned on, nor can the allowed paths change.
        for setting in (
            IN_UTC,
            f"temp_directory = {quote_text(str(folder / 'spill'))}",
            f"max_temp_directory_size = {quote_text(disk)}",
            f"allowed_directories = [{quote_text(str(folder))}]",
            f"allowed_paths = [{allowed}]",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            await session.run(f"set {setting}")
        return session

    def connect(self) -> None:
        import duckdb  # noqa: PLC0415

        self._conn = duckdb.connect(self._path, config=self._config)

    async def begin(self, *, read_only: bool = False) -> None:
        await self.call_in_thread(
            self._conn.execute, f"begin transaction{' read only' * read_only}"
        )

    async def run(
        self,
        text: str,
        values: Sequence[object] = (),
        *,
        max_rows: int | None = None,  # noqa: ARG002 - rows are fetched on demand
    ) -> StatementResult:
        cursor, columns, is_query = await self.call_in_thread(self._run, text, list(values))
        if not is_query:
            rows = await self.call_in_thread(cursor.fetchall)
            count = rows[0][0] if rows and len(rows[0]) == 1 else None
            return StatementResult(affected=count if isinstance(count, int) else None)
        zoned = [at for at, column in enumerate(columns) if column.type == ZONED_TYPE]

        async def fetch(size: int) -> list[Row]:
            rows = await self.call_in_thread(read_piece, cursor.fetchmany, size)
            return [convert_instants(row, zoned) for row in rows] if zoned else rows

        return StatementResult(columns=columns, fetch=fetch)

    def _run(self, text: str, values: list[object]) -> tuple[Any, tuple[ResultColumn, ...], bool]:
        import duckdb  # noqa: PLC0415

        statements = self._conn.extract_statements(text)
        if len(statements) != 1:
            message = f"expected one statement, got {len(statements)}"
            raise self._fault(type_="several statements", message=message, final=True)
        query = duckdb.ExpectedResultType.QUERY_RESULT
        is_query = statements[0].expected_result_type == [query]
        if statements[0].type == duckdb.StatementType.SELECT:
            columns = self._describe(text, values)
            if any(column.type == ZONED_TYPE for column in columns):
                text = select_as_microseconds(text, columns)
            cursor = self._conn.execute(text, values or None)
            return cursor, columns, True
        cursor = self._conn.execute(text, values or None)
        columns = tuple(
            ResultColumn(name=one[0], type=str(one[1])) for one in cursor.description or ()
        )
        return cursor, columns, is_query or has_row_columns(columns)

    def _describe(self, text: str, values: list[object]) -> tuple[ResultColumn, ...]:
        rows = self._conn.execute(f"describe {text}", values or None).fetchall()
        return tuple(ResultColumn(name=row[0], type=row[1]) for row in rows)

    async def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        await self.call_in_thread(self._conn.executemany, text, rows)

    async def commit(self) -> None:
        await self.call_in_thread(self._conn.execute, "commit")

    async def rollback(self) -> None:
        await self.call_in_thread(self._conn.execute, "rollback")

    def interrupt(self) -> None:
        if self._conn is not None:
            self._conn.interrupt()

    def disconnect(self) -> None:
        if self._conn is not None:
            self._conn.close()

    @contextlib.contextmanager
    def translate_errors(self) -> Iterator[None]:
        import duckdb  # noqa: PLC0415

        try:
            yield
        except duckdb.Error as error:
            name = type(error).__name__
            # DuckDB reports a write in a read-only transaction as a failed transaction.
            passing = name in TRANSIENT_ERRORS and "read-only mode" not in str(error)
            raise self._fault(
                type_=f"duckdb {name.removesuffix('Exception').lower()}",
                message=str(error),
                final=not passing,
            ) from None
        except RuntimeError as error:
            raise self._fault(type_="duckdb", message=str(error), final=True) from None


def quote_name(name: str) -> str:
    """Quote an identifier for DuckDB."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def quote_text(text: str) -> str:
    """Quote a text for DuckDB, where a parameter is not allowed."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def has_row_columns(columns: tuple[ResultColumn, ...]) -> bool:
    """Return whether a statement other than a query returned rows (`returning`), not a count."""
    return bool(columns) and [column.name for column in columns] not in (["Count"], ["Success"])


def select_as_microseconds(text: str, columns: Sequence[ResultColumn]) -> str:
    """Wrap a query so that it returns instants as microseconds."""
    names = [f"c{at}" for at in range(len(columns))]
    picked = (
        f"epoch_us({name})" if column.type == ZONED_TYPE else name
        for name, column in zip(names, columns, strict=True)
    )
    # The line break ends a trailing comment of the query.
    return f"from ({text}\n) as given({', '.join(names)}) select {', '.join(picked)}"


def convert_instants(row: Row, zoned: Sequence[int]) -> Row:
    if not zoned:
        return row
    cells = list(row)
    for at in zoned:
        if isinstance(cells[at], int):
            cells[at] = EPOCH + timedelta(microseconds=cells[at])
    return tuple(cells)
