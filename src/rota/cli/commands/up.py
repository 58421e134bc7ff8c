"""`rota up`: runs all of Rota on this machine until Ctrl-C."""

import asyncio
import os
from pathlib import Path

from rota.cli.commands.api import announce as announce_api
from rota.cli.output import print_message, write_log
from rota.cli.settings import load_settings
from rota.core.errors import InvalidInput
from rota.processes.all_in_one import StartupReport, run_all_in_one


def up(
    app: str | None = None,
    *,
    data: Path | None = None,
    host: str | None = None,
    port: int | None = None,
    demo: bool = False,
    config: Path | None = None,
) -> int:
    """Start Rota on this machine, with an embedded PostgreSQL or the server in ROTA_DATABASE_URL.

    Parameters
    ----------
    app
        App to serve, as module:attribute of a rota.App. Default: only the built-in kinds.
    data
        Folder of the embedded database. Default: .rota in the current folder.
    host
        Address that the API listens on. Default: 127.0.0.1.
    port
        Port that the API listens on. Default: 7070.
    demo
        Add and run example jobs.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    if demo and app is not None:
        raise InvalidInput("--demo", app, "use either the example jobs or an app, not both")
    settings = load_settings(data=data, config=config, flags={"api": {"host": host, "port": port}})

    def ready(up: StartupReport) -> None:
        announce(up)
        # Jobs that submit other jobs use this server, unless the environment sets another one.
        os.environ.setdefault("ROTA_URL", up.api.url)
        os.environ.setdefault("ROTA_DATA", str(settings.database.data))

    return asyncio.run(
        run_all_in_one(
            settings, demo=demo, ready=ready, write=write_log, say=print_message, app=app
        )
    )


def announce(up: StartupReport) -> None:
    database = up.database
    place = f"embedded in {database.embedded.home}" if database.embedded else "server"
    applied = len(database.applied)
    schema = f"migrated ({applied} migrations)" if applied else "up to date"
    print_message(f"PostgreSQL {database.version}, {place}; schema {schema}")
    if up.example_jobs is not None:
        print_message(f"Added {up.example_jobs} example jobs; watch them with `rota status`")
    announce_api(up.api)
    print_message("Rota is up. Stop it with Ctrl-C.")
