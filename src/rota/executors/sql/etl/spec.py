"""Parses the payload of an ETL job into extracts, transform steps and a target.

`EtlPayload` defines the fields; this module checks their combinations.
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
    """The connections and the folder that the operator lets a tenant use on this worker."""

    connections: Connections
    folder: Folder
    tenant: str = DEFAULT_TENANT


def read_etl(payload: object, reach: Reach) -> Etl:
    fields = read_payload(EtlPayload, payload, example=EXAMPLE)
    extracts = read_extracts(fields.extract, reach)
    names = {extract.name.lower() for extract in extracts}
    return Etl(
        extracts=extracts,
        steps=read_steps(fields.transform, extracts, names),
        target=read_target(fields.load.to, reach),
        chunk_rows=fields.chunk_rows,
        timeout=parse_timeout(fields.timeout),
    )


def read_extracts(given: Sequence[EtlExtract], reach: Reach) -> tuple[Extract, ...]:
    seen: set[str] = set()
    extracts = []
    for index, fields in enumerate(given):
        field = f"extract[{index}]"
        name = check_name(fields.name, f"{field}.name", seen)
        source = read_source(fields.from_, f"{field}.from", reach)
        types = read_types(fields.columns or {}, f"{field}.columns")
        if types and isinstance(source, Files):
            wanted = "only queries have column types; cast the columns of a file in the transform"
            raise InvalidInput(f"{field}.columns", dict(types), wanted)
        extracts.append(Extract(name=name, source=source, types=types))
    return tuple(extracts)


def check_name(name: str | None, field: str, seen: set[str]) -> str:
    """Check the name of a table of the transform: unique, and without the prefix `rota_`."""
    if name is None or NAME.fullmatch(name) is None:
        wanted = "expected a name of letters, digits and _, at most 63 characters"
        raise InvalidInput(field, name, wanted)
    if name.lower() in seen or name.lower().startswith("rota_"):
        raise InvalidInput(field, name, "must be unique and not start with rota_")
    seen.add(name.lower())
    return name


def read_source(given: EtlSource, field: str, reach: Reach) -> Rows | Files:
    if given.file is not None:
        refuse_beside("file", field, {"query": given.query, "parameters": given.parameters})
        return read_files(given, given.file, field, reach)
    refuse_beside("query", field, {"format": given.format})
    if given.query is None:
        wanted = 'expected a query, or a file: {"file": "rates.csv"}'
        raise InvalidInput(field, given.query, wanted)
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
    """Refuse fields that have no meaning together with another."""
    for name, value in others.items():
        if value is not None:
            wanted = f"cannot be combined with {beside}; remove one of them"
            raise InvalidInput(f"{field}.{name}", value, wanted)


def read_files(given: EtlSource | EtlTarget, path: str, field: str, reach: Reach) -> Files:
    name = read_file_name(path, field=f"{field}.file")
    bare = FileName(text=name.text.removesuffix(".gz").removesuffix(".zst"))
    format_ = choose_format(given.format, bare, f"{field}.format")
    if given.connection is None:
        reach.folder.require(field=f"{field}.file", tenant=reach.tenant)
        return Files(name=name, format=format_, store=None)
    store = reach.connections.named(given.connection, field=f"{field}.connection")
    if not store.is_store:
        wanted = "a file needs an object store; a database has a query or a table"
        raise InvalidInput(f"{field}.connection", store.name, wanted)
    return Files(name=name, format=format_, store=store)


def read_types(given: Mapping[str, str], field: str) -> Mapping[str, str]:
    for name, type_ in given.items():
        if TYPE.fullmatch(type_.upper()) is None:
            wanted = "expected a type such as BIGINT or DECIMAL(12,2)"
            raise InvalidInput(f"{field}.{name}", type_, wanted)
    return {name: type_.upper() for name, type_ in given.items()}


def read_steps(
    given: str | Sequence[EtlStep] | None, extracts: tuple[Extract, ...], taken: set[str]
) -> tuple[Step, ...]:
    if given is None:
        if len(extracts) > 1:
            raise InvalidInput("transform", given, "required with more than one extract")
        return (step(f'from "{extracts[0].name}"', "rota_result", "transform"),)
    if isinstance(given, str):
        return (step(given, "rota_result", "transform"),)
    steps = []
    for index, fields in enumerate(given):
        field = f"transform[{index}]"
        is_last = index == len(given) - 1
        name = "rota_result" if is_last else check_name(fields.name, f"{field}.name", taken)
        steps.append(step(fields.query, name, f"{field}.query"))
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
        raise InvalidInput("load.to.file", files.name.text, "expected the name of one file")
    return files


def read_table(given: EtlTarget, reach: Reach) -> Table:
    connection = reach.connections.database(given.connection, field="load.to.connection")
    if connection.read_only:
        wanted = "this connection is read-only; use one that may write"
        raise InvalidInput("load.to.connection", connection.name, wanted)
    schema, name = read_table_name(given.table)
    mode, key = given.mode or "append", given.key or []
    if bool(key) != (mode == "upsert"):
        wanted = "upsert needs the columns of a unique key; other modes have no key"
        raise InvalidInput("load.to.key", key, wanted)
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
        wanted = "expected the name of a table, or schema.table, of letters, digits and _"
        raise InvalidInput("load.to.table", given, wanted)
    return (schema[0] if schema else None), name
