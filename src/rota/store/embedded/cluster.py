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
from rota.store.embedded.home import Home, refuse_foreign, sync_folder, write_privately
from rota.store.embedded.machine import syncs_at_once
from rota.store.embedded.owner import DATABASE, MARKER, ROLE, SUPERUSER
from rota.store.embedded.programs import BLANK, Install, run

# How the single-user mode prints a name.
SHOWN_DATABASE = re.compile(r'datname = "([^"]+)"')
# Where Linux lists the open files of a process.
OPEN_FILES = Path("/proc/self/fd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The programs, the user that they run as, and whether their writes must survive a crash."""

    install: Install
    account: Account
    durable: bool


def major_of(data: Path) -> int | None:
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


def check(home: Home, tools: Tools) -> None:
    """Refuse a cluster that this start must not touch; repair file ownership."""
    if home.not_durable.exists() == tools.durable:
        raise wrong_mode(home, asked=tools.durable)
    if not (home.data / "global" / "pg_control").exists():
        raise EmbeddedFailed(
            reason=f"{home.data} is incomplete: global/pg_control is missing",
            remedy="restore a backup",
        )
    if not tools.account.drops:
        refuse_foreign(home.data)
    elif home.data.stat().st_uid == 0:
        tools.account.own_all(home.data)  # restored by root, from a backup


def wrong_mode(home: Home, *, asked: bool) -> EmbeddedFailed:
    """Build the error: durability is fixed at creation, so that tests cannot risk real data."""
    created, requested = ("without", "with") if asked else ("with", "without")
    return EmbeddedFailed(
        reason=f"{home.path} was created {created} durability; it cannot start {requested} it",
        remedy="choose another home; durable=False is for temporary homes of tests",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """The path by which a program reaches a folder, and the descriptors it must inherit."""

    name: str
    pass_fds: tuple[int, ...] = ()


@contextlib.contextmanager
def entrance(folder: Path, account: Account) -> Iterator[Entrance]:
    """Give the server's user access to its folder, even if the parent folder is private.

    Root opens the folder and passes the descriptor on, which opens nothing to other users.
    """
    if account.can_reach(folder):
        yield Entrance(name=str(folder))
        return
    if not OPEN_FILES.exists():
        raise EmbeddedFailed(
            reason=f"the user that the server runs as cannot reach {folder}",
            remedy="choose a home outside private folders, or start Rota as a user other than root",
        )
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield Entrance(name=str(OPEN_FILES / str(descriptor)), pass_fds=(descriptor,))
    finally:
        os.close(descriptor)


def make(home: Home, tools: Tools) -> None:
    """Create the cluster."""
    draft = Path(tempfile.mkdtemp(prefix="init-", dir=home.path))
    try:
        tools.account.own(draft)
        password = secrets.token_urlsafe(32)
        initdb(draft, tools, password=password)
        if tools.durable:
            alone(draft, tools, *owner.statements_of_new(password))
            mark(draft, tools)
        else:
            alone(draft, tools, f"alter database postgres rename to {DATABASE}")
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


def sweep(home: Home) -> None:
    """Remove what a crash left of earlier attempts."""
    for leftover in home.path.glob("init-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def initdb(folder: Path, tools: Tools, *, password: str) -> None:
    account = tools.account
    with entrance(folder, account) as way, secret_pipe(password, account) as secret:
        done = run(
            [
                *(tools.install.program("initdb"), "-D", way.name),
                *("-U", SUPERUSER if tools.durable else ROLE),
                *(f"--pwfile=/dev/fd/{secret}", "--auth=scram-sha-256", "--encoding=UTF8"),
                *("--data-checksums", "--no-instructions"),
                *locale_words(tools.install.major),
                *sync_words(tools),
            ],
            account=account,
            pass_fds=(secret, *way.pass_fds),
        )
    if done.returncode:
        output = done.stdout + done.stderr
        raise diagnosis.of_output(output, doing="creating the cluster", home=folder.parent)


@contextlib.contextmanager
def secret_pipe(text: str, account: Account) -> Iterator[int]:
    """Pass on a secret that never touches a disk or a command line."""
    read_end, write_end = os.pipe()
    try:
        with os.fdopen(write_end, "w", encoding="ascii") as pipe:
            pipe.write(text)
        if account.drops:
            os.fchown(read_end, account.uid, account.gid)  # /dev/fd/N is opened again, by name
        yield read_end
    finally:
        os.close(read_end)


def sync_words(tools: Tools) -> tuple[str, ...]:
    if not tools.durable:
        return ("--no-sync",)
    return ("--sync-method=syncfs",) if tools.install.major >= 17 and syncs_at_once() else ()


def locale_words(major: int) -> tuple[str, ...]:
    """Choose a sort order of text that no update of the system's C library ever changes."""
    if major >= 17:
        return ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    return ("--locale=C", f"--lc-ctype={utf8_or_plain()}")


def utf8_or_plain() -> str:
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    return "C.UTF-8"


def alone(folder: Path, tools: Tools, *statements: str, database: str = "template1") -> str:
    """Run statements without a server: no client can connect, no password is needed.

    One line each. Returns the output.
    """
    with entrance(folder, tools.account) as way:
        done = run(
            [
                *(tools.install.program("postgres"), "--single", "-D", way.name, *BLANK),
                *("-c", "exit_on_error=on", "-c", f"fsync={'on' if tools.durable else 'off'}"),
                database,
            ],
            account=tools.account,
            said="".join(f"{statement};\n" for statement in statements),
            pass_fds=way.pass_fds,
        )
    if done.returncode:
        raise diagnosis.of_output(done.stderr, doing="preparing the cluster", home=folder.parent)
    return done.stdout


def renew_password(home: Home, tools: Tools) -> None:
    """Set a new password when the file with the old one is lost."""
    password = secrets.token_urlsafe(32)
    alone(home.data, tools, f"alter role {ROLE} password '{password}'")
    write_privately(home.password, password)


def has_old_login(home: Home, tools: Tools) -> bool:
    """Return whether an earlier release created the cluster, so that its login is the superuser."""
    # A standby follows its primary and has no single-user mode.
    is_standby = (home.data / "standby.signal").exists()
    return tools.durable and not is_standby and not (home.data / MARKER).exists()


def replace_login(home: Home, tools: Tools) -> None:
    """Make the cluster's login an ordinary role; keep its name, password and data."""
    password = home.password.read_text(encoding="ascii")
    shown = alone(home.data, tools, owner.read_block("show_superuser"))
    # Each step is repeatable, so a crash between them does no harm.
    if SUPERUSER not in shown:
        alone(home.data, tools, owner.read_block("rename_superuser"))
    alone(home.data, tools, owner.read_block("make_login", password=password))
    shown = alone(home.data, tools, owner.read_block("show_databases"))
    for database in SHOWN_DATABASE.findall(shown):
        alone(home.data, tools, owner.read_block("hand_over"), database=database)
    mark(home.data, tools)


def mark(data: Path, tools: Tools) -> None:
    """Record that the login is not a superuser, for the next start."""
    marker = data / MARKER
    write_privately(marker, "the superuser of this cluster cannot log in\n")
    tools.account.own(marker)
