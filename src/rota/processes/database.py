"""Opens the database of the settings: starts or reaches it, checks it, and migrates it.

A configured URL wins; without one, PostgreSQL is started in the data folder. Either way the server
is checked before anything is written to it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from rota.config.database import DatabaseSettings
from rota.core.log_events import Emit
from rota.store import partitions
from rota.store.embedded import Embedded, EmbeddedOptions, start
from rota.store.migration_watch import MigrationWatch, ignore_event
from rota.store.pool import DatabaseAccess, check_server, open_connection, read_database_time
from rota.store.roles import DatabaseRole, check_rights, describe_login
from rota.store.schema_migration import Migration, migrate

# A migration may take hours. Its own lock timeout keeps it from blocking others (F59).
NO_TIMEOUT: Final = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDatabase:
    access: DatabaseAccess
    version: str
    applied: tuple[str, ...]
    embedded: Embedded | None


@asynccontextmanager
async def open_database(
    settings: DatabaseSettings,
    *,
    name: str,
    emit: Emit = ignore_event,
    roles: Sequence[DatabaseRole] = (),
) -> AsyncIterator[OpenDatabase]:
    """Start or reach the database, check it, and migrate its schema.

    A login that does not own the schema changes nothing: it must be a member of `roles`, and the
    schema must be up to date.
    """
    async with AsyncExitStack() as stack:
        embedded = None
        if settings.url is None:
            options = EmbeddedOptions(binaries=settings.binaries)
            embedded = await asyncio.to_thread(start, settings.data, options=options)
            stack.callback(embedded.close)
        access = DatabaseAccess(
            url=embedded.url if embedded else settings.url or "",
            name=name,
            connect_timeout=settings.connect_timeout,
            statement_timeout=settings.statement_timeout,
            lock_timeout=settings.lock_timeout,
            idle_in_transaction_timeout=settings.idle_in_transaction_timeout,
        )
        async with open_connection(access) as conn:
            server = await check_server(conn)
            login, applied = await describe_login(conn), list[str]()
            if login.may_migrate:
                applied = await migrate_database(access, emit=emit)
                login = await describe_login(conn)
            else:
                await check_rights(conn, login, roles)
            if login.may_create_partitions:
                # Before a row of today lands in the default partition.
                today = (await read_database_time(conn)).date()
                await partitions.create_ahead(conn, today=today, ahead=0)
        yield OpenDatabase(
            access=access,
            version=server.shown_version,
            applied=tuple(applied),
            embedded=embedded,
        )


async def migrate_database(
    access: DatabaseAccess, *, emit: Emit, migrations: Sequence[Migration] | None = None
) -> list[str]:
    """Migrate on a separate connection without a statement timeout."""
    watch = MigrationWatch(emit=emit, open_connection=lambda: open_connection(access))
    async with open_connection(replace(access, statement_timeout=NO_TIMEOUT)) as conn:
        return await migrate(conn, migrations=migrations, watch=watch)
