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
from rota.executors.sql.connections import Dialect, SqlConnection, SqlConnections
from rota.executors.sql.data_folder import DataFolder, FileNameTemplate, is_pattern, read_file_name
from rota.executors.sql.spec import choose_format, parse_timeout
from rota.executors.sql.statement import BoundStatement, read_statement

PAYLOAD_EXAMPLE: Final = (
    '{"extract": [{"name": "rates", "from": {"file": "rates.csv"}}], '
    '"load": {"to": {"file": "rates.parquet"}}}'
)
TABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
COLUMN_TYPE = re.compile(
    r"(?:BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|FLOAT|DOUBLE|VARCHAR|BLOB|DATE|TIME"
    r"|TIMESTAMP|TIMESTAMPTZ|INTERVAL|UUID|JSON|DECIMAL\(\d{1,2},\d{1,2}\))",
    re.ASCII,
)

LoadMode = Literal["append", "replace", "upsert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySource:
    """A query on a database."""

    connection: SqlConnection
    statement: BoundStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSet:
    """Files in the data folder, or in an object store."""

    name: FileNameTemplate
    format: FileFormat
    store: SqlConnection | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTable:
    connection: SqlConnection
    schema: str | None
    name: str
    mode: LoadMode
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractStep:
    name: str
    source: QuerySource | FileSet
    types: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformStep:
    name: str
    statement: BoundStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class EtlPlan:
    extracts: tuple[ExtractStep, ...]
    steps: tuple[TransformStep, ...]
    target: LoadTable | FileSet
    chunk_rows: int
    timeout: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EtlResources:
    """The connections and the folder that the operator lets a tenant use on this worker."""

    connections: SqlConnections
    folder: DataFolder
    tenant: str = DEFAULT_TENANT


def read_etl(payload: object, reach: EtlResources) -> EtlPlan:
    fields = read_payload(EtlPayload, payload, example=PAYLOAD_EXAMPLE)
    extracts = read_extracts(fields.extract, reach)
    names = {extract.name.lower() for extract in extracts}
    return EtlPlan(
        extracts=extracts,
        steps=read_steps(fields.transform, extracts, names),
        target=read_target(fields.load.to, reach),
        chunk_rows=fields.chunk_rows,
        timeout=parse_timeout(fields.timeout),
    )


def read_extracts(given: Sequence[EtlExtract], reach: EtlResources) -> tuple[ExtractStep, ...]:
    seen: set[str] = set()
    extracts = []
    for index, fields in enumerate(given):
        field = f"extract[{index}]"
        name = check_name(fields.name, f"{field}.name", seen)
        source = read_source(fields.from_, f"{field}.from", reach)
        types = read_types(fields.columns or {}, f"{field}.columns")
        if types and isinstance(source, FileSet):
            wanted = "only queries have column types; cast the columns of a file in the transform"
            raise InvalidInput(f"{field}.columns", dict(types), wanted)
        extracts.append(ExtractStep(name=name, source=source, types=types))
    return tuple(extracts)


def check_name(name: str | None, field: str, seen: set[str]) -> str:
    """Check the name of a table of the transform: unique, and without the prefix `rota_`."""
    if name is None or TABLE_NAME.fullmatch(name) is None:
        wanted = "expected a name of letters, digits and _, at most 63 characters"
        raise InvalidInput(field, name, wanted)
    if name.lower() in seen or name.lower().startswith("rota_"):
        raise InvalidInput(field, name, "must be unique and not start with rota_")
    seen.add(name.lower())
    return name


def read_source(given: EtlSource, field: str, reach: EtlResources) -> QuerySource | FileSet:
    if given.file is not None:
        refuse_combination("file", field, {"query": given.query, "parameters": given.parameters})
        return read_files(given, given.file, field, reach)
    refuse_combination("query", field, {"format": given.format})
    if given.query is None:
        wanted = 'expected a query, or a file: {"file": "rates.csv"}'
        raise InvalidInput(field, given.query, wanted)
    connection = reach.connections.find_database(given.connection, field=f"{field}.connection")
    statement = read_statement(
        given.query,
        given.parameters,
        field=f"{field}.query",
        dialect=connection.dialect or Dialect.POSTGRESQL,
        reads=True,
    )
    return QuerySource(connection=connection, statement=statement)


def refuse_combination(beside: str, field: str, others: Mapping[str, object]) -> None:
    """Refuse fields that have no meaning together with another."""
    for name, value in others.items():
        if value is not None:
            wanted = f"cannot be combined with {beside}; remove one of them"
            raise InvalidInput(f"{field}.{name}", value, wanted)


def read_files(given: EtlSource | EtlTarget, path: str, field: str, reach: EtlResources) -> FileSet:
    name = read_file_name(path, field=f"{field}.file")
    bare = FileNameTemplate(text=name.text.removesuffix(".gz").removesuffix(".zst"))
    format_ = choose_format(given.format, bare, f"{field}.format")
    if given.connection is None:
        reach.folder.require(field=f"{field}.file", tenant=reach.tenant)
        return FileSet(name=name, format=format_, store=None)
    store = reach.connections.find(given.connection, field=f"{field}.connection")
    if not store.is_store:
        wanted = "a file needs an object store; a database has a query or a table"
        raise InvalidInput(f"{field}.connection", store.name, wanted)
    return FileSet(name=name, format=format_, store=store)


def read_types(given: Mapping[str, str], field: str) -> Mapping[str, str]:
    for name, type_ in given.items():
        if COLUMN_TYPE.fullmatch(type_.upper()) is None:
            wanted = "expected a type such as BIGINT or DECIMAL(12,2)"
            raise InvalidInput(f"{field}.{name}", type_, wanted)
    return {name: type_.upper() for name, type_ in given.items()}


def read_steps(
    given: str | Sequence[EtlStep] | None, extracts: tuple[ExtractStep, ...], taken: set[str]
) -> tuple[TransformStep, ...]:
    if given is None:
        if len(extracts) > 1:
            raise InvalidInput("transform", given, "required with more than one extract")
        return (build_step(f'from "{extracts[0].name}"', "rota_result", "transform"),)
    if isinstance(given, str):
        return (build_step(given, "rota_result", "transform"),)
    steps = []
    for index, fields in enumerate(given):
        field = f"transform[{index}]"
        is_last = index == len(given) - 1
        name = "rota_result" if is_last else check_name(fields.name, f"{field}.name", taken)
        steps.append(build_step(fields.query, name, f"{field}.query"))
    return tuple(steps)


def build_step(query: str, name: str, field: str) -> TransformStep:
    return TransformStep(
        name=name, statement=read_statement(query, None, field=field, dialect=Dialect.DUCKDB)
    )


def read_target(given: EtlTarget, reach: EtlResources) -> LoadTable | FileSet:
    if given.file is None:
        refuse_combination("table", "load.to", {"format": given.format})
        return read_table(given, reach)
    others = {"table": given.table, "mode": given.mode, "key": given.key}
    refuse_combination("file", "load.to", others)
    files = read_files(given, given.file, "load.to", reach)
    if is_pattern(files.name.text):
        raise InvalidInput("load.to.file", files.name.text, "expected the name of one file")
    return files


def read_table(given: EtlTarget, reach: EtlResources) -> LoadTable:
    connection = reach.connections.find_database(given.connection, field="load.to.connection")
    if connection.read_only:
        wanted = "this connection is read-only; use one that may write"
        raise InvalidInput("load.to.connection", connection.name, wanted)
    schema, name = read_table_name(given.table)
    mode, key = given.mode or "append", given.key or []
    if bool(key) != (mode == "upsert"):
        wanted = "upsert needs the columns of a unique key; other modes have no key"
        raise InvalidInput("load.to.key", key, wanted)
    return LoadTable(
        connection=connection,
        schema=schema,
        name=name,
        mode=mode,
        key=tuple(key),
    )


def read_table_name(given: str | None) -> tuple[str | None, str]:
    *schema, name = (given or "").split(".")
    if len(schema) > 1 or not all(TABLE_NAME.fullmatch(part) for part in (*schema, name)):
        wanted = "expected the name of a table, or schema.table, of letters, digits and _"
        raise InvalidInput("load.to.table", given, wanted)
    return (schema[0] if schema else None), name
