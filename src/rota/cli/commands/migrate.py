"""`rota migrate`: bring the schema up to date and end. Room: cli."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from rota.cli.output import say, write_log
from rota.cli.settings import settings_for
from rota.config.settings import Settings
from rota.core.events import (
    EngineEvent,
    MigrationApplied,
    MigrationPutOff,
    MigrationRunning,
    MigrationWaiting,
)
from rota.node.database import open_database
from rota.node.process import make_log
from rota.node.startup import StartWait
from rota.runtime.clock import SystemClock
from rota.runtime.stop import Halt
from rota.store.pool import open_connection
from rota.store.roles import ROLES_SQL, grant_roles


def migrate(
    *, data: Path | None = None, config: Path | None = None, print_roles: bool = False
) -> int:
    """Bring the database's schema up to date. Any number of processes may do so at once.

    Applies each missing migration and prints its name. Waits for a server that does not answer, for
    as long as `database.wait_at_start` says, and for another process that migrates. Prints a line
    every few seconds while a migration runs. docs/howto/upgrade.md tells the order of an upgrade.

    Must be run as the owner of the schema. Grants the roles rota_service and rota_worker their
    rights, and prints what an administrator of the server must do for it. docs/howto/database.md
    says which login each process needs.

    Parameters
    ----------
    data
        Folder of the embedded database (default: .rota in the current folder).
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    print_roles
        Print the SQL with which an administrator creates the database roles, and do nothing else.
        Default: off.
    """
    if print_roles:
        say(ROLES_SQL.rstrip())
        return 0
    settings = settings_for(data=data, config=config)
    asyncio.run(migrate_once(settings))
    return 0


async def migrate_once(settings: Settings) -> None:
    clock = SystemClock()
    wait = StartWait.of(
        settings.database,
        clock=clock,
        emit=make_log(settings.log, clock, write_log),
        rng=Random(),
        # A signal ends this program by itself.
        stop=Halt(),
    )
    async with AsyncExitStack() as stack:
        database = await wait.enter(
            stack, lambda: open_database(settings.database, name="rota migrate", emit=report)
        )
        say("the schema is up to date")
        async with open_connection(database.access) as conn:
            missing = await grant_roles(conn)
    if missing:
        say("the database lacks roles that processes can log in with (optional, recommended).")
        say("As an administrator of the server, run this, then `rota migrate` again:")
        for statement in missing:
            say(f"  {statement}")


def report(event: EngineEvent) -> None:
    """Print what a person who waits for a migration wants to know."""
    match event:
        case MigrationApplied():
            say(f"applied {event.name}")
        case MigrationRunning():
            waits = "" if event.waits_for is None else f"; it waits for {event.waits_for}"
            say(f"{event.name} has run for {event.lasted.total_seconds():.0f} s{waits}")
        case MigrationPutOff():
            say(f"{event.name} gave way (try {event.tries}): {event.reason}")
        case MigrationWaiting():
            waited = event.waited.total_seconds()
            say(f"waited {waited:.0f} s for another process that migrates: {event.holder}")
        case _:
            pass
