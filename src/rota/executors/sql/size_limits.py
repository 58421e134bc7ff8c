"""Limits the size of one value and of one piece of rows that a database may return.

A value is refused where it is read, in the thread or at the socket, before it is converted: a
gigabyte in one cell must neither fill the worker's memory nor block its loop.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from rota.executors.sql.faults import SqlFault
from rota.executors.sql.session import Row

MIB: Final = 1024 * 1024
VALUE_MAX_BYTES: Final = 16 * MIB
# A piece ends after the row that exceeds this, even if it has few rows.
PIECE_MAX_BYTES: Final = 8 * MIB
FETCH_STEP_ROWS: Final = 64


def build_size_fault(what: str = "a value") -> SqlFault:
    return SqlFault(
        type_="value too large",
        message=(
            f"{what} of the result exceeds {VALUE_MAX_BYTES // MIB} MiB, the limit of a job; "
            "select less of it, for example with substr or length"
        ),
        final=True,
    )


def measure_value(value: object) -> int:
    """Return the approximate size of a value in bytes, without converting it."""
    match value:
        case str() | bytes() | bytearray():
            return len(value)
        case memoryview():
            return value.nbytes
        case list() | tuple() | set() | frozenset():
            return sum(map(measure_value, value))
        case dict():
            return sum(measure_value(key) + measure_value(item) for key, item in value.items())
        case _:
            return 8


def measure_row(row: Row) -> int:
    """Return the approximate size of a row in bytes; refuse a value that is too large."""
    total = 0
    for value in row:
        size = measure_value(value)
        if size > VALUE_MAX_BYTES:
            raise build_size_fault()
        total += size
    return total


def read_piece(fetch: Callable[[int], Sequence[Any]], rows_max: int) -> list[Row]:
    """Read up to `rows_max` rows from a driver's cursor; stop once they have enough bytes."""
    rows: list[Row] = []
    size = 0
    while len(rows) < rows_max and size < PIECE_MAX_BYTES:
        wanted = min(FETCH_STEP_ROWS, rows_max - len(rows))
        step = fetch(wanted)
        size += sum(map(measure_row, step))
        rows += step
        if len(step) < wanted:
            break
    return rows
