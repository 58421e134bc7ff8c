"""Composes the SQL statements that read an outbox from its options.

The operator chooses the table and its columns; their names are quoted, and everything else is a
parameter. The table may be in any PostgreSQL from version 12 on.
"""

from dataclasses import dataclass
from typing import Final

# Transactions that may hold an id that is not visible yet: an insert locks the table before it
# draws an id from the sequence, and releases the lock when its transaction has ended.
WRITERS: Final = """
select l.virtualtransaction || '/' || coalesce(l.pid, 0)
from pg_catalog.pg_locks as l
where
    l.locktype = 'relation'
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    and l.relation = to_regclass($1::text)
    and l.mode = any(
        array['RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']
    )
    and l.granted
    and l.pid is distinct from pg_backend_pid()
"""
COLUMNS: Final = """
select a.attname, format_type(a.atttypid, null), pg_is_in_recovery()
from pg_catalog.pg_attribute as a
where a.attrelid = to_regclass($1::text) and a.attnum > 0 and not a.attisdropped
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxColumns:
    """The names of the columns; None if the table has no such column."""

    id: str
    body: str | None
    type: str | None
    subject: str | None
    time: str | None
    mark: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxStatements:
    """The statements of one outbox."""

    table: str
    top: str
    behind: str
    unmarked: str
    waiting: str
    delete: str
    mark: str


def quote_identifier(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def compose_statements(table: str, columns: OutboxColumns) -> OutboxStatements:
    """Compose the statements for a table, `name` or `schema.name`."""
    name = ".".join(quote_identifier(part) for part in table.split(".", 1))
    key = f"t.{quote_identifier(columns.id)}"
    selected = ", ".join(
        "null" if column is None else f"t.{quote_identifier(column)}"
        for column in (columns.type, columns.subject, columns.time)
    )
    # Without a body column the body is the whole row as JSON, except the column that Rota writes.
    marked = "" if columns.mark is None else f" - '{columns.mark.replace(chr(39), chr(39) * 2)}'"
    body = f"to_jsonb(t){marked}" if columns.body is None else f"t.{quote_identifier(columns.body)}"
    select = f"select {key}, {selected}, {body} from {name} as t"
    unread = "" if columns.mark is None else f" where t.{quote_identifier(columns.mark)} is null"
    mark = "" if columns.mark is None else quote_identifier(columns.mark)
    behind = f"where {key} > $1::bigint and {key} <= $2::bigint and {key} <> all($3::bigint[])"
    return OutboxStatements(
        table=name,
        top=f"select max({key})::bigint from {name} as t",
        behind=f"{select} {behind} order by {key} limit $4::integer",
        unmarked=f"{select}{unread} order by {key} limit $1::integer",
        waiting=f"select count(*) from (select 1 from {name} as t{unread} limit 10001) as w",
        delete=f"delete from {name} as t where {key} = any($1)",
        mark=f"update {name} as t set {mark} = now() where {key} = any($1)",
    )
