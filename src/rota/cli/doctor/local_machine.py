"""Checks key files, shell users and disk space of this machine."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rota.cli.doctor.findings import DoctorFinding, bad, ok, warning
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting
from rota.processes.shell_user import check_shell_user, find_exposed_keys

PRIVATE_FILES: Final = ("admin.key", "master.key", "password")
GIGABYTE: Final = 2**30
# PostgreSQL stops when its disk is full; this much leaves time to act.
FREE_SPACE_WARNING: Final = 5 * GIGABYTE
FREE_SPACE_MIN: Final = GIGABYTE // 2


def check_files(settings: Settings) -> Iterator[DoctorFinding]:
    folder = settings.database.data
    if folder.is_dir():
        yield from check_private_files(folder)
        if settings.database.url is None:
            yield check_disk(folder)
    yield from check_shell_commands(settings)


def check_shell_commands(settings: Settings) -> Iterator[DoctorFinding]:
    """Check the user of shell commands, and whether it can read the keys."""
    if not settings.executors.shell_allow:
        return
    try:
        check_shell_user(settings)
    except InvalidSetting as error:
        yield bad("shell", str(error), "set executors.shell_user to an unprivileged user")
        return
    for text in find_exposed_keys(settings):
        yield warning("shell", text.removeprefix("warning: "), "")


def check_private_files(folder: Path) -> Iterator[DoctorFinding]:
    """Check that only their owner can read the key files."""
    open_files = [file for name in PRIVATE_FILES if is_readable_by_others(file := folder / name)]
    if not open_files:
        yield ok("keys", f"the key files in {folder} are private")
    for file in open_files:
        yield bad(
            "keys", f"other users can read {file}", f"run `chmod 600 {file}` and replace the keys"
        )


def is_readable_by_others(file: Path) -> bool:
    try:
        return bool(stat.S_IMODE(file.stat().st_mode) & 0o077)
    except OSError:
        return False


def check_disk(folder: Path) -> DoctorFinding:
    free = shutil.disk_usage(folder).free
    detail = f"{free / GIGABYTE:.1f} GB free in {folder}"
    remedy = "free some space, or shorten retention.runs"
    if free < FREE_SPACE_MIN:
        return bad("disk", detail, remedy)
    return warning("disk", detail, remedy) if free < FREE_SPACE_WARNING else ok("disk", detail)
