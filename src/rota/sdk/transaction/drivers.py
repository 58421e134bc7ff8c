"""Connections of other people as the store's statements need them. Room: sdk/transaction.

A statement is written for asyncpg with our settings. Here it must work on a connection whose owner
registered types of their own: JSON that is decoded, adapters for dates. So every value goes to the
server as text and is cast there (`$1::text::uuid`), and what a driver made of a JSON column is
turned back into text. Whose transaction it is, and what an error means, differs by driver.
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
from rota.store.translate import first_line, translate, translated

# `$1::uuid[]` in the text of a statement: every parameter is cast (CONTRIBUTING.md, rule 11).
_CAST: Final = re.compile(r"(\$\d+)::([a-z_][a-z0-9_.]*)(\[\])?")
_MICROSECOND: Final = timedelta(microseconds=1)
IN_TRANSACTION: Final = "a connection in a transaction; begin one, and commit it after this"
NOT_FAILED: Final = "a transaction that has not failed; roll it back first"

TEXTS: Final = frozenset({str, type(None)})

Row = Sequence[Any]


@lru_cache(maxsize=256)
def as_text(query: str) -> str:
    """The statement with every parameter sent as text: `$1::uuid[]` is `$1::text[]::uuid[]`."""
    return _CAST.sub(_through_text, query)


def _through_text(found: re.Match[str]) -> str:
    place, type_, array = found[1], found[2], found[3] or ""
    if type_ == "text":
        return found[0]
    return f"{place}::text{array}::{type_}{array}"


def spelled(value: Any) -> Any:
    """A parameter as PostgreSQL reads it from text; lists element by element."""
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
            return _spelled_all(value)
        case _:
            return str(value)


def _spelled_all(values: Collection[Any]) -> list[Any]:
    """The same for a column, whose values are nearly always of one type."""
    types = set(map(type, values))
    if types <= TEXTS:
        return list(values)
    if types == {datetime}:
        return [value.isoformat() for value in values]
    if types == {int}:
        return list(map(str, values))
    return [spelled(value) for value in values]


def plain_row(row: Row) -> Row:
    """A row in which JSON is text again, whoever decoded it."""
    if any(isinstance(value, dict) for value in row):
        return [json.dumps(value) if isinstance(value, dict) else value for value in row]
    return row


class Driver(Protocol):
    """What differs between the drivers."""

    def refuse_outside(self) -> None:
        """Refuse a connection that is in no transaction, or in one that has failed."""

    async def ask(self, query: str, args: Sequence[Any]) -> Sequence[Row]: ...
    def translated(self, error: Exception) -> RotaError | None: ...


class Borrowed:
    """Somebody's connection with the face that `store.driver.Connection` describes, as far as
    submitting needs it.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._numbers = count(1)

    async def fetch(self, query: str, *args: Any) -> list[Row]:
        try:
            # What asyncpg raises is translated by the store; others by their driver.
            with translated():
                rows = await self._driver.ask(as_text(query), [spelled(arg) for arg in args])
        except Exception as error:
            told = self._driver.translated(error)
            if told is None:
                raise
            raise told from error
        return [plain_row(row) for row in rows]

    async def fetchrow(self, query: str, *args: Any) -> Row | None:
        rows = await self.fetch(query, *args)
        return rows[0] if rows else None

    async def fetchval(self, query: str, *args: Any) -> Any:
        row = await self.fetchrow(query, *args)
        return None if row is None else row[0]

    async def execute(self, query: str, *args: Any) -> str:
        await self.fetch(query, *args)
        return ""

    def is_in_transaction(self) -> bool:
        return True  # `refuse_outside` was asked first

    def transaction(self) -> AbstractAsyncContextManager[None]:
        """A savepoint: what is inside fails alone, and the caller's transaction goes on."""
        return self._savepoint(f"rota_{next(self._numbers)}")

    @asynccontextmanager
    async def _savepoint(self, name: str) -> AsyncIterator[None]:
        await self.execute(f"savepoint {name}")
        try:
            yield
        except BaseException:
            # If the connection is gone, so is the transaction, and the first error says more.
            with suppress(Exception):
                await self.execute(f"rollback to savepoint {name}")
                await self.execute(f"release savepoint {name}")
            raise
        await self.execute(f"release savepoint {name}")


class Asyncpg:
    """An asyncpg connection, or one of a pool."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def refuse_outside(self) -> None:
        if self._conn.is_closed():
            raise InvalidInput("conn", "a closed connection", IN_TRANSACTION)
        if not self._conn.is_in_transaction():
            raise InvalidInput("conn", "a connection without a transaction", IN_TRANSACTION)

    async def ask(self, query: str, args: Sequence[Any]) -> Sequence[Row]:
        with translated(self._conn):
            rows = await self._conn.fetch(query, *args)
        return [tuple(row) for row in rows]

    def translated(self, error: Exception) -> RotaError | None:
        del error
        return None


class Blocking:
    """The connection of `ctx.transaction()` in a thread, which is nothing but that transaction."""

    def __init__(self, conn: BlockingConnection) -> None:
        self._conn = conn

    def refuse_outside(self) -> None:
        """Its own statements refuse, once it has ended."""

    async def ask(self, query: str, args: Sequence[Any]) -> Sequence[Row]:
        return [tuple(row) for row in self._conn.fetch(query, *args)]

    def translated(self, error: Exception) -> RotaError | None:
        del error
        return None


class Psycopg:
    """A sync psycopg connection: `ask` never waits, so its coroutine can be driven by hand."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def refuse_outside(self) -> None:
        if self._conn.closed:
            raise InvalidInput("conn", "a closed connection", IN_TRANSACTION)
        if self._conn.info.pipeline_status:
            # Answers come late there, and an error undoes more than the savepoint.
            wanted = (
                "a connection outside of `pipeline()`: each statement needs the last one's answer"
            )
            raise InvalidInput("conn", "a connection in pipeline mode", wanted)
        status = self._conn.info.transaction_status.name
        if status == "INERROR":
            raise InvalidInput("conn", "a failed transaction", NOT_FAILED)
        # Without autocommit the first statement begins the transaction.
        if status == "IDLE" and self._conn.autocommit:
            raise InvalidInput("conn", "a connection in autocommit", IN_TRANSACTION)

    async def ask(self, query: str, args: Sequence[Any]) -> Sequence[Row]:
        import psycopg  # noqa: PLC0415 — an extra of the caller's: whoever comes here has it
        from psycopg.rows import tuple_row  # noqa: PLC0415

        with psycopg.RawCursor(self._conn, row_factory=tuple_row) as cursor:
            cursor.execute(query, args or None)
            return cursor.fetchall() if cursor.description else []

    def translated(self, error: Exception) -> RotaError | None:
        return _of_psycopg(error)


class AsyncPsycopg(Psycopg):
    """The same for psycopg's `AsyncConnection`."""

    async def ask(self, query: str, args: Sequence[Any]) -> Sequence[Row]:
        import psycopg  # noqa: PLC0415 — as above
        from psycopg.rows import tuple_row  # noqa: PLC0415

        async with psycopg.AsyncRawCursor(self._conn, row_factory=tuple_row) as cursor:
            await cursor.execute(query, args or None)
            return await cursor.fetchall() if cursor.description else []


class _Said(Exception):
    """An error of psycopg's with the fields that store/translate.py reads."""

    def __init__(self, error: Any) -> None:
        super().__init__(first_line(error))
        self.sqlstate: str = error.sqlstate
        self.detail: str | None = error.diag.message_detail


def _of_psycopg(error: Exception) -> RotaError | None:
    import psycopg  # noqa: PLC0415 — as above

    if not isinstance(error, psycopg.Error):
        return None
    if error.sqlstate is None:
        # The server went away, or the driver refused: it has no code of the server's.
        fault = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return StoreUnavailable(reason=first_line(error)) if fault else None
    return translate(_Said(error))
