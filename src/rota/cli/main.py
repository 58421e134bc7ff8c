"""The program `rota`: reads the arguments and hands over to a command. Room: cli."""

import sys
from importlib.metadata import version

from cyclopts import App

from rota.cli.output import refuse
from rota.core.errors import RotaError

app = App(
    name="rota",
    help="Distributed cron, job queue and job graphs in one service, on PostgreSQL.",
    version=lambda: f"rota {version('rota')}",
)
# By name: a command is imported when it is called, so that `rota --help` stays quick.
app.command("rota.cli.commands.up:up", name="up", help="Start Rota on this machine.")
app.command(
    "rota.cli.commands.migrate:migrate",
    name="migrate",
    help="Bring the database's schema up to date.",
)
app.command(
    "rota.cli.commands.bench:bench",
    name="bench",
    help="Measure Rota on this machine.",
)
app.command(
    "rota.cli.commands.api:api",
    name="api",
    help="Serve the HTTP API.",
)
app.command(
    "rota.cli.commands.scheduler:scheduler",
    name="scheduler",
    help="Run a scheduler: fire jobs when they are due.",
)
app.command(
    "rota.cli.commands.worker:worker",
    name="worker",
    help="Run a worker: claim runs and carry them out.",
)
app.command(
    "rota.cli.commands.status:status",
    name="status",
    help="Show what runs, what waits and what ended lately.",
)


def main() -> None:
    """Run a command; what it refuses becomes one line and an exit code."""
    try:
        sys.exit(app())
    except RotaError as error:
        sys.exit(refuse(error))
    except KeyboardInterrupt:
        sys.exit(130)
