"""The `rota` program: parses the arguments and runs a command."""

import sys
from difflib import get_close_matches
from importlib.metadata import version
from typing import Final, NamedTuple

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError

from rota.cli.global_options import move_behind_command
from rota.cli.output import INTERRUPTED, discard_output, print_error, print_usage_error
from rota.cli.terminal import escape_output, escape_standard_streams
from rota.core.errors import RotaError

START_GROUP: Final = Group("Start Rota", sort_key=1)
JOBS_GROUP: Final = Group("Jobs and runs", sort_key=2)
OBSERVE_GROUP: Final = Group("Observe", sort_key=3)
OPERATE_GROUP: Final = Group("Operate", sort_key=4)
OPTIONS_GROUP: Final = Group("Options", sort_key=5)

HELP: Final = """\
Distributed cron, job queue and job graphs in one service, on PostgreSQL.

Address of the API: --url, then ROTA_URL, then the address that `rota up` wrote to .rota in this
folder or a parent, then http://127.0.0.1:7070. API key: --key-file, then ROTA_API_KEY, then
.rota/admin.key in this folder or a parent. --url, --key-file, --request-timeout, --json and
--quiet work before and after the command.
"""
EXIT_CODES: Final = """\
Exit codes: 0 success, 1 failure, 64 usage, 66 not found, 69 server unreachable, 77 permission
denied, 78 configuration, 130 interrupted.
"""


class CommandEntry(NamedTuple):
    name: str
    target: str
    group: Group
    help: str


COMMANDS: Final = (
    CommandEntry("up", "up:up", START_GROUP, "Start Rota on this machine."),
    CommandEntry("api", "api:api", START_GROUP, "Serve the HTTP API."),
    CommandEntry(
        "scheduler",
        "scheduler:scheduler",
        START_GROUP,
        "Run a scheduler: start jobs when they are due.",
    ),
    CommandEntry("worker", "worker:worker", START_GROUP, "Run a worker: claim and execute runs."),
    CommandEntry("init", "init:init", START_GROUP, "Create a small project that is ready to run."),
    CommandEntry("jobs", "job_activity:app", JOBS_GROUP, "Jobs: create, show, edit, run, pause."),
    CommandEntry("tasks", "tasks:app", JOBS_GROUP, "Tasks: list, show."),
    CommandEntry("runs", "watch:app", JOBS_GROUP, "Runs: show, watch, cancel, retry."),
    CommandEntry("graph", "graphs:app", JOBS_GROUP, "Graphs: draw, check, retry, pause."),
    CommandEntry("dead", "dead:app", JOBS_GROUP, "Dead letters: group, requeue, edit, drop."),
    CommandEntry(
        "backfill", "backfills:backfill", JOBS_GROUP, "Create runs for past times of a schedule."
    ),
    CommandEntry(
        "backfills", "backfills:app", JOBS_GROUP, "Backfills: show, watch, pause, cancel."
    ),
    CommandEntry("events", "events:app", JOBS_GROUP, "External events: send, list, show, replay."),
    CommandEntry(
        "hooks", "hooks:app", JOBS_GROUP, "Hooks for signed events: create, list, rotate, delete."
    ),
    CommandEntry(
        "webhooks",
        "webhooks:app",
        JOBS_GROUP,
        "Webhook subscriptions: create, list, show, test, log, replay.",
    ),
    CommandEntry("ping", "pings:app", JOBS_GROUP, "Ping URLs: create, list, rotate, delete."),
    CommandEntry(
        "alerts", "alerts:app", JOBS_GROUP, "Alerts: list, show, ack, resolve, rules, routes."
    ),
    CommandEntry("silence", "silences:app", JOBS_GROUP, "Silence incidents: create, list, end."),
    CommandEntry("calendars", "calendars:app", JOBS_GROUP, "Calendars: list, show, put, delete."),
    CommandEntry("secrets", "secrets:app", JOBS_GROUP, "Secrets: put, list, delete."),
    CommandEntry(
        "next", "next_times:next_times", JOBS_GROUP, "Explain a schedule and show its next times."
    ),
    CommandEntry(
        "simulate",
        "simulate:simulate",
        JOBS_GROUP,
        "Simulate a schedule over months, with outages.",
    ),
    CommandEntry(
        "plan", "jobs_as_code:plan", JOBS_GROUP, "Show what applying a manifest would change."
    ),
    CommandEntry(
        "apply", "jobs_as_code:apply", JOBS_GROUP, "Create and update the jobs of a manifest."
    ),
    CommandEntry("diff", "jobs_as_code:diff", JOBS_GROUP, "Compare a manifest with the server."),
    CommandEntry("drift", "jobs_as_code:drift", JOBS_GROUP, "Show jobs that were changed by hand."),
    CommandEntry(
        "export", "jobs_as_code:export", JOBS_GROUP, "Write a manifest from existing jobs."
    ),
    CommandEntry(
        "import", "imports:app", JOBS_GROUP, "Import jobs from cron, Kubernetes and others."
    ),
    CommandEntry("exec", "exec:exec_", JOBS_GROUP, "Run a command and record it as a run."),
    CommandEntry("open", "dashboard:open_dashboard", OBSERVE_GROUP, "Log in to the dashboard."),
    CommandEntry(
        "load", "dashboard:load", OBSERVE_GROUP, "Show the number of upcoming ticks over time."
    ),
    CommandEntry("predict", "inspection:predict", OBSERVE_GROUP, "Predict when a job will finish."),
    CommandEntry(
        "why", "inspection:why", OBSERVE_GROUP, "Explain why a run waits, or how it ended."
    ),
    CommandEntry("top", "top:top", OBSERVE_GROUP, "Show a live overview of the cluster."),
    CommandEntry(
        "status",
        "status:status",
        OBSERVE_GROUP,
        "Show processes, queues, jobs and recent outcomes.",
    ),
    CommandEntry(
        "stats", "inspection:stats", OBSERVE_GROUP, "Show statistics: outcomes, waits, durations."
    ),
    CommandEntry("feed", "feed:feed", OBSERVE_GROUP, "Stream events of runs and jobs."),
    CommandEntry("audit", "inspection:audit", OBSERVE_GROUP, "Show the audit log."),
    CommandEntry(
        "metrics", "metrics:app", OBSERVE_GROUP, "Print metrics, Prometheus rules and dashboards."
    ),
    CommandEntry(
        "probe", "probe:probe", OPERATE_GROUP, "Check whether a process here is alive or ready."
    ),
    CommandEntry("doctor", "doctor:doctor", OPERATE_GROUP, "Find problems and suggest fixes."),
    CommandEntry("queues", "queues:app", OPERATE_GROUP, "Queues: list, create, pause, limit."),
    CommandEntry("sources", "sources:app", OPERATE_GROUP, "Event sources: position, lag, errors."),
    CommandEntry("workers", "cluster:workers", OPERATE_GROUP, "List the workers."),
    CommandEntry(
        "drain", "cluster:drain", OPERATE_GROUP, "Drain workers: finish current runs, then stop."
    ),
    CommandEntry(
        "kinds", "cluster:kinds", OPERATE_GROUP, "List the kinds of jobs and their payloads."
    ),
    CommandEntry("schedulers", "cluster:schedulers", OPERATE_GROUP, "List the schedulers."),
    CommandEntry(
        "shards", "cluster:shards", OPERATE_GROUP, "List the shards and their schedulers."
    ),
    CommandEntry("keys", "keys:app", OPERATE_GROUP, "API keys: list, create, revoke, renew."),
    CommandEntry(
        "setup-link", "setup_link:setup_link", OPERATE_GROUP, "Print a one-time admin login link."
    ),
    CommandEntry("users", "users:app", OPERATE_GROUP, "Users: list, show, revoke keys."),
    CommandEntry(
        "tenants", "tenants:app", OPERATE_GROUP, "Tenants: create, edit, pause, create keys."
    ),
    CommandEntry(
        "whoami", "inspection:whoami", OPERATE_GROUP, "Show the current key, tenant and role."
    ),
    CommandEntry("migrate", "migrate:migrate", OPERATE_GROUP, "Migrate the database schema."),
    CommandEntry("bench", "bench:bench", OPERATE_GROUP, "Measure Rota, in a source checkout."),
    CommandEntry("completion", "completion:app", OPERATE_GROUP, "Shell completion."),
)


def build_app() -> App:
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
            f"rota.cli.commands.{command.target}",
            name=command.name,
            group=command.group,
            help=command.help,
        )
    program.command("rota.cli.commands.calendars:alias", name="calendar", show=False)
    for flag in ("--help", "--version"):
        program[flag].group = (OPTIONS_GROUP,)
    return program


app = build_app()


def main() -> None:
    escape_standard_streams()
    sys.exit(run())


def run() -> int:
    """Run a command; an error becomes one line and an exit code."""
    with escape_output():
        return _run()


def _run() -> int:
    try:
        code = app(move_behind_command(sys.argv[1:], app))
        sys.stdout.flush()
    except CycloptsError as error:
        return print_usage_error(
            describe_usage_error(error), " ".join(("rota", *(error.command_chain or ())))
        )
    except RotaError as error:
        return print_error(error)
    except BrokenPipeError:
        return discard_output()
    except KeyboardInterrupt:
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def describe_usage_error(error: CycloptsError) -> str:
    """Return the error message. Unknown commands are handled here: cyclopts would import every
    command to find a similar one.
    """
    if not isinstance(error, UnknownCommandError) or error.command_chain or not error.unused_tokens:
        return str(error)
    typed = error.unused_tokens[0]
    close = get_close_matches(typed, [command.name for command in COMMANDS], n=1)
    return f'Unknown command "{typed}".' + (f' Did you mean "{close[0]}"?' if close else "")
