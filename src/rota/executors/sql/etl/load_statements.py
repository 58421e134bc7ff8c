"""Builds the SQL that loads a table, in the four dialects.

The statements are composed, because the job names tables and columns; every name is quoted, and all
values are parameters. Rows go to a staging table in chunks, each together with an update of the
progress record; at the end they go from there into the table in one statement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rota.executors.sql.connections import Dialect
from rota.executors.sql.etl.spec import LoadTable
from rota.executors.sql.session import ResultColumn

PROGRESS_TABLE: Final = "rota_etl_marks"
STAGING_PREFIX: Final = "rota_etl_"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStatements:
    """The statements of one load."""

    dialect: Dialect
    target: LoadTable
    staging_name: str
    columns: tuple[ResultColumn, ...]

    def quote_name(self, name: str) -> str:
        sign = "`" if self.dialect is Dialect.MYSQL else '"'
        doubled = name.replace(sign, sign * 2)
        # PyMySQL takes a per cent sign for the beginning of a placeholder.
        safe = doubled.replace("%", "%%") if self.dialect is Dialect.MYSQL else doubled
        return f"{sign}{safe}{sign}"

    def qualify_name(self, name: str) -> str:
        """Return the quoted name of a table in the schema of the target."""
        schema = self.target.schema
        return (
            self.quote_name(name)
            if schema is None
            else f"{self.quote_name(schema)}.{self.quote_name(name)}"
        )

    def placeholder(self, number: int) -> str:
        match self.dialect:
            case Dialect.POSTGRESQL:
                return f"${number}"
            case Dialect.MYSQL:
                return "%s"
            case _:
                return "?"

    @property
    def progress_table(self) -> str:
        return self.qualify_name(PROGRESS_TABLE)

    @property
    def staging(self) -> str:
        return self.qualify_name(self.staging_name)

    @property
    def table(self) -> str:
        return self.qualify_name(self.target.name)

    @property
    def column_list(self) -> str:
        return ", ".join(self.quote_name(column.name) for column in self.columns)

    # --- progress records

    def create_progress_table(self) -> str:
        return (
            f"create table if not exists {self.progress_table} (run_id varchar(36) primary key, "
            "attempt integer not null, staging varchar(63) not null, "
            "chunk_rows integer not null, chunks integer not null, row_count bigint not null, "
            "digest varchar(64) not null, done integer not null, touched_at timestamp not null)"
        )

    def read_progress(self) -> str:
        return (
            "select attempt, chunk_rows, chunks, row_count, digest, done "
            f"from {self.progress_table} where run_id = {self.placeholder(1)}"
        )

    def insert_progress(self) -> str:
        return (
            f"insert into {self.progress_table} (run_id, attempt, staging, chunk_rows, chunks, "
            "row_count, digest, done, touched_at) "
            f"values ({self.placeholder(1)}, {self.placeholder(2)}, {self.placeholder(3)}, "
            f"{self.placeholder(4)}, 0, 0, '', 0, current_timestamp)"
        )

    def take_over(self) -> str:
        return (
            f"update {self.progress_table} set attempt = {self.placeholder(1)}, "
            f"chunk_rows = {self.placeholder(2)}, touched_at = current_timestamp "
            f"where run_id = {self.placeholder(3)} and attempt = {self.placeholder(4)}"
        )

    def update_progress(self) -> str:
        return (
            f"update {self.progress_table} set chunks = {self.placeholder(1)}, "
            f"row_count = {self.placeholder(2)}, digest = {self.placeholder(3)}, "
            f"done = {self.placeholder(4)}, touched_at = current_timestamp "
            f"where run_id = {self.placeholder(5)} and attempt = {self.placeholder(6)} and done = 0"
        )

    def select_old_progress(self) -> str:
        """Select progress records too old for a retry, by the clock of the database."""
        old = {
            Dialect.POSTGRESQL: "current_timestamp - interval '30 days'",
            Dialect.MYSQL: "current_timestamp - interval 30 day",
            Dialect.SQLITE: "datetime('now', '-30 days')",
            Dialect.DUCKDB: "current_timestamp::timestamp - interval 30 day",
        }
        return (
            f"select run_id, staging from {self.progress_table} "
            f"where touched_at < {old[self.dialect]} limit 10"
        )

    def delete_progress(self) -> str:
        return f"delete from {self.progress_table} where run_id = {self.placeholder(1)}"

    # --- the staging table

    def drop_table(self, name: str) -> str:
        return f"drop table if exists {self.qualify_name(name)}"

    def create_staging(self) -> str:
        return (
            f"create table {self.staging} as "
            f"select {self.column_list} from {self.table} where 1 = 0"
        )

    def insert_json(self) -> str:
        """Insert a whole chunk that is passed as one parameter, a list of objects."""
        if self.dialect is Dialect.POSTGRESQL:
            return (
                f"insert into {self.staging} ({self.column_list}) select {self.column_list} "
                f"from json_populate_recordset(null::{self.staging}, $1::json)"
            )
        shape = ", ".join(f'"c{at}": "VARCHAR"' for at in range(len(self.columns)))
        picked = ", ".join(
            f"unhex(r.c{at})" if column.type == "BLOB" else f"r.c{at}"
            for at, column in enumerate(self.columns)
        )
        return (
            f"insert into {self.staging} ({self.column_list}) select {picked} "
            f"from (select unnest(from_json(?::json, '[{{{shape}}}]')) as r)"
        )

    def insert_row(self) -> str:
        marks = ", ".join(self.placeholder(at) for at in range(1, len(self.columns) + 1))
        return f"insert into {self.staging} ({self.column_list}) values ({marks})"

    # --- the target

    def publish_rows(self) -> Sequence[str]:
        """Return the statements that move the staged rows into the table, in one transaction."""
        insert = (
            f"insert into {self.table} ({self.column_list}) "
            f"select {self.column_list} from {self.staging}"
        )
        match self.target.mode:
            case "append":
                return (insert,)
            case "replace":
                return (f"delete from {self.table}", insert)
            case _:
                return (f"{insert}{self._conflict()}",)

    def _conflict(self) -> str:
        keys = {name.lower() for name in self.target.key}
        others = [
            self.quote_name(column.name)
            for column in self.columns
            if column.name.lower() not in keys
        ]
        if self.dialect is Dialect.MYSQL:
            changed = others or [self.quote_name(self.target.key[0])]
            return (
                f" on duplicate key update {', '.join(f'{one} = values({one})' for one in changed)}"
            )
        key = ", ".join(self.quote_name(name) for name in self.target.key)
        # Without `where`, SQLite would parse `on` as the condition of a join.
        where = " where true" if self.dialect is Dialect.SQLITE else ""
        if not others:
            return f"{where} on conflict ({key}) do nothing"
        moved = ", ".join(f"{one} = excluded.{one}" for one in others)
        return f"{where} on conflict ({key}) do update set {moved}"
