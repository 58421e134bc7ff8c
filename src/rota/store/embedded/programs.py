"""Runs a set of PostgreSQL programs.

Every program runs as the server's user, in English, and with almost nothing of this process's
environment. binaries.py finds the programs.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rota.store.embedded import diagnosis
from rota.store.embedded.account import Account

VERSION_PATTERN = re.compile(r"\(PostgreSQL\) ((\d+)\S*)")
INHERITED_VARIABLES = ("PATH", "LD_LIBRARY_PATH")
# A working folder that every user can return to by name, as PostgreSQL 15 requires.
WORKING_FOLDER = "/"
# For runs without a server: an invalid custom setting must not get in the way.
NO_CONFIG_OPTIONS = ("-c", "config_file=/dev/null")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresInstall:
    """A folder of programs that have been run successfully, and their version."""

    folder: Path
    version: str
    major: int

    def program(self, name: str) -> str:
        return str(self.folder / name)


def is_complete(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("postgres", "initdb"))


def probe_install(folder: Path, account: Account) -> PostgresInstall:
    """Run the server once to check that it runs as this user, and to learn its version.

    PermissionError passes through: it means that this user cannot reach the program, not that the
    program is broken.
    """
    program = folder / "postgres"
    try:
        done = run_program([str(program), "--version"], account=account)
    except PermissionError:
        raise
    except OSError as error:
        raise diagnosis.diagnose_program(error, program) from error
    match = VERSION_PATTERN.search(done.stdout)
    if done.returncode or match is None:
        output = done.stderr or done.stdout
        raise diagnosis.diagnose_output(output, doing=f"running {program}", home=folder)
    return PostgresInstall(folder=folder, version=match[1], major=int(match[2]))


def run_program(
    command: Sequence[str],
    *,
    account: Account,
    stdin: str = "",
    pass_fds: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Run one of the programs until it ends."""
    return subprocess.run(
        command,
        cwd=WORKING_FOLDER,
        env=program_environment(),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        umask=0o077,
        check=False,
        pass_fds=pass_fds,
        user=account.user,
        group=account.group,
        extra_groups=account.extra_groups,
    )


def program_environment() -> dict[str, str]:
    """Return an environment without PG… variables and without the caller's secrets."""
    own = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    return own | {"LC_ALL": "C", "TZ": "UTC"}
