"""The four databases, each behind a named connection, for jobs that run in this process."""

import asyncio
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import duckdb
import pytest
from tests.support.databases import create
from tests.support.mariadb import Mariadb, mariadb_in

from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.sql import (
    DataFolder,
    EtlExecutor,
    EtlLimits,
    SqlConnection,
    SqlConnections,
    SqlExecutor,
)
from rota.sdk.testing import RecordingContext
from rota.store.embedded import Embedded

DIALECTS = ("postgresql", "mysql", "sqlite", "duckdb")


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Mariadb]:
    # A socket's path is short, and pytest's folders are not.
    with (
        tempfile.TemporaryDirectory(prefix="rota-my-") as folder,
        mariadb_in(Path(folder)) as server,
    ):
        yield server


@dataclass(kw_only=True)
class Bench:
    """Connections, a data folder, and the two executors over them."""

    connections: list[SqlConnection]
    folder: Path
    work: Path
    memory: int = 128
    used: set[str] = field(default_factory=set)

    def named(self) -> SqlConnections:
        return SqlConnections(self.connections)

    @property
    def sql(self) -> SqlExecutor:
        return SqlExecutor(connections=self.named(), folder=DataFolder(self.folder))

    @property
    def etl(self) -> EtlExecutor:
        limits = EtlLimits(memory=self.memory, disk=16, threads=1, folder=self.work)
        return EtlExecutor(connections=self.named(), folder=DataFolder(self.folder), limits=limits)

    async def run(self, payload: Any, context: RecordingContext | None = None) -> Outcome:
        self.used |= {name for name in DIALECTS if f'"{name}"' in json.dumps(payload)}
        executor = self.etl if "extract" in payload else self.sql
        spec = executor.read(executor.kinds[0], payload)
        return await executor.run(spec, context or RecordingContext())  # type: ignore[arg-type]

    async def result(self, payload: Any, context: RecordingContext | None = None) -> Any:
        outcome = await self.run(payload, context)
        assert isinstance(outcome, Succeeded), outcome
        return outcome.result

    async def failure(self, payload: Any, context: RecordingContext | None = None) -> Failed:
        outcome = await self.run(payload, context)
        assert isinstance(outcome, Failed), outcome
        return outcome

    async def rows(self, connection: str, query: str) -> list[list[Any]]:
        result = await self.result({"connection": connection, "query": query})
        return list(result["rows"])

    async def do(self, connection: str, *statements: str) -> None:
        await self.result({"connection": connection, "statements": list(statements)})


@pytest.fixture(scope="session")
def duckdb_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database; copying it is faster than making it."""
    path = tmp_path_factory.mktemp("duckdb") / "empty.duckdb"
    duckdb.connect(str(path)).close()
    return path


@pytest.fixture
def bench(tmp_path: Path, duckdb_file: Path) -> Bench:
    """SQLite and DuckDB only: they cost nothing."""
    for name in ("data", "work"):
        (tmp_path / name).mkdir()
    sqlite3.connect(tmp_path / "shop.db").close()
    shutil.copy(duckdb_file, tmp_path / "shop.duckdb")
    return Bench(
        connections=[
            SqlConnection(name="sqlite", url=f"sqlite://{tmp_path}/shop.db"),
            SqlConnection(name="duckdb", url=f"duckdb://{tmp_path}/shop.duckdb"),
        ],
        folder=tmp_path / "data",
        work=tmp_path / "work",
    )


@pytest.fixture(scope="session")
def empty(server: Embedded) -> str:
    """The URL of a database that these tests share; a new one for each would take longer."""
    return asyncio.run(create(server.url, f"sql_{os.getpid()}"))


@pytest.fixture
async def emptied(empty: str) -> AsyncIterator[str]:
    yield empty
    await empty_postgresql(empty)


@pytest.fixture
async def all_four(bench: Bench, empty: str, mariadb: Mariadb) -> AsyncIterator[Bench]:
    bench.connections += [
        SqlConnection(name="postgresql", url=empty),
        SqlConnection(name="mysql", url=mariadb.url),
    ]
    yield bench
    if "postgresql" in bench.used:
        await empty_postgresql(empty)
    if "mysql" in bench.used:
        empty_mariadb(mariadb)


async def empty_postgresql(url: str) -> None:
    conn = await asyncpg.connect(url)
    await conn.execute("drop schema public cascade; create schema public")
    await conn.close()


def empty_mariadb(mariadb: Mariadb) -> None:
    names = [str(row[0]) for row in mariadb.run("show tables")]
    if names:
        mariadb.run(*(f"drop table `{name}`" for name in names))
