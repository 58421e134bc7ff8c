"""Chooses the user that the server runs as.

PostgreSQL refuses to run as root, so root starts it as an existing unprivileged user: nothing is
added to the system, and no folder is made more accessible. Any other user runs it as itself.
"""

import contextlib
import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rota.core.errors import EmbeddedFailed

UNPRIVILEGED_USERS = ("postgres", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The user that a server runs as; `drops` means that root gives up its rights for it."""

    uid: int
    gid: int
    drops_root: bool

    @property
    def user(self) -> int | None:
        """The `user` argument of `subprocess`; None keeps the current user."""
        return self.uid if self.drops_root else None

    @property
    def group(self) -> int | None:
        return self.gid if self.drops_root else None

    @property
    def extra_groups(self) -> tuple[int, ...] | None:
        return () if self.drops_root else None

    def own(self, path: Path) -> None:
        """Give one file or folder to this user."""
        if self.drops_root:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def own_all(self, folder: Path) -> None:
        """Give a folder and everything below it to this user."""
        for path in (folder, *folder.rglob("*")):
            self.own(path)

    @contextlib.contextmanager
    def act_as_user(self) -> Iterator[None]:
        """Act with this user's rights. Changes the whole process: for the monitor only."""
        if not self.drops_root:
            yield
            return
        group = os.getegid()
        os.setegid(self.gid)
        os.seteuid(self.uid)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(group)

    def can_reach(self, path: Path) -> bool:
        """Return whether this user can reach a path through all the folders above it."""
        with self.act_as_user():
            try:
                path.stat()
            except PermissionError:
                return False
            return True


def choose_account(data: Path) -> Account:
    """Choose the user for a cluster; an existing cluster keeps its owner."""
    if os.geteuid() != 0:
        return Account(uid=os.geteuid(), gid=os.getegid(), drops_root=False)
    with contextlib.suppress(FileNotFoundError):
        owner = data.stat()
        if owner.st_uid != 0:
            return Account(uid=owner.st_uid, gid=owner.st_gid, drops_root=True)
    for name in UNPRIVILEGED_USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(uid=entry.pw_uid, gid=entry.pw_gid, drops_root=True)
    raise EmbeddedFailed(
        reason="PostgreSQL does not run as root, and neither "
        f"{' nor '.join(UNPRIVILEGED_USERS)} exists",
        remedy="start Rota as a user other than root",
    )
