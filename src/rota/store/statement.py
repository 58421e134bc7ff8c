"""Loads a .sql file and binds it to its parameters and its row type.

The path is the name: `statement("live_runs/claim", Claimed)` is sql/live_runs/claim.sql. Files use
named parameters with a type (`:room::integer`), which psql understands too. They become $1, $2 …
once, at import, so the text that asyncpg uses as its cache key never changes. Rows are named
tuples: on the hot path, building a frozen dataclass of 17 fields costs eight times as much.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, StrEnum
from importlib.resources import files
from time import perf_counter
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_type_hints

from rota.contract.job import DETAIL_COLUMNS
from rota.core.stored_documents import create_unknown_member
from rota.store.driver import Connection
from rota.store.error_translation import translate_errors

# `/* each detail: , j.{name} */` is repeated for each detail column of a job: a column that stores
# a field unchanged and affects no decision (contract/job.py). Ignoring the comment leaves a valid
# statement for a job without details, which psql and the linter understand.
_EACH_DETAIL: Final = re.compile(r"\s*/\* each detail: (.*?) \*/", re.DOTALL)
# A colon that starts a name, is not the second colon of a cast and is not inside a quoted string.
_PARAMETER: Final = re.compile(r"'(?:[^']|'')*'|--[^\n]*|(?<![:\w]):([a-z_][a-z0-9_]*)")

Row = TypeVar("Row", bound=NamedTuple)

STATEMENTS: Final[dict[str, "Statement[Any]"]] = {}
# Called with the name of a statement and the seconds that it took. Costs 0.7 µs per statement.
StatementObserver = Callable[[str, float], object]
OBSERVERS: Final[list[StatementObserver]] = []


@contextmanager
def observe_statements(observer: StatementObserver) -> Iterator[None]:
    """Tell the observer how long each statement of this process takes, until the block ends."""
    OBSERVERS.append(observer)
    try:
        yield
    finally:
        OBSERVERS.remove(observer)


class NoRow(NamedTuple):
    """The row type of a statement that returns no rows."""


class Statement(Generic[Row]):
    """One SQL statement with named parameters and a typed row."""

    def __init__(self, name: str, source: str, row: type[Row]) -> None:
        self.name = name
        self.row = row
        self.parameters: tuple[str, ...] = ()
        rendered = _EACH_DETAIL.sub(_render_details, source)
        self.text = _PARAMETER.sub(self._number, rendered).strip().removesuffix(";")
        self._make = _row_maker(row)

    def _number(self, match: re.Match[str]) -> str:
        parameter = match.group(1)
        if parameter is None:
            return match.group()
        if parameter not in self.parameters:
            self.parameters = (*self.parameters, parameter)
        return f"${self.parameters.index(parameter) + 1}"

    def _bind(self, values: dict[str, Any]) -> list[Any]:
        if values.keys() != set(self.parameters):
            raise TypeError(f"{self.name} expects {self.parameters}, got {tuple(values)}")
        return [values[parameter] for parameter in self.parameters]

    async def all(self, conn: Connection, **values: Any) -> list[Row]:
        """Run the statement and return all rows."""
        started = perf_counter()
        with translate_errors(conn):
            records = await conn.fetch(self.text, *self._bind(values))
        for observe in OBSERVERS:
            observe(self.name, perf_counter() - started)
        return list(map(self._make, records))

    async def one(self, conn: Connection, **values: Any) -> Row | None:
        """Run the statement and return its first row, or None."""
        started = perf_counter()
        with translate_errors(conn):
            record = await conn.fetchrow(self.text, *self._bind(values))
        for observe in OBSERVERS:
            observe(self.name, perf_counter() - started)
        return None if record is None else self._make(record)


def _render_details(match: re.Match[str]) -> str:
    return "".join(
        match[1].replace("{name}", name).replace("{type}", type_)
        for name, type_ in DETAIL_COLUMNS.items()
    )


def statement(name: str, row: type[Row], *, package: str = "rota.store") -> Statement[Row]:
    """Load sql/<name>.sql of a package and register it, so that a test can check all against the
    schema.
    """
    source = files(package).joinpath("sql", f"{name}.sql").read_text("utf-8")
    loaded = Statement(name, source, row)
    if name in STATEMENTS:
        raise ValueError(f"statement {name} is declared twice")
    STATEMENTS[name] = loaded
    return loaded


class EnumMembers(dict[Any, Enum]):
    """Maps values to members of an enum. A value written by newer code gets a placeholder member
    that can be displayed and equals none of the known members.
    """

    def __init__(self, choices: type[Enum]) -> None:
        super().__init__({member.value: member for member in choices})
        self._choices = choices

    def __missing__(self, value: Any) -> Enum:
        if not issubclass(self._choices, StrEnum):
            raise KeyError(value)
        return create_unknown_member(self._choices, value)


def _row_maker(row: type[Row]) -> Callable[[Sequence[Any]], Row]:
    """Return a function that turns a record into a row and enum columns into members."""
    hints = get_type_hints(row)
    enums = {
        index: hint
        for index, name in enumerate(row._fields)
        if isinstance(hint := hints[name], type) and issubclass(hint, Enum)
    }
    if not enums:
        return row._make

    # A dict lookup, not a call of the enum: this runs for every row of a hot statement.
    members = [(index, EnumMembers(enum)) for index, enum in enums.items()]

    def make(record: Sequence[Any]) -> Row:
        values = list(record)
        for index, by_value in members:
            values[index] = by_value[values[index]]
        return row._make(values)

    return make
