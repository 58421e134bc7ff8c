"""Implements `SqlSession` for PostgreSQL, through asyncpg.

asyncpg asks the server to cancel a statement whose caller was cancelled; closing waits for that.
Parameters come from JSON, and the server reports the types that it expects, so this module converts
texts to dates and decimals.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, Final, Self

import asyncpg

from rota.executors.sql.byte_budget import ByteBudget
from rota.executors.sql.connections import Dialect, SqlConnection
from rota.executors.sql.faults import DatabaseFault
from rota.executors.sql.session import (
    CLOSE_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    ResultColumn,
    Row,
    SqlSession,
    StatementResult,
)
from rota.executors.sql.size_limits import PIECE_MAX_BYTES, build_size_fault, measure_row
from rota.executors.sql.values import JsonText, to_naive_utc, to_plain

# Connection, transaction rollback (serialization, deadlock), resources, system, internal; then
# query_canceled, shutdowns, lock_not_available.
TRANSIENT_STATE_CLASSES: Final = ("08", "40", "53", "58", "XX")
# Rows of the first fetch, before the size of a row is known.
FIRST_FETCH_ROWS: Final = 20
# Larger fetches are decoded in a thread, because they would block the event loop for too long.
INLINE_MAX_BYTES: Final = 256 * 1024
TRANSIENT_STATES: Final = frozenset({"57014", "57P01", "57P02", "57P03", "55P03", "25P03"})

DUCKDB_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bool": "BOOLEAN",
        "int2": "SMALLINT",
        "int4": "INTEGER",
        "int8": "BIGINT",
        "oid": "BIGINT",
        "float4": "FLOAT",
        "float8": "DOUBLE",
        "text": "VARCHAR",
        "varchar": "VARCHAR",
        "bpchar": "VARCHAR",
        "name": "VARCHAR",
        "uuid": "UUID",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
        "timestamptz": "TIMESTAMPTZ",
        "interval": "INTERVAL",
        "bytea": "BLOB",
        "json": "JSON",
        "jsonb": "JSON",
    }
)


class PostgresSession(SqlSession):
    dialect = Dialect.POSTGRESQL

    def __init__(self, conn: Any) -> None:
        self._conn = conn
        self._transaction: Any = None
        self._budget = ByteBudget(conn)

    @classmethod
    async def open(cls, connection: SqlConnection) -> Self:
        with translate_errors():
            conn = await asyncpg.connect(
                connection.url,
                timeout=CONNECT_TIMEOUT_S,
                # A connection pooler may not keep prepared statements.
                statement_cache_size=0,
                server_settings={"application_name": "rota"},
            )
        return cls(conn)

    async def begin(self, *, read_only: bool = False) -> None:
        with translate_errors():
            self._transaction = self._conn.transaction(
                readonly=read_only, isolation="repeatable_read" if read_only else None
            )
            await self._transaction.start()
            if read_only:
                # After a first query, the server refuses `set transaction read write`.
                await self._conn.execute("select 1")

    async def run(
        self,
        text: str,
        values: Sequence[object] = (),
        *,
        max_rows: int | None = None,  # noqa: ARG002 - rows are fetched on demand
    ) -> StatementResult:
        with self._bounded():
            prepared = await self._conn.prepare(text)
            bound = convert_values(prepared.get_parameters(), values)
            attributes = prepared.get_attributes()
            if not attributes:
                await prepared.fetch(*bound)
                return StatementResult(affected=parse_affected(prepared.get_statusmsg()))
            cursor = await prepared.cursor(*bound)
        columns = tuple(
            ResultColumn(name=attr.name, type=find_duckdb_type(attr.type)) for attr in attributes
        )
        structured = [
            index for index, attr in enumerate(attributes) if attr.type.name in {"json", "jsonb"}
        ]

        pace = FetchSize()

        async def fetch(size: int) -> list[Row]:
            with self._bounded():
                records = await cursor.fetch(pace.next_rows(size))
            pace.note(len(records), self._budget.received)
            if self._budget.received <= INLINE_MAX_BYTES:
                return decode_piece(records, structured)
            return await asyncio.to_thread(decode_piece, records, structured)

        return StatementResult(columns=columns, fetch=fetch)

    @contextlib.contextmanager
    def _bounded(self) -> Iterator[None]:
        """Translate errors; report a value that exceeded the byte budget as such."""
        self._budget.restart()
        try:
            with translate_errors():
                yield
        except DatabaseFault:
            if self._budget.is_exceeded:
                raise build_size_fault() from None
            raise

    async def run_many(self, text: str, rows: Sequence[Sequence[object]]) -> None:
        with translate_errors():
            await self._conn.executemany(text, rows)

    async def commit(self) -> None:
        with translate_errors():
            await self._transaction.commit()

    async def rollback(self) -> None:
        with translate_errors():
            await self._transaction.rollback()

    async def close(self) -> None:
        try:
            await self._conn.close(timeout=CLOSE_TIMEOUT_S)
        except asyncio.CancelledError:
            self._conn.terminate()
            raise
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self._conn.terminate()


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    try:
        yield
    except asyncpg.PostgresError as error:
        state = error.sqlstate or ""
        passing = state in TRANSIENT_STATES or state.startswith(TRANSIENT_STATE_CLASSES)
        type_, fields = f"sqlstate {state}", error.as_dict()
        message = " ".join(filter(None, (fields.get("message"), fields.get("detail"))))
        raise DatabaseFault(type_=type_, message=message or str(error), final=not passing) from None
    except TimeoutError:
        message = "no response in time"
        raise DatabaseFault(type_="connection", message=message, final=False) from None
    except (OSError, asyncpg.InternalClientError) as error:
        raise DatabaseFault(
            type_="connection", message=str(error) or repr(error), final=False
        ) from None
    except asyncpg.InterfaceError as error:
        # asyncpg uses the same class for a closed connection and a parameter of the wrong type.
        lost = "closed" in str(error)
        type_ = "connection" if lost else "wrong parameter"
        raise DatabaseFault(type_=type_, message=str(error), final=not lost) from None


def find_duckdb_type(type_: Any) -> str | None:
    """Return DuckDB's name of a type; None for numeric, whose scale only its values show."""
    if type_.name.endswith("[]"):
        return "JSON"
    return None if type_.name == "numeric" else DUCKDB_TYPES.get(type_.name, "VARCHAR")


@dataclass(slots=True)
class FetchSize:
    """Decides how many rows to fetch at once: few at first, then as many as fit into a piece."""

    row_bytes: float = PIECE_MAX_BYTES / FIRST_FETCH_ROWS

    def next_rows(self, wanted: int) -> int:
        return max(1, min(wanted, int(PIECE_MAX_BYTES / self.row_bytes)))

    def note(self, rows: int, received: int) -> None:
        self.row_bytes = max(1.0, received / max(1, rows))


def decode_piece(records: Sequence[Any], structured: Sequence[int]) -> list[Row]:
    rows = [tuple(record) for record in records]
    for row in rows:
        measure_row(row)
    return [decode_row(row, structured) for row in rows] if structured else rows


def decode_row(row: Row, structured: Sequence[int]) -> Row:
    if not structured:
        return row
    cells = list(row)
    for at in structured:
        if isinstance(cells[at], str):
            cells[at] = json.loads(cells[at])
    return tuple(cells)


def parse_affected(status: str | None) -> int | None:
    """Return the number of rows in a status such as `INSERT 0 5`; `CREATE TABLE` has none."""
    number = (status or "").rpartition(" ")[2]
    return int(number) if number.isdigit() else None


def parse_instant(value: str) -> datetime:
    return datetime.fromisoformat(value)


TEXT_PARSERS: Final[Mapping[str, Callable[[str], object]]] = MappingProxyType(
    {
        "date": date.fromisoformat,
        "time": time.fromisoformat,
        "timestamp": parse_instant,
        "timestamptz": parse_instant,
        "numeric": Decimal,
        "bytea": bytes.fromhex,
    }
)


def convert_values(wanted: Sequence[Any], values: Sequence[object]) -> list[object]:
    if len(wanted) != len(values):
        message = f"the statement has {len(wanted)} parameters, but the job has {len(values)}"
        raise DatabaseFault(type_="wrong parameter", message=message, final=True)
    pairs = zip(wanted, values, strict=True)
    return [convert_value(type_.name, value, at) for at, (type_, value) in enumerate(pairs, 1)]


def convert_value(type_: str, value: object, at: int) -> object:
    """Convert a value from JSON to the type that the server expects."""
    if isinstance(value, JsonText):
        return value
    if isinstance(value, str) and type_ in TEXT_PARSERS:
        value = parse_text(type_, value, at)
    if isinstance(value, datetime) and type_ == "timestamp":
        return to_naive_utc(value)
    if isinstance(value, datetime) and type_ == "timestamptz":
        # Without a zone it is UTC, as everywhere in Rota; asyncpg would use the worker's zone.
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, datetime) and type_ != "date":
        return value.isoformat()
    if type_ in {"json", "jsonb"} and value is not None:
        return json.dumps(to_plain(value), ensure_ascii=False)
    if type_ == "numeric" and isinstance(value, int | float):
        return Decimal(str(value))
    return value


def parse_text(type_: str, value: str, at: int) -> object:
    try:
        return TEXT_PARSERS[type_](value)
    except (ValueError, InvalidOperation):
        message = f"parameter {at} cannot be parsed as {type_}"
        raise DatabaseFault(type_="wrong parameter", message=message, final=True) from None
