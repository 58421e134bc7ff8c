"""`rota migrate`: bring the schema up to date and end. Room: cli."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from rota.cli.output import say, write_log
from rota.cli.settings import settings_for
from rota.config.settings import Settings
from rota.node.database import open_database
from rota.node.process import make_log
from rota.node.startup import StartWait
from rota.runtime.clock import SystemClock
from rota.runtime.stop import Halt


def migrate(*, data: Path | None = None, config: Path | None = None) -> int:
    """Bring the database's schema up to date. Any number of processes may do so at once.

    Waits for a server that does not answer, for as long as `database.wait_at_start` says.

    Parameters
    ----------
    data
        Folder of the embedded database (default: .rota in the current folder).
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    """
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
            stack, lambda: open_database(settings.database, name="rota migrate")
        )
        for name in database.applied:
            say(f"applied {name}")
        say("the schema is up to date")
