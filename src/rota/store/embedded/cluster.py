"""Creates a cluster and checks an existing one.

A cluster is created in a temporary folder and renamed to data/ when it is complete and on disk: a
crash at any point leaves either no cluster or a complete one. Runs only in the server monitor,
which holds the lock that excludes other monitors, and only while no server runs.
"""

import contextlib
import locale
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rota.core.errors import EmbeddedFailed
from rota.store.embedded import diagnosis, owner
from rota.store.embedded.account import Account
from rota.store.embedded.home import (
    EmbeddedHome,
    refuse_foreign_owner,
    sync_folder,
    write_privately,
)
from rota.store.embedded.machine import syncs_at_once
from rota.store.embedded.owner import DATABASE, LOGIN_MARKER_FILE, ROLE, SUPERUSER
from rota.store.embedded.programs import NO_CONFIG_OPTIONS, PostgresInstall, run_program

# How the single-user mode prints a name.
SHOWN_DATABASE = re.compile(r'datname = "([^"]+)"')
# Where Linux lists the open files of a process.
OPEN_FILES = Path("/proc/self/fd")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTools:
    """The programs, the user that they run as, and whether their writes must survive a crash."""

    install: PostgresInstall
    account: Account
    durable: bool


def read_major(data: Path) -> int | None:
    """Return the major version that created a cluster; None if there is no cluster."""
    if not data.exists() or not any(data.iterdir()):
        return None
    try:
        return int((data / "PG_VERSION").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError) as error:
        raise EmbeddedFailed(
            reason=f"{data} is not empty and does not contain a PostgreSQL cluster",
            remedy="move it away, or choose another home",
        ) from error


def check_cluster(home: EmbeddedHome, tools: ClusterTools) -> None:
    """Refuse a cluster that this start must not touch; repair file ownership."""
    if home.not_durable.exists() == tools.durable:
        raise durability_mismatch(home, requested=tools.durable)
    if not (home.data / "global" / "pg_control").exists():
        raise EmbeddedFailed(
            reason=f"{home.data} is incomplete: global/pg_control is missing",
            remedy="restore a backup",
        )
    if not tools.account.drops_root:
        refuse_foreign_owner(home.data)
    elif home.data.stat().st_uid == 0:
        tools.account.own_all(home.data)  # restored by root, from a backup


def durability_mismatch(home: EmbeddedHome, *, requested: bool) -> EmbeddedFailed:
    """Build the error: durability is fixed at creation, so that tests cannot risk real data."""
    created, wanted = ("without", "with") if requested else ("with", "without")
    return EmbeddedFailed(
        reason=f"{home.path} was created {created} durability; it cannot start {wanted} it",
        remedy="choose another home; durable=False is for temporary homes of tests",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderAccess:
    """The path by which a program reaches a folder, and the descriptors it must inherit."""

    name: str
    pass_fds: tuple[int, ...] = ()


@contextlib.contextmanager
def open_folder_access(folder: Path, account: Account) -> Iterator[FolderAccess]:
    """Give the server's user access to its folder, even if the parent folder is private.

    Root opens the folder and passes the descriptor on, which opens nothing to other users.
    """
    if account.can_reach(folder):
        yield FolderAccess(name=str(folder))
        return
    if not OPEN_FILES.exists():
        raise EmbeddedFailed(
            reason=f"the user that the server runs as cannot reach {folder}",
            remedy="choose a home outside private folders, or start Rota as a user other than root",
        )
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield FolderAccess(name=str(OPEN_FILES / str(descriptor)), pass_fds=(descriptor,))
    finally:
        os.close(descriptor)


def create_cluster(home: EmbeddedHome, tools: ClusterTools) -> None:
    """Create the cluster."""
    draft = Path(tempfile.mkdtemp(prefix="init-", dir=home.path))
    try:
        tools.account.own(draft)
        password = secrets.token_urlsafe(32)
        run_initdb(draft, tools, password=password)
        if tools.durable:
            run_single_user(draft, tools, *owner.new_cluster_statements(password))
            mark_login_replaced(draft, tools)
        else:
            run_single_user(draft, tools, f"alter database postgres rename to {DATABASE}")
        write_privately(home.password, password)
        home.not_durable.unlink(missing_ok=True)
        if not tools.durable:
            write_privately(home.not_durable, "for tests: a crash may lose or damage data\n")
        with contextlib.suppress(FileNotFoundError):
            home.data.rmdir()  # an empty folder, created by hand
        draft.rename(home.data)
        sync_folder(home.path)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def remove_leftovers(home: EmbeddedHome) -> None:
    """Remove what a crash left of earlier attempts."""
    for leftover in home.path.glob("init-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def run_initdb(folder: Path, tools: ClusterTools, *, password: str) -> None:
    account = tools.account
    with open_folder_access(folder, account) as way, secret_pipe(password, account) as secret:
        done = run_program(
            [
                *(tools.install.program("initdb"), "-D", way.name),
                *("-U", SUPERUSER if tools.durable else ROLE),
                *(f"--pwfile=/dev/fd/{secret}", "--auth=scram-sha-256", "--encoding=UTF8"),
                *("--data-checksums", "--no-instructions"),
                *locale_options(tools.install.major),
                *sync_options(tools),
            ],
            account=account,
            pass_fds=(secret, *way.pass_fds),
        )
    if done.returncode:
        output = done.stdout + done.stderr
        raise diagnosis.diagnose_output(output, doing="creating the cluster", home=folder.parent)


@contextlib.contextmanager
def secret_pipe(text: str, account: Account) -> Iterator[int]:
    """Pass on a secret that never touches a disk or a command line."""
    read_end, write_end = os.pipe()
    try:
        with os.fdopen(write_end, "w", encoding="ascii") as pipe:
            pipe.write(text)
        if account.drops_root:
            os.fchown(read_end, account.uid, account.gid)  # /dev/fd/N is opened again, by name
        yield read_end
    finally:
        os.close(read_end)


def sync_options(tools: ClusterTools) -> tuple[str, ...]:
    if not tools.durable:
        return ("--no-sync",)
    return ("--sync-method=syncfs",) if tools.install.major >= 17 and syncs_at_once() else ()


def locale_options(major: int) -> tuple[str, ...]:
    """Choose a sort order of text that no update of the system's C library ever changes."""
    if major >= 17:
        return ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    return ("--locale=C", f"--lc-ctype={choose_ctype()}")


def choose_ctype() -> str:
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    return "C.UTF-8"


def run_single_user(
    folder: Path, tools: ClusterTools, *statements: str, database: str = "template1"
) -> str:
    """Run statements without a server: no client can connect, no password is needed.

    One line each. Returns the output.
    """
    with open_folder_access(folder, tools.account) as way:
        done = run_program(
            [
                *(
                    tools.install.program("postgres"),
                    "--single",
                    "-D",
                    way.name,
                    *NO_CONFIG_OPTIONS,
                ),
                *("-c", "exit_on_error=on", "-c", f"fsync={'on' if tools.durable else 'off'}"),
                database,
            ],
            account=tools.account,
            stdin="".join(f"{statement};\n" for statement in statements),
            pass_fds=way.pass_fds,
        )
    if done.returncode:
        raise diagnosis.diagnose_output(
            done.stderr, doing="preparing the cluster", home=folder.parent
        )
    return done.stdout


def renew_password(home: EmbeddedHome, tools: ClusterTools) -> None:
    """Set a new password when the file with the old one is lost."""
    password = secrets.token_urlsafe(32)
    run_single_user(home.data, tools, f"alter role {ROLE} password '{password}'")
    write_privately(home.password, password)


def has_old_login(home: EmbeddedHome, tools: ClusterTools) -> bool:
    """Return whether an earlier release created the cluster, so that its login is the superuser."""
    # A standby follows its primary and has no single-user mode.
    is_standby = (home.data / "standby.signal").exists()
    return tools.durable and not is_standby and not (home.data / LOGIN_MARKER_FILE).exists()


def replace_login(home: EmbeddedHome, tools: ClusterTools) -> None:
    """Make the cluster's login an ordinary role; keep its name, password and data."""
    password = home.password.read_text(encoding="ascii")
    shown = run_single_user(home.data, tools, owner.read_block("show_superuser"))
    # Each step is repeatable, so a crash between them does no harm.
    if SUPERUSER not in shown:
        run_single_user(home.data, tools, owner.read_block("rename_superuser"))
    run_single_user(home.data, tools, owner.read_block("make_login", password=password))
    shown = run_single_user(home.data, tools, owner.read_block("show_databases"))
    for database in SHOWN_DATABASE.findall(shown):
        run_single_user(home.data, tools, owner.read_block("hand_over"), database=database)
    mark_login_replaced(home.data, tools)


def mark_login_replaced(data: Path, tools: ClusterTools) -> None:
    """Record that the login is not a superuser, for the next start."""
    marker = data / LOGIN_MARKER_FILE
    write_privately(marker, "the superuser of this cluster cannot log in\n")
    tools.account.own(marker)
