"""Defines the payload of a job of kind `sql`.

{"connection": "warehouse", "query": "select * from orders where day = :day",
 "parameters": {"day": "2030-01-31"}, "timeout": "30s", "max_rows": 100, "read_only": true}

{"connection": "warehouse", "statements": ["delete from daily", {"query": "insert …",
 "parameters": [7]}], "result": "none"}

{"connection": "warehouse", "query": "select …", "result": "file",
 "file": {"path": "orders/{scheduled_at:date}.csv", "format": "csv"}}
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from rota.contract.payloads.reader import DURATION_META

QUERY_CHARACTERS_MAX: Final = 256 * 1024
PARAMETERS_MAX: Final = 1000
STATEMENTS_MAX: Final = 100
ROWS_MAX: Final = 10_000
ROWS_DEFAULT: Final = 1000

FileFormat = Literal["csv", "json", "parquet"]
QueryText = Annotated[str, Meta(min_length=1, max_length=QUERY_CHARACTERS_MAX)]
Parameters = Annotated[
    dict[str, Any] | Annotated[list[Any], Meta(max_length=PARAMETERS_MAX)] | None,
    Meta(
        description=(
            "Values: an object for :name, a list for the database's own placeholders. "
            "Default: none."
        )
    ),
]
FormatOfFile = Annotated[
    FileFormat | None, Meta(description="Format of the file. Default: from the file extension.")
]


class SqlStatement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[QueryText, Meta(description="One statement; :name is a parameter.")]
    parameters: Parameters = None


class SqlFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[
        str,
        Meta(description="Path in the worker's data folder; may contain {scheduled_at:date}."),
    ]
    format: FormatOfFile = None


class SqlPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    connection: Annotated[str, Meta(description="Name of a connection of the worker.")]
    query: Annotated[
        QueryText | None,
        Meta(
            description=(
                "One statement; :name is a parameter. Default: none; then `statements` is required."
            )
        ),
    ] = None
    parameters: Parameters = None
    statements: Annotated[
        Annotated[list[str | SqlStatement], Meta(min_length=1, max_length=STATEMENTS_MAX)] | None,
        Meta(description="Several statements, in one transaction. Default: only `query`."),
    ] = None
    timeout: Annotated[
        str | None,
        Meta(
            description="Time limit, such as 30s. Default: the job's timeout.",
            extra=DURATION_META,
        ),
    ] = None
    result: Annotated[
        Literal["rows", "none", "file"] | None,
        Meta(
            description=(
                "What to do with the rows of the last statement: return them (`rows`), write them "
                "to `file`, or discard them (`none`). Default: file if `file` is given, otherwise "
                "rows."
            )
        ),
    ] = None
    file: Annotated[
        SqlFile | None, Meta(description="File to write the rows to. Default: no file.")
    ] = None
    max_rows: Annotated[
        int,
        Meta(
            ge=0,
            le=ROWS_MAX,
            description=f"Maximum number of rows to keep. Default: {ROWS_DEFAULT}.",
        ),
    ] = ROWS_DEFAULT
    read_only: Annotated[
        bool,
        Meta(
            description="Reject statements that change data. "
            "Default: false, unless the connection is read-only."
        ),
    ] = False
