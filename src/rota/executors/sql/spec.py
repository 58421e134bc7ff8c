"""Parses the payload of an SQL job into statements.

`SqlPayload` defines the fields. Whether a table exists turns out when the statement runs.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, get_args

from rota.contract.payloads.reader import read_payload
from rota.contract.payloads.sql import FileFormat, SqlPayload, SqlStatement
from rota.core.errors import InvalidInput
from rota.core.tenancy import DEFAULT_TENANT
from rota.core.time import durations
from rota.executors.sql.connections import Dialect, SqlConnection, SqlConnections
from rota.executors.sql.data_folder import DataFolder, FileNameTemplate, is_pattern, read_file_name
from rota.executors.sql.statement import BoundStatement, read_statement

FORMATS: Final[tuple[FileFormat, ...]] = get_args(FileFormat)
TIMEOUT_MIN: Final = timedelta(milliseconds=100)
TIMEOUT_MAX: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutput:
    name: FileNameTemplate
    format: FileFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlQuery:
    """Statements of one transaction; the rows of the last one are the result."""

    connection: SqlConnection
    statements: tuple[BoundStatement, ...]
    is_list: bool
    keeps_rows: bool
    output: FileOutput | None
    max_rows: int
    timeout: timedelta | None
    read_only: bool


def read_query(
    payload: object, connections: SqlConnections, folder: DataFolder, tenant: str = DEFAULT_TENANT
) -> SqlQuery:
    example = '{"connection": "shop", "query": "select 1"}'
    fields = read_payload(SqlPayload, payload, example=example)
    connection = connections.find_database(fields.connection)
    if connection.dialect is None:
        raise LookupError(connection.name)
    output = read_output(fields, folder, tenant)
    reads = fields.read_only or connection.read_only
    return SqlQuery(
        connection=connection,
        statements=read_statements(fields, connection.dialect, reads=reads),
        is_list=fields.statements is not None,
        keeps_rows=fields.result != "none" and output is None,
        output=output,
        max_rows=fields.max_rows,
        timeout=parse_timeout(fields.timeout),
        read_only=reads,
    )


def read_statements(
    payload: SqlPayload, dialect: Dialect, *, reads: bool
) -> tuple[BoundStatement, ...]:
    if (payload.query is None) == (payload.statements is None):
        raise InvalidInput("query", payload.query, "expected either query or statements")
    if payload.statements is None:
        only = SqlStatement(query=payload.query or "", parameters=payload.parameters)
        return (read_one_statement(only, "", dialect, reads=reads),)
    if payload.parameters is not None:
        wanted = 'expected parameters per statement: {"query": …, "parameters": …}'
        raise InvalidInput("parameters", payload.parameters, wanted)
    return tuple(
        read_one_statement(statement, f"statements[{index}].", dialect, reads=reads)
        for index, statement in enumerate(payload.statements)
    )


def read_one_statement(
    value: str | SqlStatement, prefix: str, dialect: Dialect, *, reads: bool
) -> BoundStatement:
    fields = SqlStatement(query=value) if isinstance(value, str) else value
    return read_statement(
        fields.query, fields.parameters, field=f"{prefix}query", dialect=dialect, reads=reads
    )


def read_output(payload: SqlPayload, folder: DataFolder, tenant: str) -> FileOutput | None:
    file = payload.file
    if payload.result is not None and (payload.result == "file") != (file is not None):
        raise InvalidInput("file", file, 'file and "result": "file" must be used together')
    if file is None:
        return None
    name = read_file_name(file.path, field="file.path")
    if is_pattern(name.text):
        raise InvalidInput("file.path", name.text, "expected the name of one file")
    folder.require(field="file", tenant=tenant)
    return FileOutput(name=name, format=choose_format(file.format, name, "file.format"))


def choose_format(given: FileFormat | None, name: FileNameTemplate, field: str) -> FileFormat:
    """Return the given format. Default: the format of the name's extension."""
    if given is not None:
        return given
    ending = name.text.rpartition(".")[2].lower()
    ending = "json" if ending in {"jsonl", "ndjson"} else ending
    for known in FORMATS:
        if ending == known:
            return known
    raise InvalidInput(field, ending, f"expected one of {', '.join(FORMATS)}")


def parse_timeout(text: str | None) -> timedelta | None:
    if text is None:
        return None
    return durations.parse(text, field="timeout", minimum=TIMEOUT_MIN, maximum=TIMEOUT_MAX)
