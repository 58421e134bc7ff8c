"""Loads one .sql file and binds it to its parameters and its row. Room: store.

The path is the name: `statement("live_runs/claim", Claimed)` is sql/live_runs/claim.sql. Files
write named parameters with a type (`:room::integer`), which psql understands too; they are turned
into $1, $2 … once, at import, so the text that asyncpg caches by never changes. Rows are named
tuples: making a frozen dataclass of 17 fields costs eight times as much, on the hot path.
"""

import re
from collections.abc import Callable, Sequence
from enum import Enum, StrEnum
from importlib.resources import files
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_type_hints

from rota.contract.job import DETAIL_COLUMNS
from rota.core.documents import unknown_member
from rota.store.driver import Connection
from rota.store.translate import translated

# `/* each detail: , j.{name} */` stands for its text once for each detail of a job: a column that
# holds a field as it was given and that decides nothing (contract/job.py). Without the comment the
# statement is the one for a job without details, which psql and the linter understand.
_EACH_DETAIL: Final = re.compile(r"\s*/\* each detail: (.*?) \*/", re.DOTALL)
# A colon that begins a name, and is neither the second of a cast nor inside a quoted string.
_PARAMETER: Final = re.compile(r"'(?:[^']|'')*'|--[^\n]*|(?<![:\w]):([a-z_][a-z0-9_]*)")

Row = TypeVar("Row", bound=NamedTuple)

ALL: Final[dict[str, "Statement[Any]"]] = {}


class Nothing(NamedTuple):
    """The row of a statement that returns none."""


class Statement(Generic[Row]):
    """One SQL statement with named parameters and a typed row."""

    def __init__(self, name: str, source: str, row: type[Row]) -> None:
        self.name = name
        self.row = row
        self.parameters: tuple[str, ...] = ()
        rendered = _EACH_DETAIL.sub(_render_details, source)
        self.text = _PARAMETER.sub(self._number, rendered).strip().removesuffix(";")
        self._make = _maker(row)

    def _number(self, match: re.Match[str]) -> str:
        parameter = match.group(1)
        if parameter is None:
            return match.group()
        if parameter not in self.parameters:
            self.parameters = (*self.parameters, parameter)
        return f"${self.parameters.index(parameter) + 1}"

    def _bind(self, values: dict[str, Any]) -> list[Any]:
        if values.keys() != set(self.parameters):
            raise TypeError(f"{self.name} takes {self.parameters}, not {tuple(values)}")
        return [values[parameter] for parameter in self.parameters]

    async def all(self, conn: Connection, **values: Any) -> list[Row]:
        """Run it and return every row."""
        with translated(conn):
            records = await conn.fetch(self.text, *self._bind(values))
        return list(map(self._make, records))

    async def one(self, conn: Connection, **values: Any) -> Row | None:
        """Run it and return its first row, if there is one."""
        with translated(conn):
            record = await conn.fetchrow(self.text, *self._bind(values))
        return None if record is None else self._make(record)


def _render_details(match: re.Match[str]) -> str:
    return "".join(
        match[1].replace("{name}", name).replace("{type}", type_)
        for name, type_ in DETAIL_COLUMNS.items()
    )


def statement(name: str, row: type[Row]) -> Statement[Row]:
    """Load sql/<name>.sql and remember it, so that a test can hold all against the schema."""
    source = files("rota.store").joinpath("sql", f"{name}.sql").read_text("utf-8")
    made = Statement(name, source, row)
    if name in ALL:
        raise ValueError(f"statement {name} is declared twice")
    ALL[name] = made
    return made


class Members(dict[Any, Enum]):
    """The members of an enum by their values. A value that newer code has written gets a member of
    its own, which can be shown and is none of the others.
    """

    def __init__(self, choices: type[Enum]) -> None:
        super().__init__({member.value: member for member in choices})
        self._choices = choices

    def __missing__(self, value: Any) -> Enum:
        if not issubclass(self._choices, StrEnum):
            raise KeyError(value)
        return unknown_member(self._choices, value)


def _maker(row: type[Row]) -> Callable[[Sequence[Any]], Row]:
    """How a record becomes a row: as it is, or with its enum columns turned into members."""
    hints = get_type_hints(row)
    enums = {
        place: hint
        for place, name in enumerate(row._fields)
        if isinstance(hint := hints[name], type) and issubclass(hint, Enum)
    }
    if not enums:
        return row._make

    # A look-up in a dict, not a call of the enum: this runs for every row of a hot statement.
    members = [(place, Members(enum)) for place, enum in enums.items()]

    def make(record: Sequence[Any]) -> Row:
        values = list(record)
        for place, by_value in members:
            values[place] = by_value[values[place]]
        return row._make(values)

    return make
