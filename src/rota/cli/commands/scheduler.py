"""`rota scheduler`: fire jobs when they are due, until told to stop. Room: cli."""

import asyncio
from pathlib import Path

from rota.cli.output import say, write_log
from rota.cli.settings import settings_for
from rota.node.scheduler import run_scheduler


def scheduler(*, data: Path | None = None, config: Path | None = None) -> int:
    """Run a scheduler: it makes runs of the jobs that are due, and shares them with the others.

    Parameters
    ----------
    data
        Folder of the embedded database, unless ROTA_DATABASE_URL names a server.
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    """
    settings = settings_for(data=data, config=config)
    return asyncio.run(run_scheduler(settings, ready=say, write=write_log))
