"""The program `rota`: reads the arguments and hands over to a command. Room: cli."""

import sys
from difflib import get_close_matches
from importlib.metadata import version
from typing import Final, NamedTuple

from cyclopts import App, CycloptsError, Group, UnknownCommandError

from rota.cli.global_options import move_behind_command
from rota.cli.output import INTERRUPTED, misused, pipe_closed, refuse
from rota.cli.terminal import escape_standard_streams, escaped_output
from rota.core.errors import RotaError

SERVERS: Final = Group("Run it", sort_key=1)
DAILY: Final = Group("Work with it", sort_key=2)
LOOKING: Final = Group("Look at it", sort_key=3)
OPERATING: Final = Group("Operate it", sort_key=4)
OPTIONS: Final = Group("Options", sort_key=5)

HELP: Final = """\
Distributed cron, job queue and job graphs in one service, on PostgreSQL.

Commands that talk to the API find it by --url, else ROTA_URL, else the address that `rota up` wrote
into .rota of this folder or a parent, else http://127.0.0.1:7070; and the key by --key-file, else
ROTA_API_KEY, else .rota/admin.key there. --url, --key-file, --timeout, --json and --quiet may stand
before or after the command.
"""
EXIT_CODES: Final = """\
Exit codes: 0 well, 1 the thing failed, 64 wrong arguments, 66 not found, 69 the server is away,
77 not allowed, 78 the installation cannot be used as it is, 130 Ctrl-C.
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
        "Run a scheduler: fire jobs when they are due.",
    ),
    Command("worker", "worker:worker", SERVERS, "Run a worker: claim runs and carry them out."),
    Command("init", "init:init", SERVERS, "Make a small project that runs at once."),
    Command("jobs", "jobs_at_work:app", DAILY, "Jobs: make, look at, change, run, pause."),
    Command("tasks", "tasks:app", DAILY, "Tasks: list, show."),
    Command("runs", "watch:app", DAILY, "Runs: look at, follow, cancel, retry."),
    Command("graph", "graphs:app", DAILY, "Graphs: draw, check, retry, pause."),
    Command("dead", "dead:app", DAILY, "Dead letters: look at, let go again, drop."),
    Command("backfill", "backfills:backfill", DAILY, "Make runs for a stretch of the past."),
    Command("backfills", "backfills:app", DAILY, "Backfills: look at, watch, pause, cancel."),
    Command("events", "events:app", DAILY, "Events from outside: send, list, look at, replay."),
    Command("hooks", "hooks:app", DAILY, "Hooks for signed events: make, list, rotate, delete."),
    Command("calendars", "calendars:app", DAILY, "Calendars: list, show, write, delete."),
    Command("secrets", "secrets:app", DAILY, "Secrets: write, list, delete."),
    Command("next", "next_times:next_times", DAILY, "Show what a schedule means, and when."),
    Command("simulate", "simulate:simulate", DAILY, "Play a schedule over months, with outages."),
    Command("plan", "jobs_as_code:plan", DAILY, "Show what a file of jobs would change."),
    Command("apply", "jobs_as_code:apply", DAILY, "Make the jobs what a file says."),
    Command("diff", "jobs_as_code:diff", DAILY, "Show where a file and the jobs differ."),
    Command("drift", "jobs_as_code:drift", DAILY, "Show what was changed beside the file."),
    Command("export", "jobs_as_code:export", DAILY, "Write a file from the jobs that are there."),
    Command("import", "importing:app", DAILY, "Read the jobs of cron, Kubernetes and others."),
    Command("exec", "exec:exec_", DAILY, "Run a command and record it as a run."),
    Command("open", "dashboard:open_dashboard", LOOKING, "Log in at the dashboard."),
    Command("load", "dashboard:load", LOOKING, "Show how much fires when."),
    Command("why", "observing:why", LOOKING, "Say why a run waits, or what became of it."),
    Command("top", "top:top", LOOKING, "Show the cluster on a live screen."),
    Command(
        "status", "status:status", LOOKING, "Show what runs, what waits and what ended lately."
    ),
    Command("stats", "observing:stats", LOOKING, "Show figures: outcomes, waits, durations."),
    Command("feed", "feed:feed", LOOKING, "Print what happens, as it happens."),
    Command("audit", "observing:audit", LOOKING, "List who changed what."),
    Command("metrics", "observing:metrics", LOOKING, "Print the figures for Prometheus."),
    Command("doctor", "doctor:doctor", OPERATING, "Say what is wrong here, and what to do."),
    Command("queues", "queues:app", OPERATING, "Queues: look at, pause, limit."),
    Command("sources", "sources:app", OPERATING, "Sources of events: how far they were read."),
    Command("workers", "cluster:workers", OPERATING, "List the workers."),
    Command("drain", "cluster:drain", OPERATING, "Let workers take no more runs."),
    Command("kinds", "cluster:kinds", OPERATING, "List the kinds of jobs and their payloads."),
    Command("schedulers", "cluster:schedulers", OPERATING, "List the schedulers."),
    Command("shards", "cluster:shards", OPERATING, "List the shards and who fires them."),
    Command("keys", "keys:app", OPERATING, "API keys: list, make, revoke."),
    Command("setup-link", "setup_link:setup_link", OPERATING, "Log in as an admin, once."),
    Command("users", "users:app", OPERATING, "Users: list, show, revoke all keys of one."),
    Command("tenants", "tenants:app", OPERATING, "Tenants: make, change, pause, give keys to."),
    Command("whoami", "observing:whoami", OPERATING, "Say whose key this is."),
    Command("migrate", "migrate:migrate", OPERATING, "Bring the database's schema up to date."),
    Command("bench", "bench:bench", OPERATING, "Measure Rota on this machine."),
    Command("completion", "completion:app", OPERATING, "Completion by the Tab key."),
)


def build() -> App:
    """The program with all commands, none of which is imported yet: `--help` stays quick."""
    program = App(
        name="rota",
        help=HELP,
        help_epilogue=EXIT_CODES,
        version=lambda: f"rota {version('rota')}",
        # Mistakes are told here, in one line, as everything else that goes wrong.
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
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
    """Run a command; what it refuses becomes one line and an exit code."""
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
    """What is wrong. Of a command that there is not, ours: theirs imports all that there are."""
    if not isinstance(error, UnknownCommandError) or error.command_chain or not error.unused_tokens:
        return str(error)
    typed = error.unused_tokens[0]
    close = get_close_matches(typed, [command.name for command in COMMANDS], n=1)
    return f'Unknown command "{typed}".' + (f' Did you mean "{close[0]}"?' if close else "")
