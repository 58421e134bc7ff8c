"""Turns the payload of an ETL job into its steps. Room: executors/sql/etl.

The fields are those of `EtlPayload`; which of them go together is checked here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from rota.contract.payloads.etl import EtlExtract, EtlPayload, EtlSource, EtlStep, EtlTarget
from rota.contract.payloads.reader import read_payload
from rota.contract.payloads.sql import FileFormat
from rota.core.errors import InvalidInput
from rota.core.tenancy import DEFAULT_TENANT
from rota.executors.sql.connections import Connection, Connections, Dialect
from rota.executors.sql.folder import FileName, Folder, is_pattern, read_file_name
from rota.executors.sql.spec import choose_format, parse_timeout
from rota.executors.sql.statement import Statement, read_statement

EXAMPLE: Final = (
    '{"extract": [{"name": "rates", "from": {"file": "rates.csv"}}], '
    '"load": {"to": {"file": "rates.parquet"}}}'
)
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
    format: FileFormat
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
    """What the operator lets this worker get to for a tenant."""

    connections: Connections
    folder: Folder
    tenant: str = DEFAULT_TENANT


def read_etl(payload: object, reach: Reach) -> Etl:
    given = read_payload(EtlPayload, payload, example=EXAMPLE)
    extracts = read_extracts(given.extract, reach)
    names = {extract.name.lower() for extract in extracts}
    return Etl(
        extracts=extracts,
        steps=read_steps(given.transform, extracts, names),
        target=read_target(given.load.to, reach),
        chunk_rows=given.chunk_rows,
        timeout=parse_timeout(given.timeout),
    )


def read_extracts(given: Sequence[EtlExtract], reach: Reach) -> tuple[Extract, ...]:
    seen: set[str] = set()
    found = []
    for at, one in enumerate(given):
        field = f"extract[{at}]"
        name = check_name(one.name, f"{field}.name", seen)
        source = read_source(one.from_, f"{field}.from", reach)
        types = read_types(one.columns or {}, f"{field}.columns")
        if types and isinstance(source, Files):
            wanted = (
                "types of a query's columns; a file is read as it is, and cast in the transform"
            )
            raise InvalidInput(f"{field}.columns", dict(types), wanted)
        found.append(Extract(name=name, source=source, types=types))
    return tuple(found)


def check_name(name: str | None, field: str, seen: set[str]) -> str:
    """Return the name of a table of the transform; each only once, and none of ours."""
    if name is None or NAME.fullmatch(name) is None:
        raise InvalidInput(field, name, "a name of letters, digits and _, 63 at most")
    if name.lower() in seen or name.lower().startswith("rota_"):
        raise InvalidInput(field, name, "a name that is not taken; rota_… is ours")
    seen.add(name.lower())
    return name


def read_source(given: EtlSource, field: str, reach: Reach) -> Rows | Files:
    if given.file is not None:
        refuse_beside("file", field, {"query": given.query, "parameters": given.parameters})
        return read_files(given, given.file, field, reach)
    refuse_beside("query", field, {"format": given.format})
    if given.query is None:
        raise InvalidInput(field, given.query, 'a query, or a file: {"file": "rates.csv"}')
    connection = reach.connections.database(given.connection, field=f"{field}.connection")
    statement = read_statement(
        given.query,
        given.parameters,
        field=f"{field}.query",
        dialect=connection.dialect or Dialect.POSTGRESQL,
        reads=True,
    )
    return Rows(connection=connection, statement=statement)


def refuse_beside(beside: str, field: str, others: Mapping[str, object]) -> None:
    """Refuse fields that have no meaning beside another."""
    for name, value in others.items():
        if value is not None:
            raise InvalidInput(f"{field}.{name}", value, f"no {name} beside a {beside}")


def read_files(given: EtlSource | EtlTarget, path: str, field: str, reach: Reach) -> Files:
    name = read_file_name(path, field=f"{field}.file")
    bare = FileName(text=name.text.removesuffix(".gz").removesuffix(".zst"))
    format_ = choose_format(given.format, bare, f"{field}.format")
    if given.connection is None:
        reach.folder.require(field=f"{field}.file", tenant=reach.tenant)
        return Files(name=name, format=format_, store=None)
    store = reach.connections.named(given.connection, field=f"{field}.connection")
    if not store.is_store:
        wanted = "an object store beside a file; a database has a query or a table"
        raise InvalidInput(f"{field}.connection", store.name, wanted)
    return Files(name=name, format=format_, store=store)


def read_types(given: Mapping[str, str], field: str) -> Mapping[str, str]:
    for name, type_ in given.items():
        if TYPE.fullmatch(type_.upper()) is None:
            raise InvalidInput(f"{field}.{name}", type_, "a type such as BIGINT or DECIMAL(12,2)")
    return {name: type_.upper() for name, type_ in given.items()}


def read_steps(
    given: str | Sequence[EtlStep] | None, extracts: tuple[Extract, ...], taken: set[str]
) -> tuple[Step, ...]:
    if given is None:
        if len(extracts) > 1:
            raise InvalidInput("transform", given, "a query, as there is more than one extract")
        return (step(f'from "{extracts[0].name}"', "rota_result", "transform"),)
    if isinstance(given, str):
        return (step(given, "rota_result", "transform"),)
    steps = []
    for at, one in enumerate(given):
        field = f"transform[{at}]"
        is_last = at == len(given) - 1
        name = "rota_result" if is_last else check_name(one.name, f"{field}.name", taken)
        steps.append(step(one.query, name, f"{field}.query"))
    return tuple(steps)


def step(query: str, name: str, field: str) -> Step:
    return Step(
        name=name, statement=read_statement(query, None, field=field, dialect=Dialect.DUCKDB)
    )


def read_target(given: EtlTarget, reach: Reach) -> Table | Files:
    if given.file is None:
        refuse_beside("table", "load.to", {"format": given.format})
        return read_table(given, reach)
    others = {"table": given.table, "mode": given.mode, "key": given.key}
    refuse_beside("file", "load.to", others)
    files = read_files(given, given.file, "load.to", reach)
    if is_pattern(files.name.text):
        raise InvalidInput("load.to.file", files.name.text, "the name of one file")
    return files


def read_table(given: EtlTarget, reach: Reach) -> Table:
    connection = reach.connections.database(given.connection, field="load.to.connection")
    if connection.read_only:
        raise InvalidInput("load.to.connection", connection.name, "a connection that may write")
    schema, name = read_table_name(given.table)
    mode, key = given.mode or "append", given.key or []
    if bool(key) != (mode == "upsert"):
        raise InvalidInput("load.to.key", key, "the columns of a unique key, and only for upsert")
    return Table(
        connection=connection,
        schema=schema,
        name=name,
        mode=mode,
        key=tuple(key),
    )


def read_table_name(given: str | None) -> tuple[str | None, str]:
    *schema, name = (given or "").split(".")
    if len(schema) > 1 or not all(NAME.fullmatch(part) for part in (*schema, name)):
        wanted = "the name of a table, or schema.table, of letters, digits and _"
        raise InvalidInput("load.to.table", given, wanted)
    return (schema[0] if schema else None), name
