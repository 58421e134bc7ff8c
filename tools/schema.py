"""Writes src/rota/store/schema.sql, the schema that all migrations make; `--check` compares.

Migrations tell how the schema came about; this file tells what it is. The tool applies every
migration to an empty embedded PostgreSQL, dumps the schema with pg_dump, and groups the dump by
table: comments, columns, keys, indexes and triggers of a table stand together. It leaves out what
the migrations derive from these: partitions, row-level security policies and grants.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from rota.store.embedded import binaries, start
from rota.store.embedded.account import choose_account
from rota.store.schema_migration import migrate

ROOT = Path(__file__).resolve().parent.parent
SCHEMA_FILE = ROOT / "src" / "rota" / "store" / "schema.sql"
MEMORY = Path("/dev/shm")
# pg_dump writes another text in other releases of PostgreSQL.
POSTGRES_MAJOR = 18

HEADER = """\
-- The database schema of Rota: what all migrations together make.
-- Generated from src/rota/store/migrations by `make generate`; do not edit.
--
-- Left out, because the migrations derive them from the tables below:
--   partitions      `runs`, `attempts`, `events` and others have one partition per day, `audit` one
--                   per month, and `…_rest` for rows outside them
--   policies        rota.raise_wall() gives every table with a tenant_id row-level security
--   grants          rota.grant_roles() grants what the table role_grants lists
--   state guard     src/rota/store/generated/state_guard.sql: the moves of states that are allowed
"""

ENTRY = re.compile(r"^-- Name: (?P<name>.*); Type: (?P<type>.*); Schema: (?P<schema>.*); Owner:.*$")
COMMENT = re.compile(
    r"^COMMENT ON (?P<kind>TABLE|COLUMN|FUNCTION|TYPE) rota\.(?P<name>.*) IS '(?P<text>.*)';$",
    re.DOTALL,
)
LEFT_OUT = {
    "ACL",
    "ROW SECURITY",
    "POLICY",
    "TABLE ATTACH",
    "INDEX ATTACH",
    "SCHEMA",
    "DEFAULT ACL",
}
LINE_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of the dump: its name and type, as pg_dump calls them, and its statements."""

    name: str
    type: str
    text: str

    @property
    def table(self) -> str:
        """The table that a constraint, index, trigger or sequence belongs to."""
        if self.type in {"TABLE", "SEQUENCE"}:
            return self.name.removesuffix("_id_seq").removesuffix("_number_seq")
        found = re.search(r"(?:ONLY|ON ONLY|ON|TABLE) rota\.(\w+)", self.text)
        return found[1] if found else ""


def parse_dump(dump: str) -> list[Entry]:
    """Split the output of pg_dump into its entries."""
    entries: list[Entry] = []
    header: re.Match[str] | None = None
    lines: list[str] = []
    for line in [*dump.splitlines(), "-- Name: end; Type: END; Schema: -; Owner: -"]:
        found = ENTRY.match(line)
        if found is None:
            lines.append(line)
            continue
        if header is not None:
            text = "\n".join(line for line in lines if line != "--").strip()
            entries.append(Entry(header["name"], header["type"], text))
        header, lines = found, []
    return entries


def render(dump: str) -> str:
    """Group the entries of a dump by table, with their comments above them."""
    entries = parse_dump(dump)
    comments = dict(_read_comments(entry for entry in entries if entry.type == "COMMENT"))
    kept = [
        entry
        for entry in entries
        if entry.type not in LEFT_OUT | {"COMMENT"}
        and not entry.name.startswith("DEFAULT PRIVILEGES")
        and not re.search(r"_rest\b", entry.name)
        and not re.search(r"_rest\b", entry.table)
    ]
    types = [entry for entry in kept if entry.type == "TYPE"]
    functions = [entry for entry in kept if entry.type == "FUNCTION"]
    tables = sorted((entry for entry in kept if entry.type == "TABLE"), key=lambda e: e.name)
    parts = [HEADER, "\n\n-- Types\n"]
    parts += [_with_comment(entry, comments) for entry in types]
    for table in tables:
        parts.append(f"\n\n-- Table {table.name}\n")
        parts.append(_with_comment(table, comments))
        parts += [
            _tidy(entry.text)
            for entry in kept
            if entry.type not in {"TABLE", "TYPE", "FUNCTION"} and entry.table == table.name
        ]
    parts.append("\n\n-- Functions\n")
    parts += [_with_comment(entry, comments) for entry in sorted(functions, key=lambda e: e.name)]
    return "\n".join(parts) + "\n"


def _read_comments(entries: Iterable[Entry]) -> Iterable[tuple[str, str]]:
    for entry in entries:
        found = COMMENT.match(entry.text)
        if found is not None:
            yield f"{found['kind']} {found['name']}", found["text"].replace("''", "'")


def _with_comment(entry: Entry, comments: dict[str, str]) -> str:
    text = _tidy(entry.text)
    comment = comments.get(f"{entry.type} {entry.name}")
    if entry.type == "TABLE":
        text = "\n".join(_with_column_comments(entry.name, text, comments))
    return (_as_sql_comment(comment) + "\n" if comment else "") + text


def _with_column_comments(table: str, text: str, comments: dict[str, str]) -> Iterable[str]:
    for line in text.splitlines():
        column = re.match(r" {4}(\w+) ", line)
        comment = comments.get(f"COLUMN {table}.{column[1]}") if column else None
        if comment:
            yield _as_sql_comment(comment, indent="    ")
        yield line


def _as_sql_comment(text: str, *, indent: str = "") -> str:
    lines, line = [], f"{indent}--"
    for word in text.split():
        if len(line) + 1 + len(word) > LINE_WIDTH:
            lines.append(line)
            line = f"{indent}--"
        line += f" {word}"
    return "\n".join([*lines, line])


def _tidy(text: str) -> str:
    """Drop blank lines and settings between the statements of an entry."""
    lines = [
        line
        for line in text.splitlines()
        if line and not line.startswith(("SET ", "SELECT pg_catalog", "\\"))
    ]
    return "\n".join(lines) + "\n"


async def _apply_migrations(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await migrate(connection)
    finally:
        await connection.close()


def dump_schema() -> str:
    """Apply all migrations to an empty database and dump its schema."""
    folder = Path(tempfile.mkdtemp(prefix="rota-schema-", dir=MEMORY if MEMORY.is_dir() else None))
    folder.chmod(0o755)
    programs = binaries.choose_install(
        binaries.list_folders(None), account=choose_account(folder), major=POSTGRES_MAJOR
    )
    try:
        with start(folder / "postgres", durable=False) as server:
            asyncio.run(_apply_migrations(server.url))
            return subprocess.run(
                [
                    programs.program("pg_dump"),
                    "--schema-only",
                    "--no-owner",
                    "--schema=rota",
                    server.url,
                ],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(*, check: bool) -> int:
    text = render(dump_schema())
    if SCHEMA_FILE.is_file() and SCHEMA_FILE.read_text() == text:
        return 0
    if check:
        print("src/rota/store/schema.sql does not match the migrations; run `make generate`")
        return 1
    SCHEMA_FILE.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(check="--check" in sys.argv[1:]))
