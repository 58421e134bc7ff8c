"""Defines the payload of a job of kind `etl`.

    {"extract": [{"name": "orders", "from": {"connection": "shop", "query": "select …"}},
                 {"name": "rates", "from": {"file": "rates/*.csv"}}],
     "transform": "select day, sum(amount * rate) as total from orders join rates using (currency)
                   group by day order by day",
     "load": {"to": {"connection": "warehouse", "table": "daily", "mode": "upsert",
                     "key": ["day"]}}}

`transform` may be a list of steps, [{"name": "clean", "query": "select …"}, …]; the result of the
last one is loaded. A file in an object store is {"connection": "lake", "file":
"orders/{scheduled_at:date}.parquet"}.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from rota.contract.payloads.reader import DURATION_META
from rota.contract.payloads.sql import FormatOfFile, Parameters, QueryText

EXTRACTS_MAX: Final = 32
STEPS_MAX: Final = 64
KEY_COLUMNS_MAX: Final = 16
CHUNK_ROWS_MAX: Final = 100_000
CHUNK_ROWS_DEFAULT: Final = 5000


class EtlSource(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A query on a database, or files in the data folder or in an object store."""

    connection: Annotated[
        str | None,
        Meta(
            description=(
                "Name of a connection of the worker: a database for `query`, an object store for "
                "`file`. Default: the worker's data folder."
            )
        ),
    ] = None
    query: Annotated[
        QueryText | None, Meta(description="Query to read from the database. Default: none.")
    ] = None
    parameters: Parameters = None
    file: Annotated[
        str | None, Meta(description="Path or pattern of the files to read. Default: none.")
    ] = None
    format: FormatOfFile = None


class EtlExtract(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="Table name in the transform queries.")]
    from_: Annotated[EtlSource, Meta(description="Query or files to read.")] = msgspec.field(
        name="from"
    )
    columns: Annotated[
        dict[str, str] | None,
        Meta(
            description=(
                'Types of a query\'s columns, such as {"amount": "DECIMAL(12,2)"}. '
                "Default: the types that the database reports."
            )
        ),
    ] = None


class EtlStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[
        str | None,
        Meta(description="Table name in later steps. Default: none, for the last step only."),
    ] = None
    query: Annotated[QueryText, Meta(description="Query over the extracts and earlier steps.")]


class EtlTarget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table in a database, or a file in the data folder or in an object store."""

    connection: Annotated[
        str | None,
        Meta(
            description=(
                "Name of a connection of the worker: a database for `table`, an object store for "
                "`file`. Default: the worker's data folder."
            )
        ),
    ] = None
    table: Annotated[
        str | None, Meta(description="Table to write to, as table or schema.table. Default: none.")
    ] = None
    mode: Annotated[
        Literal["append", "replace", "upsert"] | None,
        Meta(description="How rows are written to the table. Default: append."),
    ] = None
    key: Annotated[
        Annotated[list[str], Meta(max_length=KEY_COLUMNS_MAX)] | None,
        Meta(description="Columns of the unique key, for upsert. Default: none."),
    ] = None
    file: Annotated[str | None, Meta(description="Path of the file to write. Default: none.")] = (
        None
    )
    format: FormatOfFile = None


class EtlLoad(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    to: Annotated[EtlTarget, Meta(description="Table or file to write to.")]


class EtlPayload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    extract: Annotated[
        list[EtlExtract],
        Meta(
            min_length=1,
            max_length=EXTRACTS_MAX,
            description="Queries and files to read, each with a name.",
        ),
    ]
    transform: Annotated[
        QueryText | Annotated[list[EtlStep], Meta(min_length=1, max_length=STEPS_MAX)] | None,
        Meta(
            description=(
                "A query over the extracts, or a list of named steps. "
                "Default: the rows of the single extract."
            )
        ),
    ] = None
    load: Annotated[EtlLoad, Meta(description="Where and how to write the result.")]
    chunk_rows: Annotated[
        int,
        Meta(
            ge=1,
            le=CHUNK_ROWS_MAX,
            description=f"Rows per write. Default: {CHUNK_ROWS_DEFAULT}.",
        ),
    ] = CHUNK_ROWS_DEFAULT
    timeout: Annotated[
        str | None,
        Meta(
            description="Time limit, such as 30m. Default: the job's timeout.",
            extra=DURATION_META,
        ),
    ] = None
