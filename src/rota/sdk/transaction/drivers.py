"""Adapts the caller's database connection to the store's statements.

The store's statements are written for asyncpg with Rota's settings. The caller's connection may
have other type adapters, such as for JSON or dates. So every value is sent as text and cast on the
server (`$1::text::uuid`), and decoded JSON columns are converted back to text. How a driver reports
transactions and errors differs by driver.
"""

import json
import re
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache
from itertools import count
from typing import Any, Final, Protocol

from rota.core.errors import InvalidInput, RotaError, StoreUnavailable
from rota.executors.python.transactions import BlockingConnection
from rota.store.error_translation import first_line_of, translate_error, translate_errors

# `$1::uuid[]` in the text of a statement: every parameter is cast (CONTRIBUTING.md, rule 11).
_CAST: Final = re.compile(r"(\$\d+)::([a-z_][a-z0-9_.]*)(\[\])?")
_MICROSECOND: Final = timedelta(microseconds=1)
OPEN_TRANSACTION_EXPECTED: Final = (
    "expected an open transaction; begin one, and commit it afterwards"
)
TRANSACTION_FAILED: Final = "the transaction has failed; roll it back first"

TEXT_TYPES: Final = frozenset({str, type(None)})

ResultRow = Sequence[Any]


@lru_cache(maxsize=256)
def add_text_casts(query: str) -> str:
    """Send every parameter as text: `$1::uuid[]` becomes `$1::text[]::uuid[]`."""
    return _CAST.sub(_add_text_cast, query)


def _add_text_cast(match: re.Match[str]) -> str:
    parameter, type_, array = match[1], match[2], match[3] or ""
    if type_ == "text":
        return match[0]
    return f"{parameter}::text{array}::{type_}{array}"


def write_parameter(value: Any) -> Any:
    """Write a parameter as text for PostgreSQL; lists element by element."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case Enum():
            return str(value.value)
        case datetime():
            return value.isoformat()
        case timedelta():
            return f"{value // _MICROSECOND} microseconds"
        case bytes():
            return f"\\x{value.hex()}"
        case str():
            return value
        case list() | tuple() | set() | frozenset():
            return _spell_all(value)
        case _:
            return str(value)


def _spell_all(values: Collection[Any]) -> list[Any]:
    """Write a column as texts; fast if its values have one type, as they nearly always do."""
    types = set(map(type, values))
    if types <= TEXT_TYPES:
        return list(values)
    if types == {datetime}:
        return [value.isoformat() for value in values]
    if types == {int}:
        return list(map(str, values))
    return [write_parameter(value) for value in values]


def encode_json_columns(row: ResultRow) -> ResultRow:
    """Convert decoded JSON in a row back to text."""
    if any(isinstance(value, dict) for value in row):
        return [json.dumps(value) if isinstance(value, dict) else value for value in row]
    return row


class CallerDriver(Protocol):
    """The operations that differ between drivers."""

    def require_transaction(self) -> None:
        """Raise `InvalidInput` if the connection is in no transaction, or in a failed one."""

    async def fetch_rows(self, query: str, args: Sequence[Any]) -> Sequence[ResultRow]: ...
    def translate_error(self, error: Exception) -> RotaError | None: ...


class CallerConnection:
    """The caller's connection with the interface of `store.driver.Connection`, as far as a
    submission needs it.
    """

    def __init__(self, driver: CallerDriver) -> None:
        self._driver = driver
        self._numbers = count(1)

    async def fetch(self, query: str, *args: Any) -> list[ResultRow]:
        try:
            # The store translates errors of asyncpg; the drivers translate all others.
            with translate_errors():
                rows = await self._driver.fetch_rows(
                    add_text_casts(query), [write_parameter(arg) for arg in args]
                )
        except Exception as error:
            rota_error = self._driver.translate_error(error)
            if rota_error is None:
                raise
            raise rota_error from error
        return [encode_json_columns(row) for row in rows]

    async def fetchrow(self, query: str, *args: Any) -> ResultRow | None:
        rows = await self.fetch(query, *args)
        return rows[0] if rows else None

    async def fetchval(self, query: str, *args: Any) -> Any:
        row = await self.fetchrow(query, *args)
        return None if row is None else row[0]

    async def execute(self, query: str, *args: Any) -> str:
        await self.fetch(query, *args)
        return ""

    def is_in_transaction(self) -> bool:
        return True  # `refuse_outside` was called first

    def transaction(self) -> AbstractAsyncContextManager[None]:
        """A savepoint: an error inside it does not fail the caller's transaction."""
        return self._savepoint(f"rota_{next(self._numbers)}")

    @asynccontextmanager
    async def _savepoint(self, name: str) -> AsyncIterator[None]:
        await self.execute(f"savepoint {name}")
        try:
            yield
        except BaseException:
            # If the connection is lost, so is the transaction; the first error is the better one.
            with suppress(Exception):
                await self.execute(f"rollback to savepoint {name}")
                await self.execute(f"release savepoint {name}")
            raise
        await self.execute(f"release savepoint {name}")


class AsyncpgDriver:
    """An asyncpg connection, or one from a pool."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def require_transaction(self) -> None:
        if self._conn.is_closed():
            raise InvalidInput("conn", "a closed connection", OPEN_TRANSACTION_EXPECTED)
        if not self._conn.is_in_transaction():
            raise InvalidInput(
                "conn", "a connection without a transaction", OPEN_TRANSACTION_EXPECTED
            )

    async def fetch_rows(self, query: str, args: Sequence[Any]) -> Sequence[ResultRow]:
        with translate_errors(self._conn):
            rows = await self._conn.fetch(query, *args)
        return [tuple(row) for row in rows]

    def translate_error(self, error: Exception) -> RotaError | None:
        del error
        return None


class BlockingDriver:
    """The connection of `ctx.transaction()` in a `def` job; it exists only in its transaction."""

    def __init__(self, conn: BlockingConnection) -> None:
        self._conn = conn

    def require_transaction(self) -> None:
        """Do nothing: the connection's statements raise once the transaction has ended."""

    async def fetch_rows(self, query: str, args: Sequence[Any]) -> Sequence[ResultRow]:
        return [tuple(row) for row in self._conn.fetch(query, *args)]

    def translate_error(self, error: Exception) -> RotaError | None:
        del error
        return None


class PsycopgDriver:
    """A sync psycopg connection: `ask` never suspends, so no event loop is needed."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def require_transaction(self) -> None:
        if self._conn.closed:
            raise InvalidInput("conn", "a closed connection", OPEN_TRANSACTION_EXPECTED)
        if self._conn.info.pipeline_status:
            # In a pipeline results arrive late, and an error undoes more than the savepoint.
            wanted = (
                "expected a connection outside of `pipeline()`: each statement needs the result "
                "of the previous one"
            )
            raise InvalidInput("conn", "a connection in pipeline mode", wanted)
        status = self._conn.info.transaction_status.name
        if status == "INERROR":
            raise InvalidInput("conn", "a failed transaction", TRANSACTION_FAILED)
        # Without autocommit the first statement begins the transaction.
        if status == "IDLE" and self._conn.autocommit:
            raise InvalidInput("conn", "a connection in autocommit", OPEN_TRANSACTION_EXPECTED)

    async def fetch_rows(self, query: str, args: Sequence[Any]) -> Sequence[ResultRow]:
        import psycopg  # noqa: PLC0415 — optional; installed if the caller has such a connection
        from psycopg.rows import tuple_row  # noqa: PLC0415

        with psycopg.RawCursor(self._conn, row_factory=tuple_row) as cursor:
            cursor.execute(query, args or None)
            return cursor.fetchall() if cursor.description else []

    def translate_error(self, error: Exception) -> RotaError | None:
        return _translate_psycopg(error)


class AsyncPsycopgDriver(PsycopgDriver):
    """An async psycopg connection."""

    async def fetch_rows(self, query: str, args: Sequence[Any]) -> Sequence[ResultRow]:
        import psycopg  # noqa: PLC0415 — as above
        from psycopg.rows import tuple_row  # noqa: PLC0415

        async with psycopg.AsyncRawCursor(self._conn, row_factory=tuple_row) as cursor:
            await cursor.execute(query, args or None)
            return await cursor.fetchall() if cursor.description else []


class _PsycopgError(Exception):
    """An error of psycopg with the fields that store/error_translation.py reads."""

    def __init__(self, error: Any) -> None:
        super().__init__(first_line_of(error))
        self.sqlstate: str = error.sqlstate
        self.detail: str | None = error.diag.message_detail


def _translate_psycopg(error: Exception) -> RotaError | None:
    import psycopg  # noqa: PLC0415 — as above

    if not isinstance(error, psycopg.Error):
        return None
    if error.sqlstate is None:
        # The connection was lost, or the driver raised: there is no SQLSTATE from the server.
        is_lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return StoreUnavailable(reason=first_line_of(error)) if is_lost else None
    return translate_error(_PsycopgError(error))
