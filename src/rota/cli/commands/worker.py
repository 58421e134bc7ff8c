"""`rota worker`: claim runs and carry them out, until told to stop. Room: cli."""

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rota.cli.output import say, write_log
from rota.cli.settings import settings_for
from rota.node.worker import run_worker


def worker(
    app: str | None = None,
    *,
    queue: Annotated[list[str] | None, Parameter(negative=())] = None,
    slots: int | None = None,
    data: Path | None = None,
    config: Path | None = None,
) -> int:
    """Run a worker: it claims runs of its queues, of the kinds that it can carry out.

    Parameters
    ----------
    app
        Handlers to serve, as module:attribute; without it only the built-in kinds.
    queue
        Queue to serve; repeat it for several (default: `default`).
    slots
        Runs to carry out at the same time (default: 16).
    data
        Folder of the embedded database, unless ROTA_DATABASE_URL names a server.
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    """
    flags = {"worker": {"queues": queue or None, "slots": slots}}
    settings = settings_for(data=data, config=config, flags=flags)
    return asyncio.run(run_worker(settings, app=app, ready=say, write=write_log))
