"""The payload of a job of kind `sql`. Room: contract/payloads.

{"connection": "warehouse", "query": "select * from orders where day = :day",
 "parameters": {"day": "2030-01-31"}, "timeout": "30s", "max_rows": 100, "read_only": true}

{"connection": "warehouse", "statements": ["delete from daily", {"query": "insert …",
 "parameters": [7]}], "result": "none"}

{"connection": "warehouse", "query": "select …", "result": "file",
 "file": {"path": "orders/{scheduled_at:date}.csv", "format": "csv"}}
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from rota.contract.payloads.reading import DURATION

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
            "Values: an object for :name, a list for the database's own marks. Default: none."
        )
    ),
]
FormatOfFile = Annotated[
    FileFormat | None, Meta(description="Format of the file. Default: as its name ends.")
]


class SqlStatement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[QueryText, Meta(description="One statement; :name stands for a parameter.")]
    parameters: Parameters = None


class SqlFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[
        str,
        Meta(description="Path below the worker's data folder; may hold {scheduled_at:date}."),
    ]
    format: FormatOfFile = None


class SqlPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    connection: Annotated[str, Meta(description="Name of the worker's connection.")]
    query: Annotated[
        QueryText | None,
        Meta(
            description=(
                "One statement; :name stands for a parameter. "
                "Default: none; `statements` is required."
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
            description="How long it may take, such as 30s. Default: the job's timeout.",
            extra=DURATION,
        ),
    ] = None
    result: Annotated[
        Literal["rows", "none", "file"] | None,
        Meta(
            description=(
                "What becomes of the last statement's rows. "
                "Default: file, if `file` is given; otherwise rows."
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
            description=f"How many rows to keep at most. Default: {ROWS_DEFAULT}.",
        ),
    ] = ROWS_DEFAULT
    read_only: Annotated[
        bool,
        Meta(description="Refuse statements that change data. Default: as the connection is."),
    ] = False
