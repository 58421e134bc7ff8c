"""`rota migrate`: migrates the database schema and exits."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from rota.cli.output import print_message, write_log
from rota.cli.settings import load_settings
from rota.config.settings import Settings
from rota.core.log_events import (
    EngineEvent,
    MigrationApplied,
    MigrationDelayed,
    MigrationRunning,
    MigrationWaiting,
)
from rota.processes.database import open_database
from rota.processes.process import build_log
from rota.processes.startup import DatabaseWait
from rota.runtime.clock import SystemClock
from rota.runtime.service import Halt
from rota.store.pool import open_connection
from rota.store.roles import ROLES_SQL, grant_roles


def migrate(
    *, data: Path | None = None, config: Path | None = None, print_roles: bool = False
) -> int:
    """Migrate the database schema. Concurrent migrations are safe.

    Applies each missing migration and prints its name. Waits for an unreachable server for up to
    `database.wait_at_start`, and for another process that migrates. Prints a line every few seconds
    while a migration runs. docs/howto/upgrade.md describes the steps of an upgrade.

    Requires the owner of the schema. Grants the roles rota_service and rota_worker their rights,
    and prints what an administrator of the server must do for it. docs/howto/database.md lists the
    login that each process needs.

    Parameters
    ----------
    data
        Folder of the embedded database. Default: .rota in the current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    print_roles
        Only print the SQL with which an administrator creates the database roles.
    """
    if print_roles:
        print_message(ROLES_SQL.rstrip())
        return 0
    settings = load_settings(data=data, config=config)
    asyncio.run(migrate_once(settings))
    return 0


async def migrate_once(settings: Settings) -> None:
    clock = SystemClock()
    wait = DatabaseWait.from_settings(
        settings.database,
        clock=clock,
        emit=build_log(settings.log, clock, write_log),
        rng=Random(),
        # Python's default signal handling ends this program.
        stop=Halt(),
    )
    async with AsyncExitStack() as stack:
        database = await wait.enter_context(
            stack,
            lambda: open_database(settings.database, name="rota migrate", emit=print_progress),
        )
        print_message("The schema is up to date")
        async with open_connection(database.access) as conn:
            missing = await grant_roles(conn)
    if missing:
        print_message("The database lacks the roles for separate logins (optional, recommended).")
        print_message("As an administrator of the server, run this, then run `rota migrate` again:")
        for statement in missing:
            print_message(f"  {statement}")


def print_progress(event: EngineEvent) -> None:
    """Print the progress of the migrations."""
    match event:
        case MigrationApplied():
            print_message(f"Applied {event.name}")
        case MigrationRunning():
            waits = "" if event.waits_for is None else f", waiting for {event.waits_for}"
            print_message(f"{event.name} running for {event.lasted.total_seconds():.0f} s{waits}")
        case MigrationDelayed():
            print_message(f"{event.name} postponed (try {event.tries}): {event.reason}")
        case MigrationWaiting():
            waited = event.waited.total_seconds()
            print_message(f"Waited {waited:.0f} s for another migration: {event.holder}")
        case _:
            pass
