"""`rota worker`: claims and executes runs until it is stopped."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from rota.cli.output import print_message, write_log
from rota.cli.settings import load_settings
from rota.core.errors import InvalidInput
from rota.executors.python import confinement
from rota.processes.reloader import WorkerReloader
from rota.processes.worker import run_worker


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedWork:
    """Queues and tenants that a worker serves.

    Parameters
    ----------
    queue
        Queue to serve (repeatable). Default: default.
    tenant
        Tenant to serve (repeatable), * for all. Default: default.
    """

    queue: Annotated[list[str] | None, Parameter(name="--queue", negative=())] = None
    tenant: Annotated[list[str] | None, Parameter(name="--tenant", negative=())] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevelopmentOptions:
    """Options for development.

    Parameters
    ----------
    reload
        Restart when the source of the app changes, for development.
    parent
        Process id of the parent that watches the source; the worker exits with it.
    """

    reload: Annotated[bool, Parameter(name="--reload", negative=())] = False
    parent: Annotated[int | None, Parameter(name="--parent", show=False)] = None


DEFAULT_DEVELOPMENT: Final = DevelopmentOptions()
DEFAULT_WORK: Final = ServedWork()


def worker(
    app: str | None = None,
    *,
    served_work: Annotated[ServedWork, Parameter(name="*")] = DEFAULT_WORK,
    slots: int | None = None,
    data: Path | None = None,
    config: Path | None = None,
    development: Annotated[DevelopmentOptions, Parameter(name="*")] = DEFAULT_DEVELOPMENT,
) -> int:
    """Run a worker: it claims and executes runs of its queues, tenants and kinds.

    Parameters
    ----------
    app
        App to serve, as module:attribute of a rota.App; its schedules are registered at the start.
        Default: only the built-in kinds.
    slots
        Maximum number of concurrent runs. Default: 16.
    data
        Folder of the embedded database, used without ROTA_DATABASE_URL. Default: .rota in the
        current folder.
    config
        Settings file. Default: rota.toml in the current folder, then /etc/rota/rota.toml.
    """
    if development.parent is not None:
        confinement.die_with(development.parent)
    flags = {
        "worker": {
            "queues": served_work.queue or None,
            "tenants": served_work.tenant or None,
            "slots": slots,
        }
    }
    settings = load_settings(data=data, config=config, flags=flags)
    if not development.reload:
        return asyncio.run(run_worker(settings, app=app, ready=print_message, write=write_log))
    if app is None:
        raise InvalidInput("--reload", True, "requires an app, as module:attribute")
    words = [f"--queue={each}" for each in served_work.queue or ()]
    words += [f"--tenant={each}" for each in served_work.tenant or ()]
    given = {"slots": slots, "data": data, "config": config, "parent": os.getpid()}
    words += [f"--{name}={value}" for name, value in given.items() if value is not None]
    return WorkerReloader(
        app, [sys.executable, "-m", "rota", "worker", app, *words], say=print_message
    ).run()
