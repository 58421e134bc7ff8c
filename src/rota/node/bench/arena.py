"""Where the measuring happens: a server, and a fresh database for each part. Room: node/bench.

The embedded PostgreSQL in a folder of its own, with full durability, or the operator's server in
databases that this run makes and drops. A part never sees what another left behind, be it rows,
dead entries or a scheduler's leases.
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

from rota.store import benchmark
from rota.store.embedded import Options, start
from rota.store.embedded.server import read_pid_file
from rota.store.embedded.waiting import until
from rota.store.fitness import check_server
from rota.store.migrate import migrate
from rota.store.partitions import make_ahead
from rota.store.pool import Access, open_connection

# Filling a table and dropping a database take longer than anything Rota does.
PATIENCE: Final = timedelta(minutes=10)
STOPPING: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """`url` is a server to use; without it PostgreSQL is started in a new folder inside `data`."""

    url: str | None = None
    data: Path | None = None
    binaries: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """`postmaster` is the server's first process, None if it is not ours to watch."""

    access: Access
    prefix: str
    version: str
    postmaster: int | None

    @asynccontextmanager
    async def database(self, part: str) -> AsyncIterator[Access]:
        """A migrated database with nothing in it, dropped when the block is left."""
        name = f"{self.prefix}_{part}"
        async with open_connection(self.access) as conn:
            await benchmark.create_database(conn, name, template=self.prefix)
        try:
            yield replace(self.access, url=benchmark.with_database(self.access.url, name))
        finally:
            async with open_connection(self.access) as conn:
                await benchmark.drop_database(conn, name)


@asynccontextmanager
async def open_arena(wishes: Wishes, *, id_: UUID, today: date) -> AsyncIterator[Arena]:
    """Have a server and the template of the databases, until the block is left."""
    if wishes.url is not None:
        async with _prepared(wishes.url, postmaster=None, id_=id_, today=today) as arena:
            yield arena
        return
    with new_folder(wishes.data) as folder:
        options = Options(binaries=wishes.binaries)
        embedded = await asyncio.to_thread(start, folder / "home", options=options)
        cluster = embedded.home / "data"
        try:
            said = read_pid_file(cluster)
            postmaster = said.pid if said else None
            async with _prepared(
                embedded.url, postmaster=postmaster, id_=id_, today=today
            ) as arena:
                yield arena
        finally:
            embedded.close()
            # It stops by itself now, and would still write while the folder is being removed.
            gone = functools.partial(until, lambda: read_pid_file(cluster) is None)
            await asyncio.to_thread(gone, seconds=STOPPING)


@contextmanager
def new_folder(inside: Path | None) -> Iterator[Path]:
    """An empty folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(
        prefix="rota-bench-", dir=inside, ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        # Root has the server run by another user, who must be able to pass through.
        folder.chmod(0o755)
        yield folder


@asynccontextmanager
async def _prepared(
    url: str, *, postmaster: int | None, id_: UUID, today: date
) -> AsyncIterator[Arena]:
    """The template: its name is drawn, so that two benchmarks on a server do not meet."""
    access = Access(
        url=url,
        name="rota bench",
        statement=PATIENCE,
        lock=PATIENCE,
        idle_in_transaction=timedelta(0),
    )
    prefix = f"rota_bench_{id_.hex[-8:]}"
    async with open_connection(access) as conn:
        server = await check_server(conn)
        await benchmark.create_database(conn, prefix)
    arena = Arena(access=access, prefix=prefix, version=server.shown_version, postmaster=postmaster)
    try:
        template = replace(access, url=benchmark.with_database(url, prefix))
        async with open_connection(template) as conn:
            await migrate(conn)
            await make_ahead(conn, today=today, ahead=1)
        yield arena
    finally:
        async with open_connection(access) as conn:
            await benchmark.drop_database(conn, prefix)
