"""Stages rows of any database for DuckDB: JSON lines in a file, and the types of the columns.

DuckDB reads such a file faster than Python could pass rows to it, and a file needs no memory. A
type that a driver does not report (decimals without their scale, SQLite) is inferred from the
values.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Self
from uuid import UUID

import msgspec

from rota.executors.sql.duckdb_session import quote_name, quote_text
from rota.executors.sql.faults import SqlFault
from rota.executors.sql.session import ResultColumn, Row
from rota.executors.sql.values import to_plain

DECIMAL_DIGITS_MAX: Final = 38
# Bytes; DuckDB uses twice as much memory as the longest allowed line.
ROW_LIMIT_MIN_BYTES: Final = 1024 * 1024
DUCKDB_TYPE_OF: Final = (
    (bool, "BOOLEAN"),
    (int, "BIGINT"),
    (float, "DOUBLE"),
    (Decimal, "DECIMAL"),
    (str, "VARCHAR"),
    (bytes | bytearray | memoryview, "BLOB"),
    (datetime, "TIMESTAMP"),
    (date, "DATE"),
    (time, "TIME"),
    (timedelta, "INTERVAL"),
    (UUID, "UUID"),
    (Mapping | list | tuple, "JSON"),
)


@dataclass(slots=True)
class ColumnTypeGuess:
    """Infers the type of one column from its values."""

    kinds: set[str] = field(default_factory=set)
    whole: int = 0
    fraction: int = 0

    def add(self, value: object) -> None:
        kind = next((name for type_, name in DUCKDB_TYPE_OF if isinstance(value, type_)), "VARCHAR")
        if kind == "TIMESTAMP" and isinstance(value, datetime) and value.tzinfo is not None:
            kind = "TIMESTAMPTZ"
        elif kind == "BIGINT" and isinstance(value, int) and not -(2**63) <= value < 2**63:
            kind = "HUGEINT"
        elif isinstance(value, Decimal):
            kind = self._measure(value)
        self.kinds.add(kind)

    def _measure(self, value: Decimal) -> str:
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int):
            return "DOUBLE"
        self.fraction = max(self.fraction, -exponent)
        self.whole = max(self.whole, value.adjusted() + 1)
        return "DECIMAL"

    @property
    def type(self) -> str:
        if len(self.kinds) == 1:
            kind = next(iter(self.kinds))
            return self._decimal() if kind == "DECIMAL" else kind
        if self.kinds == {"BIGINT", "HUGEINT"}:
            return "HUGEINT"
        if self.kinds and self.kinds <= {"BIGINT", "HUGEINT", "DOUBLE", "DECIMAL"}:
            return "DOUBLE"
        return "VARCHAR"

    def _decimal(self) -> str:
        digits = self.whole + self.fraction
        return (
            f"DECIMAL({max(digits, 1)},{self.fraction})"
            if digits <= DECIMAL_DIGITS_MAX
            else "DOUBLE"
        )


class RowStaging:
    """A file of rows, `most` bytes at most. Fill it, leave the block, then call `selecting`."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[ResultColumn],
        *,
        types: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
    ) -> None:
        refuse_duplicate_names([column.name for column in columns])
        overrides = types or {}
        self.path = path
        self.rows = 0
        self._longest = ROW_LIMIT_MIN_BYTES
        self._names = [column.name for column in columns]
        self._types = [overrides.get(column.name, column.type) for column in columns]
        self._seen = [ColumnTypeGuess() for _ in columns]
        self._keys = [f"c{at}" for at in range(len(columns))]
        self._encode = msgspec.json.Encoder().encode
        self._file: Any = None
        self._max_bytes = max_bytes

    def __enter__(self) -> Self:
        self._file = self.path.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            cells = {}
            for key, type_, seen, value in zip(
                self._keys, self._types, self._seen, row, strict=True
            ):
                if value is not None:
                    cells[key] = encode_value(value)
                    if type_ is None:
                        seen.add(value)
            line = self._encode(cells) + b"\n"
            self._longest = max(self._longest, len(line) + 1)
            self._file.write(line)
        self.rows += len(rows)
        if self._max_bytes is not None and self._file.tell() > self._max_bytes:
            message = "the rows need more disk than executors.etl_disk allows"
            raise SqlFault(type_="too large", message=message, final=True)

    @property
    def types(self) -> list[str]:
        pairs = zip(self._types, self._seen, strict=True)
        return [type_ or seen.type for type_, seen in pairs]

    def build_select(self) -> str:
        """Return a query that yields the rows in order, with names and types."""
        types = self.types
        # Bytes are staged as hexadecimal digits.
        read = ["VARCHAR" if type_ == "BLOB" else type_ for type_ in types]
        listed = ", ".join(
            f"{key}: {quote_text(type_)}" for key, type_ in zip(self._keys, read, strict=True)
        )
        picked = ", ".join(
            f"{f'unhex({key})' if type_ == 'BLOB' else key} as {quote_name(name)}"
            for key, type_, name in zip(self._keys, types, self._names, strict=True)
        )
        return (
            f"from read_json({quote_text(str(self.path))}, format = 'newline_delimited', "
            f"records = true, columns = {{{listed}}}, "
            f"maximum_object_size = {self._longest}) select {picked}"
        )


def encode_value(value: object) -> object:
    match value:
        case bool() | str():
            return value
        case int():
            return value if -(2**63) <= value < 2**63 else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex()
        case timedelta():
            return f"{value // timedelta(microseconds=1)} microseconds"
        case _:
            return to_plain(value)


def refuse_duplicate_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name or name.lower() in seen:
            message = f"every column needs a unique name; {name!r} is empty or occurs twice"
            raise SqlFault(type_="column names", message=message, final=True)
        seen.add(name.lower())
