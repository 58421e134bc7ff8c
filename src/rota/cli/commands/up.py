"""`rota up`: everything on this machine, until Ctrl-C. Room: cli."""

import asyncio
from pathlib import Path

from rota.cli.output import say, write_log
from rota.cli.settings import settings_for
from rota.node.database import Database
from rota.node.everything import run_everything


def up(*, data: Path | None = None, config: Path | None = None) -> int:
    """Start Rota on this machine, with a PostgreSQL of its own unless ROTA_DATABASE_URL names one.

    Parameters
    ----------
    data
        Folder of the embedded database (default: .rota in the current folder).
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    """
    settings = settings_for(data=data, config=config)
    return asyncio.run(run_everything(settings, ready=announce, write=write_log))


def announce(database: Database) -> None:
    place = f"embedded in {database.embedded.home}" if database.embedded else "server"
    schema = f"migrated ({len(database.applied)} steps)" if database.applied else "up to date"
    say(f"PostgreSQL {database.version}, {place}; schema {schema}")
    say("Rota is up. Stop it with Ctrl-C.")
