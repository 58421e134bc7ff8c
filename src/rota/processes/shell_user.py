"""Checks the user of shell commands before a worker starts.

A command that runs as root can read everything on the machine, including the keys of Rota. So a
worker that runs as root must set `executors.shell_user`; `"root"` is allowed, but only explicitly.
"""

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rota.config.settings import Settings
from rota.core.errors import InvalidSetting
from rota.processes.key_files import find_master_file

ROOT_UID: Final = 0
SETTING: Final = "executors.shell_user"
# Files in the data folder that open the API or its database.
KEY_FILES: Final = ("admin.key", "master.key", "password")


def check_shell_user(settings: Settings, *, uid: int | None = None) -> None:
    """Reject settings with which commands would run as root by accident, or could not run.

    `uid` is the user of the worker. Default: the user of this process.
    """
    worker = os.geteuid() if uid is None else uid
    user = settings.executors.shell_user
    if not settings.executors.shell_allow:
        return
    if user is None:
        if worker == ROOT_UID:
            wanted = (
                'required because this worker runs as root: set shell_user = "nobody" or another '
                'unprivileged user, or start the worker as one; shell_user = "root" gives every '
                "shell job all rights on this machine"
            )
            raise InvalidSetting(SETTING, user, wanted)
        return
    if worker != ROOT_UID and find_account(user).pw_uid != worker:
        wanted = (
            f"only a worker that runs as root can run commands as another user, and this one runs "
            f"as user {worker}; remove shell_user, or start the worker as root"
        )
        raise InvalidSetting(SETTING, user, wanted)


def find_exposed_keys(settings: Settings, *, uid: int | None = None) -> Iterator[str]:
    """Yield a warning for each key file that shell jobs can read."""
    if not settings.executors.shell_allow:
        return
    user = settings.executors.shell_user
    worker = os.geteuid() if uid is None else uid
    account = pwd.getpwuid(worker) if user is None else find_account(user)
    files = {settings.database.data / name: None for name in KEY_FILES}
    if (master := find_master_file(settings)) is not None:
        files[master] = None
    for file in files:
        if can_read(file.absolute(), account):
            yield (
                f"warning: shell jobs run as {account.pw_name!r}, which can read {file}; run the "
                "worker as root with an unprivileged executors.shell_user, or restrict access to "
                "the file"
            )


def find_account(user: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(user)
    except KeyError:
        raise InvalidSetting(SETTING, user, "no such user on this machine") from None


def can_read(file: Path, account: pwd.struct_passwd) -> bool:
    """Return whether file modes let this user read the file, including all parent folders.

    Shell commands have no supplementary groups. Access control lists are ignored.
    """
    try:
        permits = [_permits(folder, account, stat.S_IXOTH) for folder in file.parents]
        return _permits(file, account, stat.S_IROTH) and all(permits)
    except OSError:
        return False


def _permits(path: Path, account: pwd.struct_passwd, right: int) -> bool:
    """`right` is the bit for others; that of the group is 3 bits higher, that of the owner 6."""
    if account.pw_uid == ROOT_UID:
        return path.exists()
    found = path.stat()
    if found.st_uid == account.pw_uid:
        return bool(found.st_mode & (right << 6))
    if found.st_gid == account.pw_gid:
        return bool(found.st_mode & (right << 3))
    return bool(found.st_mode & right)
