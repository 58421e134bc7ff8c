"""The `rota` program: parses the arguments and runs a command."""

import sys
from difflib import get_close_matches
from importlib.metadata import version
from typing import Final, NamedTuple

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError

from rota.cli.global_options import move_behind_command
from rota.cli.output import INTERRUPTED, misused, pipe_closed, refuse
from rota.cli.terminal import escape_standard_streams, escaped_output
from rota.core.errors import RotaError

SERVERS: Final = Group("Start Rota", sort_key=1)
DAILY: Final = Group("Jobs and runs", sort_key=2)
LOOKING: Final = Group("Observe", sort_key=3)
OPERATING: Final = Group("Operate", sort_key=4)
OPTIONS: Final = Group("Options", sort_key=5)

HELP: Final = """\
Distributed cron, job queue and job graphs in one service, on PostgreSQL.

Address of the API: --url, then ROTA_URL, then the address that `rota up` wrote to .rota in this
folder or a parent, then http://127.0.0.1:7070. API key: --key-file, then ROTA_API_KEY, then
.rota/admin.key in this folder or a parent. --url, --key-file, --timeout, --json and --quiet work
before and after the command.
"""
EXIT_CODES: Final = """\
Exit codes: 0 success, 1 failure, 64 usage, 66 not found, 69 server unreachable, 77 permission
denied, 78 configuration, 130 interrupted.
"""


class Command(NamedTuple):
    name: str
    place: str
    group: Group
    help: str


COMMANDS: Final = (
    Command("up", "up:up", SERVERS, "Start Rota on this machine."),
    Command("api", "api:api", SERVERS, "Serve the HTTP API."),
    Command(
        "scheduler",
        "scheduler:scheduler",
        SERVERS,
        "Run a scheduler: start jobs when they are due.",
    ),
    Command("worker", "worker:worker", SERVERS, "Run a worker: claim and execute runs."),
    Command("init", "init:init", SERVERS, "Create a small project that is ready to run."),
    Command("jobs", "jobs_at_work:app", DAILY, "Jobs: create, show, edit, run, pause."),
    Command("tasks", "tasks:app", DAILY, "Tasks: list, show."),
    Command("runs", "watch:app", DAILY, "Runs: show, watch, cancel, retry."),
    Command("graph", "graphs:app", DAILY, "Graphs: draw, check, retry, pause."),
    Command("dead", "dead:app", DAILY, "Dead letters: group, requeue, edit, drop."),
    Command("backfill", "backfills:backfill", DAILY, "Create runs for past times of a schedule."),
    Command("backfills", "backfills:app", DAILY, "Backfills: show, watch, pause, cancel."),
    Command("events", "events:app", DAILY, "External events: send, list, show, replay."),
    Command("hooks", "hooks:app", DAILY, "Webhook endpoints: create, list, rotate, delete."),
    Command("calendars", "calendars:app", DAILY, "Calendars: list, show, put, delete."),
    Command("secrets", "secrets:app", DAILY, "Secrets: put, list, delete."),
    Command("next", "next_times:next_times", DAILY, "Explain a schedule and show its next times."),
    Command(
        "simulate", "simulate:simulate", DAILY, "Simulate a schedule over months, with outages."
    ),
    Command("plan", "jobs_as_code:plan", DAILY, "Show what applying a manifest would change."),
    Command("apply", "jobs_as_code:apply", DAILY, "Create and update the jobs of a manifest."),
    Command("diff", "jobs_as_code:diff", DAILY, "Compare a manifest with the server."),
    Command("drift", "jobs_as_code:drift", DAILY, "Show jobs that were changed by hand."),
    Command("export", "jobs_as_code:export", DAILY, "Write a manifest from existing jobs."),
    Command("import", "importing:app", DAILY, "Import jobs from cron, Kubernetes and others."),
    Command("exec", "exec:exec_", DAILY, "Run a command and record it as a run."),
    Command("open", "dashboard:open_dashboard", LOOKING, "Log in to the dashboard."),
    Command("load", "dashboard:load", LOOKING, "Show the number of upcoming ticks over time."),
    Command("why", "observing:why", LOOKING, "Explain why a run waits, or how it ended."),
    Command("top", "top:top", LOOKING, "Show a live overview of the cluster."),
    Command(
        "status", "status:status", LOOKING, "Show processes, queues, jobs and recent outcomes."
    ),
    Command("stats", "observing:stats", LOOKING, "Show statistics: outcomes, waits, durations."),
    Command("feed", "feed:feed", LOOKING, "Stream events of runs and jobs."),
    Command("audit", "observing:audit", LOOKING, "Show the audit log."),
    Command("metrics", "observing:metrics", LOOKING, "Print metrics for Prometheus."),
    Command("doctor", "doctor:doctor", OPERATING, "Find problems and suggest fixes."),
    Command("queues", "queues:app", OPERATING, "Queues: list, create, pause, limit."),
    Command("sources", "sources:app", OPERATING, "Event sources: position, lag, errors."),
    Command("workers", "cluster:workers", OPERATING, "List the workers."),
    Command("drain", "cluster:drain", OPERATING, "Drain workers: finish current runs, then stop."),
    Command("kinds", "cluster:kinds", OPERATING, "List the kinds of jobs and their payloads."),
    Command("schedulers", "cluster:schedulers", OPERATING, "List the schedulers."),
    Command("shards", "cluster:shards", OPERATING, "List the shards and their schedulers."),
    Command("keys", "keys:app", OPERATING, "API keys: list, create, revoke, renew."),
    Command("setup-link", "setup_link:setup_link", OPERATING, "Print a one-time admin login link."),
    Command("users", "users:app", OPERATING, "Users: list, show, revoke keys."),
    Command("tenants", "tenants:app", OPERATING, "Tenants: create, edit, pause, create keys."),
    Command("whoami", "observing:whoami", OPERATING, "Show the current key, tenant and role."),
    Command("migrate", "migrate:migrate", OPERATING, "Migrate the database schema."),
    Command("bench", "bench:bench", OPERATING, "Measure Rota on this machine."),
    Command("completion", "completion:app", OPERATING, "Shell completion."),
)


def build() -> App:
    """Build the program. Commands are imported when they run, so that `--help` stays fast."""
    program = App(
        name="rota",
        help=HELP,
        help_epilogue=EXIT_CODES,
        version=lambda: f"rota {version('rota')}",
        # `_run` prints usage errors in one line, like every other error.
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
        # The help texts end with "Default: …".
        default_parameter=Parameter(show_default=False),
    )
    for command in COMMANDS:
        program.command(
            f"rota.cli.commands.{command.place}",
            name=command.name,
            group=command.group,
            help=command.help,
        )
    program.command("rota.cli.commands.calendars:alias", name="calendar", show=False)
    for flag in ("--help", "--version"):
        program[flag].group = (OPTIONS,)
    return program


app = build()


def main() -> None:
    escape_standard_streams()
    sys.exit(run())


def run() -> int:
    """Run a command; an error becomes one line and an exit code."""
    with escaped_output():
        return _run()


def _run() -> int:
    try:
        code = app(move_behind_command(sys.argv[1:], app))
        sys.stdout.flush()
    except CycloptsError as error:
        return misused(mistake(error), " ".join(("rota", *(error.command_chain or ()))))
    except RotaError as error:
        return refuse(error)
    except BrokenPipeError:
        return pipe_closed()
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def mistake(error: CycloptsError) -> str:
    """Return the error message. Unknown commands are handled here: cyclopts would import every
    command to find a similar one.
    """
    if not isinstance(error, UnknownCommandError) or error.command_chain or not error.unused_tokens:
        return str(error)
    typed = error.unused_tokens[0]
    close = get_close_matches(typed, [command.name for command in COMMANDS], n=1)
    return f'Unknown command "{typed}".' + (f' Did you mean "{close[0]}"?' if close else "")
