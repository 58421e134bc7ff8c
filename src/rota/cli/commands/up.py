"""`rota up`: everything on this machine, until Ctrl-C. Room: cli."""

import asyncio
import os
from pathlib import Path

from rota.cli.commands.api import announce as announce_api
from rota.cli.output import say, write_log
from rota.cli.settings import settings_for
from rota.core.errors import InvalidInput
from rota.node.everything import Up, run_everything


def up(
    app: str | None = None,
    *,
    data: Path | None = None,
    host: str | None = None,
    port: int | None = None,
    demo: bool = False,
    config: Path | None = None,
) -> int:
    """Start Rota on this machine, with a PostgreSQL of its own unless ROTA_DATABASE_URL names one.

    Parameters
    ----------
    app
        Jobs to serve, as module:attribute of a rota.App.
    data
        Folder of the embedded database (default: .rota in the current folder).
    host
        Address that the API listens on (default: 127.0.0.1).
    port
        Port that the API listens on (default: 7070).
    demo
        Add example jobs, and run them.
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    """
    if demo and app is not None:
        raise InvalidInput("--demo", app, "the example jobs or an app, not both")
    settings = settings_for(data=data, config=config, flags={"api": {"host": host, "port": port}})

    def ready(up: Up) -> None:
        announce(up)
        # What jobs submit while they run comes here, unless somebody said otherwise.
        os.environ.setdefault("ROTA_URL", up.api.url)
        os.environ.setdefault("ROTA_DATA", str(settings.database.data))

    return asyncio.run(
        run_everything(settings, demo=demo, ready=ready, write=write_log, say=say, app=app)
    )


def announce(up: Up) -> None:
    database = up.database
    place = f"embedded in {database.embedded.home}" if database.embedded else "server"
    schema = f"migrated ({len(database.applied)} steps)" if database.applied else "up to date"
    say(f"PostgreSQL {database.version}, {place}; schema {schema}")
    if up.planted is not None:
        say(f"{up.planted} example jobs were added; `rota status` shows what becomes of them")
    announce_api(up.api)
    say("Rota is up. Stop it with Ctrl-C.")
