"""Provides the server of a benchmark, and a fresh database for each part.

The server is an embedded PostgreSQL in a temporary folder, with full durability, or the operator's
server, in temporary databases. A part never sees rows, dead entries or leases of another part.
"""

import asyncio
import functools
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from rota.store.embedded import EmbeddedOptions, start
from rota.store.embedded.polling import wait_until
from rota.store.embedded.server import read_pid_file
from rota.store.partitions import create_ahead
from rota.store.pool import DatabaseAccess, check_server, open_connection
from rota.store.schema_migration import migrate
from rota_bench import database

# Filling a table and dropping a database take longer than any statement of Rota.
STATEMENT_TIMEOUT: Final = timedelta(minutes=10)
STOP_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchServerOptions:
    """`url` is an existing server; without it PostgreSQL is started in a new folder in `data`."""

    url: str | None = None
    data: Path | None = None
    binaries: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchServer:
    """`postmaster` is the pid of the server, None for a server that this run did not start."""

    access: DatabaseAccess
    prefix: str
    version: str
    postmaster: int | None

    @asynccontextmanager
    async def open_database(self, part: str) -> AsyncIterator[DatabaseAccess]:
        """Create an empty, migrated database, and drop it at the end of the block."""
        name = f"{self.prefix}_{part}"
        async with open_connection(self.access) as conn:
            await database.create_database(conn, name, template=self.prefix)
        try:
            yield replace(self.access, url=database.with_database(self.access.url, name))
        finally:
            async with open_connection(self.access) as conn:
                await database.drop_database(conn, name)


@asynccontextmanager
async def open_bench_server(
    server_options: BenchServerOptions, *, id_: UUID, today: date
) -> AsyncIterator[BenchServer]:
    """Provide a server and the template database for the duration of the block."""
    if server_options.url is not None:
        async with _open_prepared(
            server_options.url, postmaster=None, id_=id_, today=today
        ) as arena:
            yield arena
        return
    with create_folder(server_options.data) as folder:
        options = EmbeddedOptions(binaries=server_options.binaries)
        embedded = await asyncio.to_thread(start, folder / "home", options=options)
        cluster = embedded.home / "data"
        try:
            pid_file = read_pid_file(cluster)
            postmaster = pid_file.pid if pid_file else None
            async with _open_prepared(
                embedded.url, postmaster=postmaster, id_=id_, today=today
            ) as arena:
                yield arena
        finally:
            embedded.close()
            # The server stops asynchronously: wait, so that it does not write to a folder being
            # removed.
            wait_stopped = functools.partial(wait_until, lambda: read_pid_file(cluster) is None)
            await asyncio.to_thread(wait_stopped, seconds=STOP_TIMEOUT_S)


@contextmanager
def create_folder(parent: Path | None) -> Iterator[Path]:
    """Create a temporary folder."""
    with tempfile.TemporaryDirectory(
        prefix="rota-bench-", dir=parent, ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        # As root, the server runs as another user, who must be able to enter the folder.
        folder.chmod(0o755)
        yield folder


@asynccontextmanager
async def _open_prepared(
    url: str, *, postmaster: int | None, id_: UUID, today: date
) -> AsyncIterator[BenchServer]:
    """Create the template database, under a random name to allow concurrent benchmarks."""
    access = DatabaseAccess(
        url=url,
        name="rota bench",
        statement_timeout=STATEMENT_TIMEOUT,
        lock_timeout=STATEMENT_TIMEOUT,
        idle_in_transaction_timeout=timedelta(0),
    )
    prefix = f"rota_bench_{id_.hex[-8:]}"
    async with open_connection(access) as conn:
        server = await check_server(conn)
        await database.create_database(conn, prefix)
    arena = BenchServer(
        access=access, prefix=prefix, version=server.shown_version, postmaster=postmaster
    )
    try:
        template = replace(access, url=database.with_database(url, prefix))
        async with open_connection(template) as conn:
            await migrate(conn)
            await create_ahead(conn, today=today, ahead=1)
        yield arena
    finally:
        async with open_connection(access) as conn:
            await database.drop_database(conn, prefix)
