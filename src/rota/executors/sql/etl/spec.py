"""What the payload of an ETL job may say. Room: executors/sql/etl.

    {"extract": [{"name": "orders", "from": {"connection": "shop", "query": "select …"}},
                 {"name": "rates", "from": {"file": "rates/*.csv"}}],
     "transform": "select day, sum(amount * rate) as total from orders join rates using (currency)
                   group by day order by day",
     "load": {"to": {"connection": "warehouse", "table": "daily", "mode": "upsert",
                     "key": ["day"]}}}

`transform` may be a list of steps, [{"name": "clean", "query": "select …"}, …]; the last is
loaded. A file in an object store is {"connection": "lake", "file":
"orders/{scheduled_at:date}.parquet"}.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from rota.core.errors import InvalidInput
from rota.executors.sql.connections import Connection, Connections, Dialect
from rota.executors.sql.folder import FileName, Folder, is_pattern, read_file_name
from rota.executors.sql.spec import Format, known_only, read_count, read_format, read_timeout
from rota.executors.sql.statement import Statement, read_statement

KNOWN: Final = ("extract", "transform", "load", "chunk_rows", "timeout")
MODES: Final = ("append", "replace", "upsert")
MOST_EXTRACTS: Final = 32
MOST_STEPS: Final = 64
MOST_KEYS: Final = 16
CHUNK: Final = 5000
MOST_IN_CHUNK: Final = 100_000
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
TYPE = re.compile(
    r"(?:BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|FLOAT|DOUBLE|VARCHAR|BLOB|DATE|TIME"
    r"|TIMESTAMP|TIMESTAMPTZ|INTERVAL|UUID|JSON|DECIMAL\(\d{1,2},\d{1,2}\))",
    re.ASCII,
)

Mode = Literal["append", "replace", "upsert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A query on a database."""

    connection: Connection
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files in the data folder, or in an object store."""

    name: FileName
    format: Format
    store: Connection | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    connection: Connection
    schema: str | None
    name: str
    mode: Mode
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    name: str
    source: Rows | Files
    types: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Etl:
    extracts: tuple[Extract, ...]
    steps: tuple[Step, ...]
    target: Table | Files
    chunk_rows: int
    timeout: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What the operator lets this worker get to."""

    connections: Connections
    folder: Folder


def read_etl(payload: object, reach: Reach) -> Etl:
    if not isinstance(payload, Mapping):
        raise InvalidInput("payload", payload, "an object with extract, transform and load")
    known_only(payload, KNOWN, "payload")
    extracts = read_extracts(payload.get("extract"), reach)
    names = {extract.name.lower() for extract in extracts}
    return Etl(
        extracts=extracts,
        steps=read_steps(payload.get("transform"), extracts, names),
        target=read_load(payload.get("load"), reach),
        chunk_rows=read_count(payload, "chunk_rows", low=1, high=MOST_IN_CHUNK, default=CHUNK),
        timeout=read_timeout(payload.get("timeout")),
    )


def read_extracts(value: object, reach: Reach) -> tuple[Extract, ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_EXTRACTS:
        raise InvalidInput("extract", value, f"a list of 1 to {MOST_EXTRACTS} sources")
    seen: set[str] = set()
    found = []
    for at, one in enumerate(value):
        field = f"extract[{at}]"
        if not isinstance(one, Mapping):
            raise InvalidInput(field, one, 'an object such as {"name": "orders", "from": {…}}')
        known_only(one, ("name", "from", "columns"), field)
        name = read_name(one.get("name"), f"{field}.name", seen)
        source = read_source(one.get("from"), f"{field}.from", reach)
        types = read_types(one.get("columns"), f"{field}.columns")
        if types and isinstance(source, Files):
            wanted = (
                "types of a query's columns; a file is read as it is, and cast in the transform"
            )
            raise InvalidInput(f"{field}.columns", dict(types), wanted)
        found.append(Extract(name=name, source=source, types=types))
    return tuple(found)


def read_name(value: object, field: str, seen: set[str]) -> str:
    """A name for a table of the transform; each only once, and none of ours."""
    if not isinstance(value, str) or NAME.fullmatch(value) is None:
        raise InvalidInput(field, value, "a name of letters, digits and _, 63 at most")
    if value.lower() in seen or value.lower().startswith("rota_"):
        raise InvalidInput(field, value, "a name that is not taken; rota_… is ours")
    seen.add(value.lower())
    return value


def read_source(value: object, field: str, reach: Reach) -> Rows | Files:
    if not isinstance(value, Mapping):
        raise InvalidInput(field, value, 'a query, or a file: {"file": "rates.csv"}')
    if "file" in value:
        return read_files(value, field, reach)
    known_only(value, ("connection", "query", "parameters", "file", "format"), field)
    if "format" in value:
        raise InvalidInput(f"{field}.format", value["format"], "the format of a file")
    connection = reach.connections.database(value.get("connection"), field=f"{field}.connection")
    statement = read_statement(
        value.get("query"),
        value.get("parameters"),
        field=f"{field}.query",
        dialect=connection.dialect or Dialect.POSTGRESQL,
        reads=True,
    )
    return Rows(connection=connection, statement=statement)


def read_files(value: Mapping[str, object], field: str, reach: Reach) -> Files:
    known_only(value, ("file", "format", "connection"), field)
    name = read_file_name(value["file"], field=f"{field}.file")
    bare = FileName(text=name.text.removesuffix(".gz").removesuffix(".zst"))
    format_ = read_format(value.get("format"), bare, f"{field}.format")
    if "connection" not in value:
        reach.folder.require(field=f"{field}.file")
        return Files(name=name, format=format_, store=None)
    store = reach.connections.named(value["connection"], field=f"{field}.connection")
    if not store.is_store:
        wanted = "an object store beside a file; a database has a query or a table"
        raise InvalidInput(f"{field}.connection", store.name, wanted)
    return Files(name=name, format=format_, store=store)


def read_types(value: object, field: str) -> Mapping[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(field, value, 'types by column, such as {"amount": "DECIMAL(12,2)"}')
    for name, type_ in value.items():
        if not isinstance(type_, str) or TYPE.fullmatch(type_.upper()) is None:
            raise InvalidInput(f"{field}.{name}", type_, "a type such as BIGINT or DECIMAL(12,2)")
    return {str(name): type_.upper() for name, type_ in value.items()}


def read_steps(value: object, extracts: tuple[Extract, ...], taken: set[str]) -> tuple[Step, ...]:
    if value is None:
        if len(extracts) > 1:
            raise InvalidInput("transform", value, "a query, as there is more than one extract")
        return (step(f'from "{extracts[0].name}"', "rota_result", "transform"),)
    if isinstance(value, str):
        return (step(value, "rota_result", "transform"),)
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_STEPS:
        raise InvalidInput("transform", value, f"a query, or a list of 1 to {MOST_STEPS} steps")
    steps = []
    for at, one in enumerate(value):
        field = f"transform[{at}]"
        if not isinstance(one, Mapping):
            raise InvalidInput(field, one, 'an object such as {"name": "clean", "query": "…"}')
        known_only(one, ("name", "query"), field)
        is_last = at == len(value) - 1
        name = "rota_result" if is_last else read_name(one.get("name"), f"{field}.name", taken)
        steps.append(step(one.get("query"), name, f"{field}.query"))
    return tuple(steps)


def step(query: object, name: str, field: str) -> Step:
    return Step(
        name=name, statement=read_statement(query, None, field=field, dialect=Dialect.DUCKDB)
    )


def read_load(value: object, reach: Reach) -> Table | Files:
    if not isinstance(value, Mapping) or not isinstance(value.get("to"), Mapping):
        raise InvalidInput("load", value, 'an object such as {"to": {"file": "out.parquet"}}')
    known_only(value, ("to",), "load")
    to = value["to"]
    if "file" not in to:
        return read_table(to, reach)
    files = read_files(to, "load.to", reach)
    if is_pattern(files.name.text):
        raise InvalidInput("load.to.file", files.name.text, "the name of one file")
    return files


def read_table(value: Mapping[str, object], reach: Reach) -> Table:
    known_only(value, ("connection", "table", "mode", "key", "file"), "load.to")
    connection = reach.connections.database(value.get("connection"), field="load.to.connection")
    if connection.read_only:
        raise InvalidInput("load.to.connection", connection.name, "a connection that may write")
    schema, name = read_table_name(value.get("table"))
    mode = value.get("mode", "append")
    if mode not in MODES:
        raise InvalidInput("load.to.mode", mode, f"one of {', '.join(MODES)}")
    key = value.get("key", [])
    if not isinstance(key, list | tuple) or not all(isinstance(one, str) for one in key):
        raise InvalidInput("load.to.key", key, "a list of columns")
    if bool(key) != (mode == "upsert") or len(key) > MOST_KEYS:
        raise InvalidInput("load.to.key", key, "the columns of a unique key, and only for upsert")
    return Table(
        connection=connection,
        schema=schema,
        name=name,
        mode=mode,
        key=tuple(key),
    )


def read_table_name(value: object) -> tuple[str | None, str]:
    wanted = "the name of a table, or schema.table, of letters, digits and _"
    if not isinstance(value, str):
        raise InvalidInput("load.to.table", value, wanted)
    *schema, name = value.split(".")
    if len(schema) > 1 or not all(NAME.fullmatch(part) for part in (*schema, name)):
        raise InvalidInput("load.to.table", value, wanted)
    return (schema[0] if schema else None), name
