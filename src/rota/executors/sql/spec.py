"""What the payload of an SQL job may say. Room: executors/sql.

    {"connection": "warehouse", "query": "select * from orders where day = :day",
     "parameters": {"day": "2030-01-31"}, "timeout": "30s", "max_rows": 100, "read_only": true}

    {"connection": "warehouse", "statements": ["delete from daily", {"query": "insert …",
     "parameters": [7]}], "result": "none"}

    {"connection": "warehouse", "query": "select …", "result": "file",
     "file": {"path": "orders/{scheduled_at:date}.csv", "format": "csv"}}

Only reads and refuses; whether a table exists is seen when the statement runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from rota.core.errors import InvalidInput
from rota.core.time import durations
from rota.executors.sql.connections import Connection, Connections, Dialect
from rota.executors.sql.folder import FileName, Folder, is_pattern, read_file_name
from rota.executors.sql.statement import Statement, read_statement

KNOWN: Final = (
    "connection",
    "query",
    "parameters",
    "statements",
    "timeout",
    "result",
    "file",
    "max_rows",
    "read_only",
)
RESULTS: Final = ("rows", "none", "file")
FORMATS: Final = ("csv", "json", "parquet")
MOST_STATEMENTS: Final = 100
MOST_ROWS: Final = 10_000
USUAL_ROWS: Final = 1000
SHORTEST_TIMEOUT: Final = timedelta(milliseconds=100)
LONGEST_TIMEOUT: Final = timedelta(hours=24)

Format = Literal["csv", "json", "parquet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    name: FileName
    format: Format


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Statements of one transaction; the rows of the last one are the result."""

    connection: Connection
    statements: tuple[Statement, ...]
    is_list: bool
    keeps_rows: bool
    output: Output | None
    max_rows: int
    timeout: timedelta | None
    read_only: bool


def read_query(payload: object, connections: Connections, folder: Folder) -> Query:
    if not isinstance(payload, Mapping):
        example = '{"connection": "shop", "query": "select 1"}'
        raise InvalidInput("payload", payload, f"an object such as {example}")
    known_only(payload, KNOWN, "payload")
    connection = connections.database(payload.get("connection"))
    if connection.dialect is None:
        raise LookupError(connection.name)
    output = read_output(payload, folder)
    reads = read_flag(payload, "read_only") or connection.read_only
    return Query(
        connection=connection,
        statements=read_statements(payload, connection.dialect, reads=reads),
        is_list="statements" in payload,
        keeps_rows=payload.get("result", "rows") == "rows" and output is None,
        output=output,
        max_rows=read_count(payload, "max_rows", high=MOST_ROWS, default=USUAL_ROWS),
        timeout=read_timeout(payload.get("timeout")),
        read_only=reads,
    )


def read_statements(
    payload: Mapping[str, object], dialect: Dialect, *, reads: bool
) -> tuple[Statement, ...]:
    if ("query" in payload) == ("statements" in payload):
        raise InvalidInput("query", payload.get("query"), "a query, or a list of statements")
    if "query" in payload:
        one = {name: payload[name] for name in ("query", "parameters") if name in payload}
        return (read_one(one, "", dialect, reads=reads),)
    if "parameters" in payload:
        wanted = 'beside a query; a statement has its own: {"query": …, "parameters": …}'
        raise InvalidInput("parameters", payload["parameters"], wanted)
    listed = payload["statements"]
    if not isinstance(listed, list | tuple) or not 1 <= len(listed) <= MOST_STATEMENTS:
        raise InvalidInput("statements", listed, f"a list of 1 to {MOST_STATEMENTS} statements")
    return tuple(
        read_one(each, f"statements[{at}].", dialect, reads=reads) for at, each in enumerate(listed)
    )


def read_one(value: object, place: str, dialect: Dialect, *, reads: bool) -> Statement:
    one = value if isinstance(value, Mapping) else {"query": value}
    known_only(one, ("query", "parameters"), place.rstrip("."))
    return read_statement(
        one.get("query"),
        one.get("parameters"),
        field=f"{place}query",
        dialect=dialect,
        reads=reads,
    )


def read_output(payload: Mapping[str, object], folder: Folder) -> Output | None:
    result = payload.get("result", "file" if "file" in payload else "rows")
    if result not in RESULTS:
        raise InvalidInput("result", result, f"one of {', '.join(RESULTS)}")
    if (result == "file") != ("file" in payload):
        raise InvalidInput("file", payload.get("file"), 'a file beside "result": "file"')
    if result != "file":
        return None
    file = payload["file"]
    if not isinstance(file, Mapping):
        raise InvalidInput("file", file, 'an object such as {"path": "out.csv", "format": "csv"}')
    known_only(file, ("path", "format"), "file")
    name = read_file_name(file.get("path"), field="file.path")
    if is_pattern(name.text):
        raise InvalidInput("file.path", name.text, "the name of one file")
    folder.require(field="file")
    return Output(name=name, format=read_format(file.get("format"), name, "file.format"))


def read_format(value: object, name: FileName, field: str) -> Format:
    """The format that is given, or else the one that the name ends with."""
    if value is None:
        ending = name.text.rpartition(".")[2].lower()
        value = "json" if ending in {"json", "jsonl", "ndjson"} else ending
    if value not in FORMATS:
        raise InvalidInput(field, value, f"one of {', '.join(FORMATS)}")
    return value


def read_timeout(value: object) -> timedelta | None:
    if value is None:
        return None
    return durations.parse(
        value, field="timeout", shortest=SHORTEST_TIMEOUT, longest=LONGEST_TIMEOUT
    )


def read_flag(payload: Mapping[str, object], key: str) -> bool:
    value = payload.get(key, False)
    if not isinstance(value, bool):
        raise InvalidInput(key, value, "true or false")
    return value


def read_count(
    payload: Mapping[str, object], key: str, *, high: int, default: int, low: int = 0
) -> int:
    value = payload.get(key, default)
    if type(value) is not int or not low <= value <= high:
        raise InvalidInput(key, value, f"a whole number from {low} to {high}")
    return value


def known_only(value: Mapping[str, object], known: tuple[str, ...], field: str) -> None:
    for key in value:
        if key not in known:
            raise InvalidInput(f"{field}.{key}", value[key], f"one of {', '.join(known)}")
