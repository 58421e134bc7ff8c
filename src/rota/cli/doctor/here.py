"""Settings, files and disk of this machine. Room: cli/doctor."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rota.cli.doctor.findings import Finding, bad, ok, warning
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting
from rota.node.shell_user import check_shell_user, find_exposed_keys

PRIVATE: Final = ("admin.key", "master.key", "password")
GIGABYTE: Final = 2**30
# PostgreSQL stops when its disk is full; with this much left there is time to do something.
LITTLE: Final = 5 * GIGABYTE
TOO_LITTLE: Final = GIGABYTE // 2


def check_files(settings: Settings) -> Iterator[Finding]:
    folder = settings.database.data
    if folder.is_dir():
        yield from check_private(folder)
        if settings.database.url is None:
            yield check_disk(folder)
    yield from check_programs(settings)


def check_programs(settings: Settings) -> Iterator[Finding]:
    """Whom the programs of shell jobs run as, and whether they can read the keys."""
    if not settings.executors.shell_allow:
        return
    try:
        check_shell_user(settings)
    except InvalidSetting as error:
        yield bad("shell", str(error), "name an unprivileged user in executors.shell_user")
        return
    for warned in find_exposed_keys(settings):
        yield warning("shell", warned.removeprefix("warning: "), "")


def check_private(folder: Path) -> Iterator[Finding]:
    """Files that only their owner may read."""
    open_files = [file for name in PRIVATE if is_open(file := folder / name)]
    if not open_files:
        yield ok("keys", f"the keys in {folder} are for their owner only")
    for file in open_files:
        yield bad("keys", f"{file} can be read by others", f"chmod 600 {file}, and make new keys")


def is_open(file: Path) -> bool:
    try:
        return bool(stat.S_IMODE(file.stat().st_mode) & 0o077)
    except OSError:
        return False


def check_disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    said = f"{free / GIGABYTE:.1f} GB are free in {folder}"
    remedy = "free some space; shorter retention.runs keeps less history"
    if free < TOO_LITTLE:
        return bad("disk", said, remedy)
    return warning("disk", said, remedy) if free < LITTLE else ok("disk", said)
