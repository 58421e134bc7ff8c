"""`rota scheduler`: starts jobs when they are due, until it is stopped."""

import asyncio
from pathlib import Path

from rota.cli.output import print_message, write_log
from rota.cli.settings import load_settings
from rota.processes.scheduler import run_scheduler


def scheduler(*, data: Path | None = None, config: Path | None = None) -> int:
    """Run a scheduler: it creates runs of due jobs. Several schedulers share the jobs.

    Parameters
    ----------
    data
        Folder of the embedded database, used without ROTA_DATABASE_URL. Default: .rota in the
        current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    settings = load_settings(data=data, config=config)
    return asyncio.run(run_scheduler(settings, ready=print_message, write=write_log))
