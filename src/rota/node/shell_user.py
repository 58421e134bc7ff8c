"""Checks whom the programs of shell jobs run as, before a worker starts. Room: node.

A program that runs as root reads everything on the machine, also the keys of Rota. So a worker of
root names the user for its programs; `"root"` is a valid name, but an operator has to write it.
"""

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rota.config.settings import Settings
from rota.core.errors import InvalidSetting
from rota.node.keyfiles import master_file

ROOT_UID: Final = 0
SETTING: Final = "executors.shell_user"
# Files in the data folder that open the API or its database.
KEY_FILES: Final = ("admin.key", "master.key", "password")


def check_shell_user(settings: Settings, *, uid: int | None = None) -> None:
    """Refuse settings with which programs would run as root by accident, or could not run at all.

    `uid` is the user of the worker. Default: the user of this process.
    """
    worker = os.geteuid() if uid is None else uid
    user = settings.executors.shell_user
    if not settings.executors.shell_allow:
        return
    if user is None:
        if worker == ROOT_UID:
            wanted = (
                "this worker runs as root, so it needs the name of the user that programs of "
                '`executors.shell_allow` run as: set shell_user = "nobody" or another unprivileged '
                'user, or start the worker as one; shell_user = "root" gives every shell job all '
                "rights on this machine"
            )
            raise InvalidSetting(SETTING, user, wanted)
        return
    if worker != ROOT_UID and find_account(user).pw_uid != worker:
        wanted = (
            f"only a worker that runs as root can start programs as another user, and this one "
            f"runs as user {worker}: remove shell_user, or start the worker as root"
        )
        raise InvalidSetting(SETTING, user, wanted)


def find_exposed_keys(settings: Settings, *, uid: int | None = None) -> Iterator[str]:
    """One warning for each key file that programs of shell jobs can read."""
    if not settings.executors.shell_allow:
        return
    user = settings.executors.shell_user
    worker = os.geteuid() if uid is None else uid
    account = pwd.getpwuid(worker) if user is None else find_account(user)
    files = {settings.database.data / name: None for name in KEY_FILES}
    if (master := master_file(settings)) is not None:
        files[master] = None
    for file in files:
        if can_read(file.absolute(), account):
            yield (
                f"warning: shell jobs run as {account.pw_name!r}, which can read {file}; run the "
                "worker as root with an unprivileged executors.shell_user, or keep the file away "
                "from that user"
            )


def find_account(user: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(user)
    except KeyError:
        raise InvalidSetting(SETTING, user, "a user that this machine knows") from None


def can_read(file: Path, account: pwd.struct_passwd) -> bool:
    """Whether the modes let this user read the file through all folders above it.

    Programs have no supplementary groups. Access control lists are not looked at.
    """
    try:
        permits = [_permits(folder, account, stat.S_IXOTH) for folder in file.parents]
        return _permits(file, account, stat.S_IROTH) and all(permits)
    except OSError:
        return False


def _permits(path: Path, account: pwd.struct_passwd, right: int) -> bool:
    """`right` is the bit for others; owner and group have theirs three and six places further."""
    if account.pw_uid == ROOT_UID:
        return path.exists()
    found = path.stat()
    if found.st_uid == account.pw_uid:
        return bool(found.st_mode & (right << 6))
    if found.st_gid == account.pw_gid:
        return bool(found.st_mode & (right << 3))
    return bool(found.st_mode & right)
