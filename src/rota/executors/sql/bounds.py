"""Bounds on what a database may hand over: one value, and one piece of rows. Room: executors/sql.

A value is refused in the thread, or at the socket, that reads it, before it is converted: a
gigabyte in one cell must neither fill the worker's memory nor block its loop.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from rota.executors.sql.faults import Fault
from rota.executors.sql.session import Row

MIB: Final = 1024 * 1024
VALUE_MAX_BYTES: Final = 16 * MIB
# A piece ends after the row that passes this, however few rows it has.
PIECE_MAX_BYTES: Final = 8 * MIB
STEP_ROWS: Final = 64


def value_too_large(what: str = "a value") -> Fault:
    return Fault(
        type_="value too large",
        message=(
            f"{what} of the result has more than {VALUE_MAX_BYTES // MIB} MiB, the most that a job "
            "may read; select less of it, for example with substr or length"
        ),
        final=True,
    )


def size_of(value: object) -> int:
    """Return roughly how many bytes a value has, without converting it."""
    match value:
        case str() | bytes() | bytearray():
            return len(value)
        case memoryview():
            return value.nbytes
        case list() | tuple() | set() | frozenset():
            return sum(map(size_of, value))
        case dict():
            return sum(size_of(key) + size_of(one) for key, one in value.items())
        case _:
            return 8


def row_size(row: Row) -> int:
    """Return roughly how many bytes a row has; refuse one with a value that is too large."""
    total = 0
    for value in row:
        size = size_of(value)
        if size > VALUE_MAX_BYTES:
            raise value_too_large()
        total += size
    return total


def read_piece(fetch: Callable[[int], Sequence[Any]], rows_max: int) -> list[Row]:
    """Read up to so many rows from a driver's cursor, and no more once they have enough bytes."""
    rows: list[Row] = []
    size = 0
    while len(rows) < rows_max and size < PIECE_MAX_BYTES:
        wanted = min(STEP_ROWS, rows_max - len(rows))
        step = fetch(wanted)
        size += sum(map(row_size, step))
        rows += step
        if len(step) < wanted:
            break
    return rows
