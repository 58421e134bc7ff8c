"""`rota migrate`: bring the schema up to date and end. Room: cli."""

import asyncio
from pathlib import Path

from rota.cli.output import say
from rota.cli.settings import settings_for
from rota.config.settings import Settings
from rota.node.database import open_database


def migrate(*, data: Path | None = None, config: Path | None = None) -> int:
    """Bring the database's schema up to date. Any number of processes may do so at once.

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
    async with open_database(settings.database, name="rota migrate") as database:
        for name in database.applied:
            say(f"applied {name}")
        say("the schema is up to date")
